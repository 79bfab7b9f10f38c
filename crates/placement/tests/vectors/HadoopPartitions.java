import java.io.*;
import java.nio.charset.StandardCharsets;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapreduce.lib.partition.HashPartitioner;

/** Prints the partition of user-1 to user-N among so many by Hadoop's own HashPartitioner, a line each. */
public final class HadoopPartitions {
  public static void main(String[] args) {
    int users = Integer.parseInt(args[0]);
    int partitions = Integer.parseInt(args[1]);
    HashPartitioner<Text, Text> partitioner = new HashPartitioner<>();
    StringBuilder out = new StringBuilder();
    for (int user = 1; user <= users; user++) {
      out.append(partitioner.getPartition(new Text("user-" + user), null, partitions)).append('\n');
    }
    System.out.print(out);
  }
}
