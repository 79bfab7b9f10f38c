import java.io.IOException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.parquet.column.ParquetProperties.WriterVersion;
import org.apache.parquet.example.data.Group;
import org.apache.parquet.example.data.simple.*;
import org.apache.parquet.hadoop.ParquetWriter;
import org.apache.parquet.hadoop.example.ExampleParquetWriter;
import org.apache.parquet.hadoop.metadata.CompressionCodecName;
import org.apache.parquet.io.api.Binary;
import org.apache.parquet.schema.MessageType;
import org.apache.parquet.schema.MessageTypeParser;

/** Writes Parquet files by parquet-java, the library of Spark, Hive and Iceberg: columns of each type, both versions of
 * pages, with dictionaries and without, under each codec that is read. */
public final class WriteParquet {
  static final MessageType SCHEMA = MessageTypeParser.parseMessageType("message visit {"
      + " required int64 id;"
      + " required group user { required binary name (UTF8); optional int32 age; }"
      + " optional group tags (LIST) { repeated group list { optional binary element (UTF8); } }"
      + " required int32 day (DATE);"
      + " required int64 at (TIMESTAMP(MICROS,true));"
      + " required int32 price (DECIMAL(9,2));"
      + " required fixed_len_byte_array(16) large (DECIMAL(38,3));"
      + " required fixed_len_byte_array(16) token (UUID);"
      + " required int96 legacy;"
      + " required binary raw;"
      + " required double ratio;"
      + " required float part;"
      + " required boolean ok; }");

  static void write(String name, CompressionCodecName codec, WriterVersion version, boolean dictionary)
      throws IOException {
    Configuration conf = new Configuration();
    Path path = new Path(name + ".parquet");
    try (ParquetWriter<Group> writer = ExampleParquetWriter.builder(path).withConf(conf).withType(SCHEMA)
        .withCompressionCodec(codec).withWriterVersion(version).withDictionaryEncoding(dictionary)
        .withRowGroupSize(2000L).withPageSize(1000).withMinRowCountForPageSizeCheck(20)
        .withMaxRowCountForPageSizeCheck(40).build()) {
      SimpleGroupFactory groups = new SimpleGroupFactory(SCHEMA);
      for (int i = 0; i < 600; i++) {
        Group visit = groups.newGroup();
        visit.append("id", (long) i << 33);
        Group user = visit.addGroup("user").append("name", "user-" + i * 7919 % 37);
        if (i % 5 != 0) user.append("age", i % 90);
        if (i % 4 != 3) {
          Group tags = visit.addGroup("tags");
          for (int tag = 0; tag < i % 3; tag++) tags.addGroup("list").append("element", "tag-" + (i + tag) % 7);
        }
        visit.append("day", 17486 + i % 3);
        visit.append("at", 1510871468000001L + i % 2);
        visit.append("price", 1420 - 300 * (i % 10));
        byte[] large = new byte[16];
        java.util.Arrays.fill(large, (byte) (i % 2 == 0 ? 0 : -1));
        large[15] = (byte) (i % 7 + (i % 2 == 0 ? 0 : 0x80));
        visit.append("large", Binary.fromConstantByteArray(large));
        byte[] token = new byte[16];
        for (int b = 0; b < 16; b++) token[b] = (byte) (b * 17 + i % 3);
        visit.append("token", Binary.fromConstantByteArray(token));
        visit.append("legacy", new NanoTime(2458074 + i % 2, 81068000001000L));
        visit.append("raw", Binary.fromConstantByteArray(new byte[] {0, 1, 2, (byte) (i % 5)}));
        visit.append("ratio", i % 8 / 4.0);
        visit.append("part", i % 8 / 4f);
        visit.append("ok", i % 3 == 0);
        writer.write(visit);
      }
    }
    path.getFileSystem(conf).delete(new Path("." + name + ".parquet.crc"), false);
  }

  public static void main(String[] args) throws IOException {
    write("uncompressed-1", CompressionCodecName.UNCOMPRESSED, WriterVersion.PARQUET_1_0, true);
    write("snappy-1", CompressionCodecName.SNAPPY, WriterVersion.PARQUET_1_0, true);
    write("snappy-2", CompressionCodecName.SNAPPY, WriterVersion.PARQUET_2_0, false);
    write("gzip-2", CompressionCodecName.GZIP, WriterVersion.PARQUET_2_0, true);
    write("zstd-1", CompressionCodecName.ZSTD, WriterVersion.PARQUET_1_0, false);
    write("lz4-raw-2", CompressionCodecName.LZ4_RAW, WriterVersion.PARQUET_2_0, true);
  }
}
