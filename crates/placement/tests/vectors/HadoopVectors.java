import java.io.*;
import java.nio.charset.StandardCharsets;
import java.nio.file.*;
import org.apache.hadoop.io.*;
import org.apache.hadoop.mapreduce.lib.partition.HashPartitioner;

/** Prints the partition of each key by Hadoop's own HashPartitioner over its own writables. */
public final class HadoopVectors {
  public static void main(String[] args) throws IOException {
    PrintStream out = new PrintStream(new FileOutputStream(FileDescriptor.out), false, "UTF-8");
    for (String line : Files.readAllLines(Path.of(args[0]), StandardCharsets.UTF_8)) {
      String type = line.split("\t", -1)[0];
      String key = line.split("\t", -1)[1];
      Writable writable;
      switch (type) {
        case "text": writable = new Text(key); break;
        case "int": writable = new IntWritable(Integer.parseInt(key)); break;
        case "long": writable = new LongWritable(Long.parseLong(key)); break;
        case "float": writable = new FloatWritable(Float.parseFloat(key)); break;
        case "double": writable = new DoubleWritable(Double.parseDouble(key)); break;
        case "boolean": writable = new BooleanWritable(Boolean.parseBoolean(key)); break;
        case "bytes": {
          // Its length travels with it, and is no part of the hash.
          writable = new BytesWritable(key.getBytes(StandardCharsets.UTF_8));
          break;
        }
        default: continue;
      }
      for (int buckets : new int[] {7, 64, 1000003}) {
        int bucket = new HashPartitioner<Writable, Writable>().getPartition(writable, null, buckets);
        out.println("hash-partitioner\t" + type + "\t" + key + "\t" + buckets + "\t" + bucket);
      }
    }
    out.flush();
  }
}
