package trunkline.hadoop;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSInputStream;
import org.apache.hadoop.fs.RawLocalFileSystem;
import org.apache.hadoop.mapreduce.TaskAttemptID;
import org.apache.hadoop.mapreduce.lib.input.CombineFileSplit;
import org.apache.hadoop.mapreduce.task.TaskAttemptContextImpl;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Files are taken from under their readers, as HDFS does: each stream reads so many bytes, and fails then. */
class PlacedLinesTest {
    private static final String NAME = "bucket-0-of-1@a";
    /** Lines of 8 bytes with their ends. */
    private static final String TEXT = "be 0001\nbe 0002\nbe 0003\nbe 0004\nbe 0005\n";

    @TempDir
    Path folder;

    /** A file system whose streams fail after so many bytes; after none they do not. */
    public static final class Failing extends RawLocalFileSystem {
        @Override
        public FSDataInputStream open(org.apache.hadoop.fs.Path path, int buffer) throws IOException {
            FSDataInputStream in = super.open(path, buffer);
            int bytes = getConf().getInt("test.bytes", 0);
            return bytes == 0 ? in : new FSDataInputStream(new Some(in, bytes));
        }
    }

    private static final class Some extends FSInputStream {
        private final FSDataInputStream in;
        private int left;

        Some(FSDataInputStream in, int left) {
            this.in = in;
            this.left = left;
        }

        @Override
        public int read() throws IOException {
            byte[] one = new byte[1];
            return read(one, 0, 1) < 0 ? -1 : one[0];
        }

        @Override
        public int read(byte[] bytes, int from, int length) throws IOException {
            if (left == 0) {
                throw new IOException("Blocklist has changed");
            }
            int read = in.read(bytes, from, Math.min(left, length));
            left -= Math.max(0, read);
            return read;
        }

        @Override
        public void seek(long to) throws IOException {
            in.seek(to);
        }

        @Override
        public long getPos() throws IOException {
            return in.getPos();
        }

        @Override
        public boolean seekToNewSource(long to) {
            return false;
        }
    }

    private List<String> lines(long start, long length, int bytes, boolean isOther)
            throws IOException, InterruptedException {
        Path file = folder.resolve(NAME);
        Files.writeString(file, TEXT);
        Configuration conf = new Configuration();
        conf.setClass("fs.file.impl", Failing.class, RawLocalFileSystem.class);
        conf.setBoolean("fs.file.impl.disable.cache", true);
        conf.setInt("test.bytes", bytes);
        CombineFileSplit split = new CombineFileSplit(
                new org.apache.hadoop.fs.Path[] {new org.apache.hadoop.fs.Path(file.toUri())},
                new long[] {start},
                new long[] {length},
                new String[] {"a"});
        TaskAttemptContextImpl context = new TaskAttemptContextImpl(conf, new TaskAttemptID());
        List<String> lines = new ArrayList<>();
        try (PlacedLines reader = new PlacedLines(split, context, 0)) {
            reader.initialize(split, context);
            if (isOther) {
                Files.setLastModifiedTime(file, FileTime.fromMillis(1_000_000_000_000L));
            }
            while (reader.nextKeyValue()) {
                lines.add(reader.getCurrentKey() + " " + reader.getCurrentValue());
            }
        }
        return lines;
    }

    /** Wherever it fails, each line comes once. Streams that fail before two lines were read get no further. */
    @Test
    void aFileThatIsReplacedIsReadOnBehindTheLastLine() throws Exception {
        List<String> whole = lines(0, TEXT.length(), 0, false);
        List<String> middle = lines(4, 20, 0, false);
        assertEquals(List.of("0 be 0001", "8 be 0002", "16 be 0003", "24 be 0004", "32 be 0005"), whole);
        assertEquals(List.of("8 be 0002", "16 be 0003", "24 be 0004"), middle);
        for (int bytes = 16; bytes <= TEXT.length(); bytes++) {
            assertEquals(whole, lines(0, TEXT.length(), bytes, false), bytes + " bytes");
            assertEquals(middle, lines(4, 20, bytes, false), bytes + " bytes");
        }
    }

    @Test
    void aFileThatFailsAgainAtTheSamePlaceOrIsAnotherFails() {
        for (boolean isOther : new boolean[] {false, true}) {
            IOException error =
                    assertThrows(IOException.class, () -> lines(0, TEXT.length(), isOther ? 16 : 5, isOther));
            assertEquals("Blocklist has changed", error.getMessage());
        }
    }
}
