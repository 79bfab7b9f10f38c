import java.io.IOException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.SequenceFile;
import org.apache.hadoop.io.Writable;
import org.apache.hadoop.mapreduce.lib.partition.HashPartitioner;
import org.apache.hadoop.util.ReflectionUtils;

/**
 * Prints the partition of each key of SequenceFiles by Hadoop's own HashPartitioner, as Hadoop's reader hands it out: file,
 * class, number of partitions, and the partition of each record.
 */
public final class PrintBuckets {
  public static void main(String[] files) throws IOException {
    Configuration conf = new Configuration();
    conf.set("fs.defaultFS", "file:///");
    for (String file : files) {
      for (int buckets : new int[] {7, 64, 1000003}) {
        StringBuilder line = new StringBuilder();
        try (SequenceFile.Reader reader = new SequenceFile.Reader(conf, SequenceFile.Reader.file(new Path(file)))) {
          Writable key = (Writable) ReflectionUtils.newInstance(reader.getKeyClass(), conf);
          line.append(file).append('\t').append(key.getClass().getSimpleName()).append('\t').append(buckets);
          while (reader.next(key)) {
            line.append('\t').append(new HashPartitioner<Writable, Writable>().getPartition(key, null, buckets));
          }
        }
        System.out.println(line);
      }
    }
  }
}
