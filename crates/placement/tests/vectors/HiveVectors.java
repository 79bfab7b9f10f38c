import java.io.*;
import java.nio.charset.StandardCharsets;
import java.nio.file.*;
import java.time.LocalDate;
import org.apache.hadoop.hive.common.type.Date;
import org.apache.hadoop.hive.serde2.objectinspector.ObjectInspector;
import org.apache.hadoop.hive.serde2.objectinspector.ObjectInspectorUtils;
import org.apache.hadoop.hive.serde2.objectinspector.primitive.PrimitiveObjectInspectorFactory;

/** Prints the bucket of each key by Hive's own ObjectInspectorUtils, in both versions of bucketing. */
public final class HiveVectors {
  public static void main(String[] args) throws IOException {
    PrintStream out = new PrintStream(new FileOutputStream(FileDescriptor.out), false, "UTF-8");
    for (String line : Files.readAllLines(Path.of(args[0]), StandardCharsets.UTF_8)) {
      String type = line.split("\t", -1)[0];
      String key = line.split("\t", -1)[1];
      Object value;
      ObjectInspector inspector;
      switch (type) {
        case "text": value = key; inspector = PrimitiveObjectInspectorFactory.javaStringObjectInspector; break;
        case "int": value = Integer.valueOf(key); inspector = PrimitiveObjectInspectorFactory.javaIntObjectInspector; break;
        case "long": value = Long.valueOf(key); inspector = PrimitiveObjectInspectorFactory.javaLongObjectInspector; break;
        case "float": value = Float.valueOf(key); inspector = PrimitiveObjectInspectorFactory.javaFloatObjectInspector; break;
        case "double": value = Double.valueOf(key); inspector = PrimitiveObjectInspectorFactory.javaDoubleObjectInspector; break;
        case "boolean": value = Boolean.valueOf(key); inspector = PrimitiveObjectInspectorFactory.javaBooleanObjectInspector; break;
        case "date":
          value = Date.ofEpochDay((int) LocalDate.parse(key).toEpochDay());
          inspector = PrimitiveObjectInspectorFactory.javaDateObjectInspector;
          break;
        default: continue;
      }
      Object[] fields = {value};
      ObjectInspector[] inspectors = {inspector};
      int old = ObjectInspectorUtils.getBucketHashCodeOld(fields, inspectors);
      int now = ObjectInspectorUtils.getBucketHashCode(fields, inspectors);
      for (int buckets : new int[] {7, 64, 1000003}) {
        out.println("hive-v1\t" + type + "\t" + key + "\t" + buckets + "\t"
            + ObjectInspectorUtils.getBucketNumber(old, buckets));
        out.println("hive-v2\t" + type + "\t" + key + "\t" + buckets + "\t"
            + ObjectInspectorUtils.getBucketNumber(now, buckets));
      }
    }
    out.flush();
  }
}
