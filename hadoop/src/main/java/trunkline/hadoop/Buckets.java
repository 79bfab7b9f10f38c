package trunkline.hadoop;

import java.nio.charset.StandardCharsets;
import org.apache.hadoop.io.BooleanWritable;
import org.apache.hadoop.io.BytesWritable;
import org.apache.hadoop.io.DoubleWritable;
import org.apache.hadoop.io.FloatWritable;
import org.apache.hadoop.io.IntWritable;
import org.apache.hadoop.io.LongWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.io.Writable;
import org.apache.hadoop.mapreduce.lib.partition.HashPartitioner;

/** The bucket of a key by MapReduce's own classes: the judge of whoever laid files out. */
public final class Buckets {
    /** Of engines whose classes are not here. */
    public static final String NONE = "none";

    private final HashPartitioner<Writable, Writable> partitioner = new HashPartitioner<>();
    private final String type;

    /** Of keys of a type, as `trunkline kat plan --type` names them, or {@link #NONE}. */
    public Buckets(String type) {
        this.type = type;
        if (!type.equals(NONE)) {
            writable(type, "0".getBytes(StandardCharsets.UTF_8));
        }
    }

    /** Throws if the engine has the key in another bucket. */
    public void check(byte[] key, int bucket, int buckets) {
        if (type.equals(NONE)) {
            return;
        }
        int engines = partitioner.getPartition(writable(type, key), null, buckets);
        if (engines != bucket) {
            throw new IllegalStateException("the key " + new String(key, StandardCharsets.UTF_8) + " is in bucket "
                    + engines + " of " + buckets + " by Hadoop's HashPartitioner, and in bucket " + bucket
                    + " by the plan");
        }
    }

    private static Writable writable(String type, byte[] key) {
        String text = type.equals("text") || type.equals("bytes") ? "" : new String(key, StandardCharsets.US_ASCII);
        switch (type) {
            case "text":
                Text words = new Text();
                words.set(key);
                return words;
            case "bytes":
                return new BytesWritable(key);
            case "int":
                return new IntWritable(Integer.parseInt(text));
            case "long":
                return new LongWritable(Long.parseLong(text));
            case "float":
                return new FloatWritable(Float.parseFloat(text));
            case "double":
                return new DoubleWritable(Double.parseDouble(text));
            case "boolean":
                return new BooleanWritable(Boolean.parseBoolean(text));
            default:
                throw new IllegalArgumentException(type + " is no type of MapReduce's keys");
        }
    }
}
