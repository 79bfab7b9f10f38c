package trunkline.hadoop;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.BlockLocation;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.FilterFileSystem;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.util.Progressable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** On a local file system, whose blocks have one host each. */
class PlacedWriterTest {
    // "be" hashes to 31 * (31 * 1 + 98) + 101 = 4100, which is bucket 2 of 3; "to" to 31 * (31 + 116) + 111 = 4668,
    // which is bucket 0.
    private static final String BE = "bucket-00002-of-00003@a+b";
    private static final String TO = "bucket-00000-of-00003@b+c";

    private final ByteArrayOutputStream frames = new ByteArrayOutputStream();
    private final DataOutputStream out = new DataOutputStream(frames);
    private final ByteArrayOutputStream said = new ByteArrayOutputStream();

    @TempDir
    Path folder;

    private void file(int number, String name, int bucket) throws IOException {
        out.writeByte('F');
        out.writeInt(number);
        out.writeUTF(name);
        out.writeInt(bucket);
        out.writeInt(3);
    }

    private void record(int file, String key, String record) throws IOException {
        out.writeByte('R');
        out.writeInt(file);
        for (String text : new String[] {key, record}) {
            byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
            out.writeInt(bytes.length);
            out.write(bytes);
        }
    }

    private void take() throws IOException {
        take(FileSystem.getLocal(new Configuration(false)));
    }

    private void take(FileSystem files) throws IOException {
        PlacedWriter writer = new PlacedWriter(
                files, new org.apache.hadoop.fs.Path(folder.toString()), (short) 1, new Buckets("text"), 500, Map.of());
        writer.take(new DataInputStream(new ByteArrayInputStream(frames.toByteArray())), new PrintStream(said, true));
    }

    @Test
    void recordsGoToTheirFilesWhichAppearAtTheEnd() throws IOException {
        file(7, BE, 2);
        file(8, TO, 0);
        record(7, "be", "be 1");
        record(8, "to", "to 1");
        record(7, "be", "be 2");
        record(8, "", "a record without a key");
        out.writeByte('C');
        take();
        assertEquals("be 1\nbe 2\n", Files.readString(folder.resolve(BE)));
        assertEquals("to 1\na record without a key\n", Files.readString(folder.resolve(TO)));
        assertTrue(said.toString(StandardCharsets.UTF_8).startsWith("file\t" + BE + "\t2\t10\t"), said.toString());
    }

    @Test
    void aStreamThatEndsWithinAPassLeavesNothing() throws IOException {
        file(7, BE, 2);
        record(7, "be", "be 1");
        assertThrows(EOFException.class, this::take);
        assertFalse(Files.exists(folder.resolve(BE)));
        assertFalse(Files.exists(folder.resolve("_trunkline/partial").resolve(BE)));
    }

    @Test
    void filesThatHaveAllReplicasAreMovedAlsoIfAnotherHasNot() throws IOException {
        FileSystem lacking = new FilterFileSystem(FileSystem.getLocal(new Configuration(false))) {
            @Override
            public BlockLocation[] getFileBlockLocations(FileStatus file, long start, long length) throws IOException {
                boolean isBe = file.getPath().getName().equals(BE);
                return isBe
                        ? new BlockLocation[] {new BlockLocation()}
                        : super.getFileBlockLocations(file, start, length);
            }
        };
        file(7, BE, 2);
        file(8, TO, 0);
        record(7, "be", "be 1");
        record(8, "to", "to 1");
        out.writeByte('C');
        String reason = assertThrows(IOException.class, () -> take(lacking)).getMessage();
        assertTrue(reason.startsWith("1 files are not moved to their places")
                && reason.contains(BE + " has one with 0 of 1"));
        assertTrue(said.toString(StandardCharsets.UTF_8).startsWith("file\t" + TO + "\t1\t5\t"), said.toString());
        assertEquals("to 1\n", Files.readString(folder.resolve(TO)));
        assertFalse(Files.exists(folder.resolve(BE)));
        assertFalse(Files.exists(folder.resolve("_trunkline/partial").resolve(BE)));
    }

    /** Each call that HDFS does not answer takes its time, so there is one whatever the number of files. */
    @Test
    void aFileSystemThatDoesNotAnswerIsAskedOnce() throws IOException {
        AtomicInteger calls = new AtomicInteger();
        FileSystem gone = new FilterFileSystem(FileSystem.getLocal(new Configuration(false))) {
            @Override
            public FSDataOutputStream create(
                    org.apache.hadoop.fs.Path file,
                    FsPermission permission,
                    boolean overwrite,
                    int buffer,
                    short replicas,
                    long block,
                    Progressable progress)
                    throws IOException {
                OutputStream stream = new OutputStream() {
                    @Override
                    public void write(int octet) throws IOException {
                        throw new IOException("no answer");
                    }

                    @Override
                    public void close() throws IOException {
                        calls.incrementAndGet();
                        throw new IOException("no answer");
                    }
                };
                return new FSDataOutputStream(stream, null);
            }

            @Override
            public boolean delete(org.apache.hadoop.fs.Path path, boolean recursive) throws IOException {
                calls.incrementAndGet();
                throw new IOException("no answer");
            }
        };
        file(7, BE, 2);
        file(8, TO, 0);
        record(7, "be", "be 1");
        // The end comes within a pass.
        assertThrows(EOFException.class, () -> take(gone));
        assertEquals(1, calls.get());
    }

    @Test
    void aBucketThatIsNotHadoopsIsRefused() throws IOException {
        file(7, BE, 2);
        record(7, "to", "to 1");
        out.writeByte('C');
        String said = assertThrows(IllegalStateException.class, this::take).getMessage();
        assertTrue(said.contains("to is in bucket 0 of 3 by Hadoop's HashPartitioner, and in bucket 2"), said);
        assertFalse(Files.exists(folder.resolve(BE)));
    }

    @Test
    void keysOfOtherTypesAreHashedAsTheirWritables() {
        // A LongWritable's hash is its lower 32 bits: 2^32 + 5 is in bucket 5 of 7; that of an IntWritable its value.
        new Buckets("long").check("4294967301".getBytes(StandardCharsets.UTF_8), 5, 7);
        new Buckets("int").check("12".getBytes(StandardCharsets.UTF_8), 5, 7);
        new Buckets("none").check("12".getBytes(StandardCharsets.UTF_8), 0, 7);
        assertThrows(IllegalArgumentException.class, () -> new Buckets("date"));
    }
}
