import java.net.InetAddress;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import org.apache.spark.SparkConf;
import org.apache.spark.TaskContext;
import org.apache.spark.api.java.JavaPairRDD;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import scala.Tuple2;

/**
 * Applications whose executors come, go, are excluded and die: waves, host NAME, dies. Most tasks sleep, so that what
 * they take is the program's and not the machine's. Those that read a shuffle do not, as an import takes what they did
 * without their processor for a wait.
 */
public final class Recorded {
  private Recorded() {}

  public static void main(String[] arguments) throws InterruptedException {
    try (JavaSparkContext spark = new JavaSparkContext(new SparkConf().setAppName(arguments[0]))) {
      switch (arguments[0]) {
        case "waves" -> waves(spark);
        case "host" -> host(spark, arguments[1]);
        case "dies" -> dies(spark);
        default -> throw new IllegalArgumentException("Unknown program " + arguments[0]);
      }
    }
  }

  private static JavaRDD<Integer> tasks(JavaSparkContext spark, int count) {
    List<Integer> numbers = new ArrayList<>();
    for (int number = 0; number < count; number++) {
      numbers.add(number);
    }
    return spark.parallelize(numbers, count);
  }

  /** A wide job, a narrow one, a wide one with a narrow stage behind its shuffle, a narrow one, a wide one. */
  private static void waves(JavaSparkContext spark) {
    tasks(spark, 24).map(number -> rest(2_000)).count();
    tasks(spark, 2).map(number -> rest(10_000)).count();
    keyed(tasks(spark, 16).map(number -> rest(1_500)))
        .reduceByKey(Integer::sum, 2)
        .mapPartitions(pairs -> after(pairs, 8_000))
        .count();
    tasks(spark, 1).map(number -> rest(10_000)).count();
    tasks(spark, 24).map(number -> rest(1_000)).count();
  }

  /** Three jobs, of whose tasks those on a host fail after a time, but for the second one's. */
  private static void host(JavaSparkContext spark, String bad) throws InterruptedException {
    tasks(spark, 24).map(number -> fails(bad, 500) ? 0 : rest(1_000)).count();
    tasks(spark, 12).map(number -> rest(1_000)).count();
    Thread.sleep(12_000);
    keyed(tasks(spark, 12).map(number -> fails(bad, 500) ? 0 : rest(1_000)))
        .reduceByKey(Integer::sum, 6)
        .mapPartitions(pairs -> after(pairs, 1_000))
        .count();
  }

  /** A shuffle, of which one reader ends its executor in its first attempt. */
  private static void dies(JavaSparkContext spark) {
    keyed(tasks(spark, 16).map(number -> rest(1_000)))
        .reduceByKey(Integer::sum, 16)
        .mapPartitions(
            pairs -> {
              TaskContext task = TaskContext.get();
              if (task.partitionId() == 5 && task.attemptNumber() == 0 && task.stageAttemptNumber() == 0) {
                rest(700);
                Runtime.getRuntime().halt(1);
              }
              return after(pairs, 1_500);
            })
        .count();
  }

  /** One for a partition, when all of it is there and a time is over. */
  private static Iterator<Integer> after(Iterator<Tuple2<Integer, Integer>> pairs, long milliseconds) {
    pairs.forEachRemaining(pair -> {});
    long end = System.nanoTime() + milliseconds * 1_000_000;
    int one = 1;
    while (System.nanoTime() < end) {
      one = 1 + (one >> 1);
    }
    return List.of(one).iterator();
  }

  private static int rest(long milliseconds) {
    try {
      Thread.sleep(milliseconds);
    } catch (InterruptedException interrupted) {
      throw new IllegalStateException(interrupted);
    }
    return 1;
  }

  private static boolean fails(String bad, long after) throws java.io.IOException {
    if (InetAddress.getLocalHost().getHostName().equals(bad)) {
      rest(after);
      throw new IllegalStateException("this host is bad");
    }
    return false;
  }

  /** Each with numbers of its own, so that every reader has some of every writer's. */
  private static JavaPairRDD<Integer, Integer> keyed(JavaRDD<Integer> ones) {
    return ones.flatMapToPair(one -> {
      List<Tuple2<Integer, Integer>> pairs = new ArrayList<>();
      for (int key = 0; key < 64; key++) {
        pairs.add(new Tuple2<>(key, one));
      }
      return pairs.iterator();
    });
  }
}
