import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaPairRDD;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.functions;
import scala.Tuple2;

/**
 * The testbed's applications of Spark: wordcount INPUT OUTPUT PARTITIONS, sort with the same, join INPUT TABLE OUTPUT
 * PARTITIONS, sql with the same, whose input parquet INPUT OUTPUT FILES has written, and validate FOLDER, which looks
 * at what sort has written.
 */
public final class SparkJobs {
  /**
   * Files are split at their blocks. A split of more than one block has addresses for its nodes where Spark knows names
   * (FileInputFormat.getSplitHosts), so that its task waits for nodes that never come.
   */
  private static final int SPLITS = 1;

  private SparkJobs() {}

  /** What validate learns of a part of the lines. */
  private record Part(long lines, long sum, boolean ordered, String first, String last) implements java.io.Serializable {}

  public static void main(String[] arguments) {
    List<String> paths = Arrays.asList(arguments).subList(1, arguments.length);
    try (JavaSparkContext spark = new JavaSparkContext(new SparkConf().setAppName(arguments[0]))) {
      switch (arguments[0]) {
        case "wordcount" -> wordCount(spark, paths.get(0), paths.get(1), number(paths, 2));
        case "sort" -> sort(spark, paths.get(0), paths.get(1), number(paths, 2));
        case "join" -> join(spark, paths, number(paths, 3));
        case "parquet" -> parquet(session(spark), paths, number(paths, 2));
        case "sql" -> sql(session(spark), paths, number(paths, 3));
        case "validate" -> validate(spark, paths.get(0));
        default -> throw new IllegalArgumentException("Unknown program " + arguments[0]);
      }
    }
  }

  private static int number(List<String> arguments, int at) {
    return Integer.parseInt(arguments.get(at));
  }

  private static Iterator<String> words(String line) {
    return Arrays.asList(line.split(" ")).iterator();
  }

  /** How often each word comes. */
  private static void wordCount(JavaSparkContext spark, String input, String output, int partitions) {
    spark
        .textFile(input, SPLITS)
        .flatMap(SparkJobs::words)
        .mapToPair(word -> new Tuple2<>(word, 1))
        .reduceByKey(Integer::sum, partitions)
        .map(pair -> pair._1 + "\t" + pair._2)
        .saveAsTextFile(output);
  }

  /** All lines in their order. A first job of Spark's own looks for the bounds of the partitions. */
  private static void sort(JavaSparkContext spark, String input, String output, int partitions) {
    spark.textFile(input, SPLITS).sortBy(line -> line, true, partitions).saveAsTextFile(output);
  }

  /** Words with the table's category of each, both shuffled, and how many words each category has. */
  private static void join(JavaSparkContext spark, List<String> paths, int partitions) {
    JavaPairRDD<String, Integer> words =
        spark.textFile(paths.get(0), SPLITS).flatMap(SparkJobs::words).mapToPair(word -> new Tuple2<>(word, 1));
    JavaPairRDD<String, String> categories =
        spark
            .textFile(paths.get(1), SPLITS)
            .mapToPair(
                line -> {
                  String[] fields = line.split("\t");
                  return new Tuple2<>(fields[0], fields[1]);
                });
    words
        .join(categories, partitions)
        .mapToPair(pair -> new Tuple2<>(pair._2._2, pair._2._1))
        .reduceByKey(Integer::sum, partitions)
        .map(pair -> pair._1 + "\t" + pair._2)
        .saveAsTextFile(paths.get(2));
  }

  private static SparkSession session(JavaSparkContext spark) {
    return SparkSession.builder().config(spark.getConf()).getOrCreate();
  }

  /** Lines as a table in Parquet of so many files: each with its digest, which queries of its words leave out. */
  private static void parquet(SparkSession spark, List<String> paths, int files) {
    Dataset<Row> lines = spark.read().text(paths.get(0)).withColumnRenamed("value", "line");
    lines
        .withColumn("digest", functions.sha2(lines.col("line"), 256))
        .repartition(files)
        .write()
        .mode("overwrite")
        .parquet(paths.get(1));
  }

  /** As join, by a query: words of a table in Parquet are counted, and joined with the table of categories, in CSV. */
  private static void sql(SparkSession spark, List<String> paths, int partitions) {
    spark.conf().set("spark.sql.shuffle.partitions", partitions);
    spark.read().parquet(paths.get(0)).createOrReplaceTempView("lines");
    spark
        .read()
        .schema("word STRING, category STRING")
        .option("sep", "\t")
        .csv(paths.get(1))
        .createOrReplaceTempView("categories");
    spark
        .sql(
            "SELECT category, sum(times) FROM"
                + " (SELECT word, count(*) AS times FROM"
                + " (SELECT explode(split(line, ' ')) AS word FROM lines) GROUP BY word)"
                + " JOIN categories USING (word) GROUP BY category")
        .write()
        .option("sep", "\t")
        .csv(paths.get(2));
  }

  /** Says how many lines a folder has, the sum of their hashes, and whether they are in order. */
  private static void validate(JavaSparkContext spark, String folder) {
    JavaRDD<Part> parts =
        spark.textFile(folder, SPLITS).mapPartitions(lines -> List.of(look(lines)).iterator());
    long count = 0;
    long sum = 0;
    boolean ordered = true;
    String last = null;
    for (Part part : parts.collect()) {
      count += part.lines;
      sum += part.sum;
      ordered &= part.ordered && (last == null || part.first == null || last.compareTo(part.first) <= 0);
      last = part.last == null ? last : part.last;
    }
    System.out.printf("%nVALIDATED=%d lines, sum %x, %s%n", count, sum, ordered ? "in order" : "not in order");
  }

  private static Part look(Iterator<String> lines) {
    long count = 0;
    long sum = 0;
    boolean ordered = true;
    String first = null;
    String last = null;
    while (lines.hasNext()) {
      String line = lines.next();
      ordered &= last == null || last.compareTo(line) <= 0;
      first = first == null ? line : first;
      last = line;
      count += 1;
      sum += hash(line.getBytes(StandardCharsets.UTF_8));
    }
    return new Part(count, sum, ordered, first, last);
  }

  /** FNV-1a with 64 bits, by Fowler, Noll and Vo. */
  private static long hash(byte[] bytes) {
    long hash = 0xcbf29ce484222325L;
    for (byte value : bytes) {
      hash = (hash ^ (value & 0xff)) * 0x100000001b3L;
    }
    return hash;
  }
}
