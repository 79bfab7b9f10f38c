import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.spark.internal.config.ConfigEntry;
import scala.Option;

/**
 * Writes the third column of settings.tsv: what Spark's own entry makes of a text, in the unit that it counts in, or of
 * no text (-), its default. With the jars of Spark 4.1.1 as class path: java Settings settings.tsv.
 */
public final class Settings {
  private Settings() {}

  public static void main(String[] arguments) throws Exception {
    // Entries are known when their objects are.
    Object[] objects = {
      org.apache.spark.internal.config.package$.MODULE$,
      org.apache.spark.deploy.yarn.config.package$.MODULE$,
      org.apache.spark.sql.internal.SQLConf$.MODULE$,
    };
    assert objects.length == 3;
    for (String line : Files.readAllLines(Path.of(arguments[0]))) {
      String[] fields = line.split("\t");
      ConfigEntry<?> entry = org.apache.spark.internal.config.ConfigEntry$.MODULE$.findEntry(fields[0]);
      Object value = fields[1].equals("-") ? entry.defaultValue() : entry.valueConverter().apply(fields[1]);
      if (value instanceof Option<?> option) {
        value = option.isEmpty() ? "none" : option.get();
      }
      System.out.println(fields[0] + "\t" + fields[1] + "\t" + value);
    }
  }
}
