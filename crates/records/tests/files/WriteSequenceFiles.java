import java.io.IOException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.*;
import org.apache.hadoop.io.SequenceFile.CompressionType;
import org.apache.hadoop.io.compress.*;
import org.apache.hadoop.util.ReflectionUtils;

/** Writes SequenceFiles by Hadoop's own writer: of each packing, and of each writable that a key may be. Writes text by
 * Hadoop's codecs too. */
public final class WriteSequenceFiles {
  static final int RECORDS = 600;
  static final Configuration CONF = new Configuration();

  /** The user of record i, of 37. */
  static String user(int i) {
    return "user-" + i * 7919 % 37;
  }

  static void write(String name, Writable[] keys, Writable[] values, CompressionType type, CompressionCodec codec)
      throws IOException {
    Path path = new Path(name + ".seq");
    try (SequenceFile.Writer writer = SequenceFile.createWriter(CONF, SequenceFile.Writer.file(path),
        SequenceFile.Writer.keyClass(keys[0].getClass()), SequenceFile.Writer.valueClass(values[0].getClass()),
        SequenceFile.Writer.compression(type, codec), SequenceFile.Writer.syncInterval(1000))) {
      for (int i = 0; i < keys.length; i++) {
        writer.append(keys[i], values[i]);
      }
    }
    path.getFileSystem(CONF).delete(new Path("." + name + ".seq.crc"), false);
  }

  static CompressionCodec codec(Class<? extends CompressionCodec> codec) {
    return ReflectionUtils.newInstance(codec, CONF);
  }

