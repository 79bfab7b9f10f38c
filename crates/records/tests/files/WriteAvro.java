import java.io.File;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.*;
import org.apache.avro.Schema;
import org.apache.avro.file.CodecFactory;
import org.apache.avro.file.DataFileWriter;
import org.apache.avro.generic.*;

/** Writes Avro files by Avro's own writer: columns of each type, under each codec that is read. */
public final class WriteAvro {
  static final String SCHEMA = "{\"type\":\"record\",\"name\":\"Visit\",\"namespace\":\"org.example\",\"fields\":["
      + "{\"name\":\"id\",\"type\":\"long\"},"
      + "{\"name\":\"user\",\"type\":{\"type\":\"record\",\"name\":\"User\",\"fields\":["
      + "{\"name\":\"name\",\"type\":\"string\"},{\"name\":\"age\",\"type\":[\"null\",\"int\"]}]}},"
      + "{\"name\":\"tags\",\"type\":{\"type\":\"array\",\"items\":\"string\"}},"
      + "{\"name\":\"counts\",\"type\":{\"type\":\"map\",\"values\":\"int\"}},"
      + "{\"name\":\"day\",\"type\":{\"type\":\"int\",\"logicalType\":\"date\"}},"
      + "{\"name\":\"at\",\"type\":{\"type\":\"long\",\"logicalType\":\"timestamp-micros\"}},"
      + "{\"name\":\"price\",\"type\":{\"type\":\"bytes\",\"logicalType\":\"decimal\",\"precision\":9,\"scale\":2}},"
      + "{\"name\":\"kind\",\"type\":{\"type\":\"enum\",\"name\":\"Kind\",\"symbols\":[\"VIEW\",\"BUY\"]}},"
      + "{\"name\":\"digest\",\"type\":{\"type\":\"fixed\",\"name\":\"Digest\",\"size\":4}},"
      + "{\"name\":\"back\",\"type\":[\"null\",\"User\"]},"
      + "{\"name\":\"either\",\"type\":[\"string\",\"long\"]},"
      + "{\"name\":\"ratio\",\"type\":\"double\"},"
      + "{\"name\":\"ok\",\"type\":\"boolean\"}]}";

  static GenericRecord user(Schema schema, String name, Integer age) {
    GenericRecord user = new GenericData.Record(schema);
    user.put("name", name);
    user.put("age", age);
    return user;
  }

  static void write(String name, CodecFactory codec) throws IOException {
    Schema schema = new Schema.Parser().parse(SCHEMA);
    Schema users = schema.getField("user").schema();
    try (DataFileWriter<GenericRecord> writer = new DataFileWriter<>(new GenericDatumWriter<GenericRecord>(schema))) {
      writer.setCodec(codec);
      writer.setSyncInterval(2000);
      writer.setMeta("made.by", "WriteAvro");
      // The marker is of chance; this one makes the same file each time.
      writer.create(schema, new java.io.FileOutputStream(new File(name + ".avro")), "sixteen bytes it".getBytes());
      for (int i = 0; i < 600; i++) {
        GenericRecord visit = new GenericData.Record(schema);
        visit.put("id", (long) i << 33);
        visit.put("user", user(users, "user-" + i * 7919 % 37, i % 5 == 0 ? null : i % 90));
        List<String> tags = new ArrayList<>();
        for (int tag = 0; tag < i % 3; tag++) tags.add("tag-" + (i + tag) % 7);
        visit.put("tags", tags);
        visit.put("counts", i % 2 == 0 ? Map.of() : Map.of("clicks", i % 4));
        visit.put("day", 17486 + i % 3);
        visit.put("at", 1510871468000001L + i % 2);
        visit.put("price", ByteBuffer.wrap(java.math.BigInteger.valueOf(1420 - 300L * (i % 10)).toByteArray()));
        visit.put("kind", new GenericData.EnumSymbol(schema.getField("kind").schema(), i % 4 == 0 ? "BUY" : "VIEW"));
        visit.put("digest", new GenericData.Fixed(schema.getField("digest").schema(), new byte[] {0, 1, 2, (byte) (i % 5)}));
        visit.put("back", i % 6 == 0 ? user(users, "back-" + i % 9, 1) : null);
        visit.put("either", i % 2 == 0 ? (Object) "text" : (Object) 7L);
        visit.put("ratio", i % 8 / 4.0);
        visit.put("ok", i % 3 == 0);
        writer.append(visit);
      }
    }
  }

  public static void main(String[] args) throws IOException {
    write("null", CodecFactory.nullCodec());
    write("deflate", CodecFactory.deflateCodec(6));
    write("snappy", CodecFactory.snappyCodec());
    write("bzip2", CodecFactory.bzip2Codec());
    write("zstandard", CodecFactory.zstandardCodec(3));
    write("xz", CodecFactory.xzCodec(1));
  }
}
