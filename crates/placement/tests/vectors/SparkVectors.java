import java.io.*;
import java.nio.charset.StandardCharsets;
import java.nio.file.*;
import java.time.Instant;
import java.time.LocalDate;
import org.apache.spark.unsafe.Platform;
import org.apache.spark.unsafe.hash.Murmur3_x86_32;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * Prints the partition of each key: data frames by Spark's own Murmur3_x86_32 with the seed of HashPartitioning, over
 * the words that HashExpression hands it; RDDs by Java's hashCode, which Spark's HashPartitioner takes.
 */
public final class SparkVectors {
  static final int SEED = 42;

  public static void main(String[] args) throws IOException {
    PrintStream out = new PrintStream(new FileOutputStream(FileDescriptor.out), false, "UTF-8");
    for (String line : Files.readAllLines(Path.of(args[0]), StandardCharsets.UTF_8)) {
      String type = line.split("\t", -1)[0];
      String key = line.split("\t", -1)[1];
      int hash;
      Integer boxed = null;
      switch (type) {
        case "text":
          UTF8String text = UTF8String.fromString(key);
          hash = Murmur3_x86_32.hashUnsafeBytes(text.getBaseObject(), text.getBaseOffset(), text.numBytes(), SEED);
          boxed = key.hashCode();
          break;
        case "int": hash = Murmur3_x86_32.hashInt(Integer.parseInt(key), SEED); boxed = Integer.valueOf(key).hashCode(); break;
        case "long": hash = Murmur3_x86_32.hashLong(Long.parseLong(key), SEED); boxed = Long.valueOf(key).hashCode(); break;
        case "float": {
          float value = Float.parseFloat(key);
          // HashExpression: -0.0 is 0.
          hash = Murmur3_x86_32.hashInt(value == -0.0f ? 0 : Float.floatToIntBits(value), SEED);
          boxed = Float.valueOf(value).hashCode();
          break;
        }
        case "double": {
          double value = Double.parseDouble(key);
          hash = Murmur3_x86_32.hashLong(value == -0.0d ? 0L : Double.doubleToLongBits(value), SEED);
          boxed = Double.valueOf(value).hashCode();
          break;
        }
        case "boolean":
          hash = Murmur3_x86_32.hashInt(Boolean.parseBoolean(key) ? 1 : 0, SEED);
          boxed = Boolean.valueOf(key).hashCode();
          break;
        case "bytes": {
          byte[] bytes = key.getBytes(StandardCharsets.UTF_8);
          hash = Murmur3_x86_32.hashUnsafeBytes(bytes, Platform.BYTE_ARRAY_OFFSET, bytes.length, SEED);
          break;
        }
        case "date": hash = Murmur3_x86_32.hashInt((int) LocalDate.parse(key).toEpochDay(), SEED); break;
        case "timestamp": {
          // Spark's DateTimeUtils.instantToMicros.
          Instant instant = Instant.parse(key.endsWith("Z") ? key : key + "Z");
          long micros = Math.addExact(Math.multiplyExact(instant.getEpochSecond(), 1_000_000L), instant.getNano() / 1000L);
          hash = Murmur3_x86_32.hashLong(micros, SEED);
          break;
        }
        default: continue;
      }
      for (int buckets : new int[] {7, 64, 1000003}) {
        out.println("murmur3\t" + type + "\t" + key + "\t" + buckets + "\t" + Math.floorMod(hash, buckets));
        if (boxed != null) {
          out.println("rdd\t" + type + "\t" + key + "\t" + buckets + "\t" + Math.floorMod(boxed, buckets));
        }
      }
    }
    out.flush();
  }
}
