import java.io.IOException;
import java.util.StringTokenizer;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.conf.Configured;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.IntWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.Mapper;
import org.apache.hadoop.mapreduce.Reducer;
import org.apache.hadoop.mapreduce.lib.input.FileInputFormat;
import org.apache.hadoop.mapreduce.lib.output.FileOutputFormat;
import org.apache.hadoop.util.Tool;
import org.apache.hadoop.util.ToolRunner;

/** Counts words, with a combiner where trunkline.combine is true: WordCount [-D...] INPUT OUTPUT. */
public class WordCount extends Configured implements Tool {
  /** Each word with a one. */
  public static class Words extends Mapper<Object, Text, Text, IntWritable> {
    private static final IntWritable ONE = new IntWritable(1);
    private final Text word = new Text();

    @Override
    protected void map(Object key, Text line, Context context) throws IOException, InterruptedException {
      StringTokenizer words = new StringTokenizer(line.toString());
      while (words.hasMoreTokens()) {
        word.set(words.nextToken());
        context.write(word, ONE);
      }
    }
  }

  /** The sum of a word's counts. */
  public static class Sum extends Reducer<Text, IntWritable, Text, IntWritable> {
    private final IntWritable sum = new IntWritable();

    @Override
    protected void reduce(Text word, Iterable<IntWritable> counts, Context context)
        throws IOException, InterruptedException {
      int total = 0;
      for (IntWritable count : counts) {
        total += count.get();
      }
      sum.set(total);
      context.write(word, sum);
    }
  }

  @Override
  public int run(String[] paths) throws Exception {
    boolean combine = getConf().getBoolean("trunkline.combine", false);
    Job job = Job.getInstance(getConf(), combine ? "wordcount" : "wordcount-nocombine");
    job.setJarByClass(WordCount.class);
    job.setMapperClass(Words.class);
    if (combine) {
      job.setCombinerClass(Sum.class);
    }
    job.setReducerClass(Sum.class);
    job.setOutputKeyClass(Text.class);
    job.setOutputValueClass(IntWritable.class);
    FileInputFormat.addInputPath(job, new Path(paths[0]));
    FileOutputFormat.setOutputPath(job, new Path(paths[1]));
    return job.waitForCompletion(true) ? 0 : 1;
  }

  public static void main(String[] arguments) throws Exception {
    System.exit(ToolRunner.run(new Configuration(), new WordCount(), arguments));
  }
}