  public static void main(String[] args) throws IOException {
    CONF.setInt("io.seqfile.compress.blocksize", 2000);
    CONF.set("fs.defaultFS", "file:///");
    CONF.setInt("io.compression.codec.snappy.buffersize", 1500);
    CONF.setInt("io.compression.codec.lz4.buffersize", 1500);
    Writable[] users = new Writable[RECORDS];
    Writable[] lines = new Writable[RECORDS];
    for (int i = 0; i < RECORDS; i++) {
      users[i] = new Text(user(i));
      // Values by whose second column records are also keyed; some are empty.
      lines[i] = new Text(i % 50 == 49 ? "" : "page-" + i % 11 + "\t" + "item-" + i % 13 + "\tvisit " + i);
    }
    write("plain", users, lines, CompressionType.NONE, null);
    write("values-default", users, lines, CompressionType.RECORD, codec(DefaultCodec.class));
    write("values-snappy", users, lines, CompressionType.RECORD, codec(SnappyCodec.class));
    write("blocks-default", users, lines, CompressionType.BLOCK, codec(DefaultCodec.class));
    write("blocks-bzip2", users, lines, CompressionType.BLOCK, codec(BZip2Codec.class));
    write("blocks-snappy", users, lines, CompressionType.BLOCK, codec(SnappyCodec.class));
    try {
      write("blocks-lz4", users, lines, CompressionType.BLOCK, codec(Lz4Codec.class));
    } catch (NoClassDefFoundError | RuntimeException error) {
      System.err.println("no LZ4 here: " + error);
    }

    text("lines.deflate", codec(DefaultCodec.class));
    text("lines.gz", codec(GzipCodec.class));
    text("lines.bz2", codec(BZip2Codec.class));
    text("lines.snappy", codec(SnappyCodec.class));
    try {
      text("lines.lz4", codec(Lz4Codec.class));
    } catch (NoClassDefFoundError | RuntimeException error) {
      System.err.println("no LZ4 here: " + error);
    }

    Writable[] nothing = new Writable[8];
    java.util.Arrays.fill(nothing, NullWritable.get());
    long[] numbers = {0, 1, -1, 127, -112, -113, 300, -70000};
    write("key-bytes", keys(numbers, n -> new BytesWritable(("k" + n).getBytes())), nothing, CompressionType.NONE, null);
    write("key-byte", keys(numbers, n -> new ByteWritable((byte) n)), nothing, CompressionType.NONE, null);
    write("key-short", keys(numbers, n -> new ShortWritable((short) n)), nothing, CompressionType.NONE, null);
    write("key-int", keys(numbers, n -> new IntWritable((int) n)), nothing, CompressionType.NONE, null);
    write("key-long", keys(numbers, n -> new LongWritable(n << 33)), nothing, CompressionType.NONE, null);
    write("key-vint", keys(numbers, n -> new VIntWritable((int) n)), nothing, CompressionType.NONE, null);
    write("key-vlong", keys(numbers, n -> new VLongWritable(n << 33)), nothing, CompressionType.NONE, null);
    write("key-float", keys(numbers, n -> new FloatWritable(n / 4f)), nothing, CompressionType.NONE, null);
    write("key-double", keys(numbers, n -> new DoubleWritable(n / 4d)), nothing, CompressionType.NONE, null);
    write("key-boolean", keys(numbers, n -> new BooleanWritable(n > 0)), nothing, CompressionType.NONE, null);
    // The ends of each range, and what a fraction has beside numbers.
    write("ends-text", texts("", "a", "gr\u00fc\u00dfe", "\ud83d\ude00", "a key that is longer than sixteen bytes"));
    write("ends-bytes", new BytesWritable(), new BytesWritable(new byte[] {-1, 0, -128, 127, 10, 13, 9}),
        new BytesWritable(new byte[] {1, 2, 3, 4}, 2));
    write("ends-byte", new ByteWritable(Byte.MIN_VALUE), new ByteWritable(Byte.MAX_VALUE));
    write("ends-short", new ShortWritable(Short.MIN_VALUE), new ShortWritable(Short.MAX_VALUE));
    write("ends-int", new IntWritable(Integer.MIN_VALUE), new IntWritable(Integer.MAX_VALUE));
    write("ends-long", new LongWritable(Long.MIN_VALUE), new LongWritable(Long.MAX_VALUE), new LongWritable(1L << 32));
    write("ends-vint", new VIntWritable(Integer.MIN_VALUE), new VIntWritable(Integer.MAX_VALUE));
    write("ends-vlong", new VLongWritable(Long.MIN_VALUE), new VLongWritable(Long.MAX_VALUE));
    write("ends-float", floats(-0f, Float.NaN, Float.intBitsToFloat(0xffc00001), Float.POSITIVE_INFINITY,
        Float.NEGATIVE_INFINITY, Float.MIN_VALUE, -Float.MAX_VALUE, 0.1f));
    write("ends-double", doubles(-0d, Double.NaN, Double.longBitsToDouble(0xfff8000000000001L), Double.POSITIVE_INFINITY,
        Double.NEGATIVE_INFINITY, Double.MIN_VALUE, -Double.MAX_VALUE, 0.1));

    write("key-null", nothing, keys(numbers, n -> new Text("n" + n)), CompressionType.NONE, null);
  }

  static void write(String name, Writable... keys) throws IOException {
    Writable[] values = new Writable[keys.length];
    java.util.Arrays.fill(values, NullWritable.get());
    write(name, keys, values, CompressionType.NONE, null);
  }

  static Writable[] texts(String... values) {
    return java.util.Arrays.stream(values).map(Text::new).toArray(Writable[]::new);
  }

  static Writable[] floats(float... values) {
    Writable[] keys = new Writable[values.length];
    for (int i = 0; i < values.length; i++) {
      keys[i] = new FloatWritable(values[i]);
    }
    return keys;
  }

  static Writable[] doubles(double... values) {
    return java.util.Arrays.stream(values).mapToObj(DoubleWritable::new).toArray(Writable[]::new);
  }

  static void text(String name, CompressionCodec codec) throws IOException {
    // Small buffers, so that there are several blocks and chunks.
    try (java.io.OutputStream out = codec.createOutputStream(new java.io.FileOutputStream(name))) {
      for (int i = 0; i < RECORDS; i++) {
        out.write((user(i) + "\tvisit " + i + "\n").getBytes("UTF-8"));
      }
    }
  }

  static Writable[] keys(long[] numbers, java.util.function.LongFunction<Writable> key) {
    return java.util.Arrays.stream(numbers).mapToObj(key).toArray(Writable[]::new);
  }
}
