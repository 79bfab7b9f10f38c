import java.io.*;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.*;
import java.util.List;
import org.apache.iceberg.expressions.Literal;
import org.apache.iceberg.transforms.Transforms;
import org.apache.iceberg.types.Type;
import org.apache.iceberg.types.Types;

/** Prints the bucket of each key by Iceberg's own transform. Days, times and decimals are read by its own literals. */
public final class IcebergVectors {
  public static void main(String[] args) throws IOException {
    PrintStream out = new PrintStream(new FileOutputStream(FileDescriptor.out), false, "UTF-8");
    for (String line : Files.readAllLines(Path.of(args[0]), StandardCharsets.UTF_8)) {
      String type = line.split("\t", -1)[0];
      String key = line.split("\t", -1)[1];
      for (Type of : types(type, key)) {
        Object value = value(of, key);
        for (int buckets : new int[] {7, 64, 1000003}) {
          int bucket = Transforms.bucket(buckets).bind(of).apply(value);
          out.println("bucket\t" + type + "\t" + key + "\t" + buckets + "\t" + bucket);
        }
      }
    }
    out.flush();
  }

  /** The types that a column of such keys may have: all have the same buckets. */
  static List<Type> types(String type, String key) {
    switch (type) {
      case "text": return List.of(Types.StringType.get());
      case "int": return List.of(Types.IntegerType.get());
      case "long": return List.of(Types.LongType.get());
      case "date": return List.of(Types.DateType.get());
      case "time": return List.of(Types.TimeType.get());
      case "timestamp": return timestamps(key);
      case "uuid": return List.of(Types.UUIDType.get());
      case "decimal":
        return List.of(Types.DecimalType.of(38, key.contains(".") ? key.length() - key.indexOf('.') - 1 : 0));
      case "bytes":
        int length = key.getBytes(StandardCharsets.UTF_8).length;
        return List.of(Types.BinaryType.get(), Types.FixedType.ofLength(length));
      default: return List.of();
    }
  }

  /**
   * Nanoseconds are no value of a column of microseconds: whoever writes it rounds. Iceberg's literals round towards
   * 1970, Spark and a column of nanoseconds down. Nanoseconds in 64 bits begin in 1677.
   */
  static List<Type> timestamps(String key) {
    boolean zone = key.endsWith("Z");
    Type micros = zone ? Types.TimestampType.withZone() : Types.TimestampType.withoutZone();
    Type nanos = zone ? Types.TimestampNanoType.withZone() : Types.TimestampNanoType.withoutZone();
    if (key.matches(".*[.]\\d{7,9}Z?")) {
      return List.of(nanos);
    }
    return key.compareTo("1678") < 0 ? List.of(micros) : List.of(micros, nanos);
  }

  static Object value(Type of, String key) {
    switch (of.typeId()) {
      case STRING: return key;
      case INTEGER: return Integer.valueOf(key);
      case LONG: return Long.valueOf(key);
      case FIXED:
      case BINARY: return ByteBuffer.wrap(key.getBytes(StandardCharsets.UTF_8));
      default: return Literal.of(key).to(of).value();
    }
  }
}
