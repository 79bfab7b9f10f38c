package trunkline.hadoop;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.io.StringReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.BlockLocation;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.FilterFileSystem;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.util.Progressable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** On a local file system that is told on which hosts what stands in its place, and what is written anew. */
class RedistributionTest {
    private static final String NAME = "bucket-00002-of-00003@a+b";

    private final ByteArrayOutputStream said = new ByteArrayOutputStream();

    @TempDir
    Path folder;

    private Path partial;
    /** Fails what is written anew, and that it is closed, as HDFS's own streams do: by one and the same exception. */
    private IOException failure;

    @BeforeEach
    void aFileInItsPlace() throws IOException {
        Files.writeString(folder.resolve(NAME), "be 1\nbe 2\n");
        partial = folder.resolve("_trunkline/partial").resolve(NAME);
    }

    private void take(String names, String[] inPlace, String[] anew) throws IOException {
        take(names, inPlace, anew, new PrintStream(said, true));
    }

    private void take(String names, String[] inPlace, String[] anew, PrintStream say) throws IOException {
        Configuration settings = new Configuration();
        FileSystem files = new FilterFileSystem(FileSystem.getLocal(settings)) {
            @Override
            public BlockLocation[] getFileBlockLocations(FileStatus file, long start, long length) {
                boolean isAnew = file.getPath().toString().contains("_trunkline/partial");
                String[] hosts = isAnew ? anew : inPlace;
                return new BlockLocation[] {new BlockLocation(hosts, hosts, start, length)};
            }

            @Override
            public FSDataOutputStream create(
                    org.apache.hadoop.fs.Path path,
                    FsPermission permission,
                    boolean overwrite,
                    int buffer,
                    short copies,
                    long block,
                    Progressable progress)
                    throws IOException {
                OutputStream out = super.create(path, permission, overwrite, buffer, copies, block, progress);
                return new FSDataOutputStream(failure == null ? out : new Failing(out, failure), null);
            }
        };
        PlacedReplicas replicas = new PlacedReplicas(files, (short) 2, Map.of());
        new Redistribution(files, settings, new org.apache.hadoop.fs.Path(folder.toString()), replicas, 300, 1_000_000)
                .take(new BufferedReader(new StringReader(names)), say);
    }

    private static final class Failing extends FilterOutputStream {
        private final IOException failure;

        Failing(OutputStream out, IOException failure) {
            super(out);
            this.failure = failure;
        }

        @Override
        public void write(byte[] bytes, int from, int length) throws IOException {
            throw failure;
        }

        @Override
        public void close() throws IOException {
            throw failure;
        }
    }

    /** Which file it is that stands in the place. */
    private Object identity() throws IOException {
        return Files.readAttributes(folder.resolve(NAME), BasicFileAttributes.class)
                .fileKey();
    }

    private String said() {
        return said.toString(StandardCharsets.UTF_8);
    }

    @Test
    void aFileTakesItsPlaceOnceItIsWhole() throws IOException {
        // As one that was interrupted before has left it.
        Files.createDirectories(partial.getParent());
        Files.writeString(partial, "be");
        FileTime written = FileTime.fromMillis(1_000_000_000_000L);
        Files.setLastModifiedTime(folder.resolve(NAME), written);
        take(NAME + "\n", new String[] {"a", "c"}, new String[] {"b", "a"});
        assertEquals(written, Files.getLastModifiedTime(folder.resolve(NAME)));
        assertEquals("bytes\t10\nfile\t" + NAME + "\t1\t1\t0\n", said());
        assertEquals("be 1\nbe 2\n", Files.readString(folder.resolve(NAME)));
        assertFalse(Files.exists(partial));
    }

    @Test
    void aFileThatStandsNoBetterStaysAsItWas() throws IOException {
        Object before = identity();
        take(NAME + "\n", new String[] {"a", "c"}, new String[] {"a", "d"});
        assertTrue(said().endsWith("file\t" + NAME + "\t1\t1\t1\n"), said());
        Object after = identity();
        assertEquals(before, after);
        assertFalse(Files.exists(partial));
    }

    /** The same command would begin with it again, so those after it are not to wait for it. */
    @Test
    void aFileWithoutAllReplicasStaysAsItWasAndTheNextIsTaken() throws IOException {
        Object before = identity();
        take(NAME + "\n" + NAME + "\n", new String[] {"a", "c"}, new String[] {"a"});
        String one = "bytes\t10\nfile\t" + NAME + "\t1\t1\t1\n";
        String waited = "bytes\t0\n";
        assertTrue(said().contains(waited), said());
        assertEquals(one + one, said().replace(waited, ""));
        assertEquals(before, identity());
        assertFalse(Files.exists(partial));
    }

    @Test
    void whyACopyFailsIsSaidAndNothingIsLeftOfIt() throws IOException {
        Object before = identity();
        failure = new IOException("Connection refused");
        IOException error = assertThrows(
                IOException.class, () -> take(NAME + "\n", new String[] {"a", "c"}, new String[] {"a", "b"}));
        assertEquals(failure, error);
        assertEquals(before, identity());
        assertFalse(Files.exists(partial));
    }

    /** A load's own files do not stand in their places yet. */
    @Test
    void whatOneThatWasKilledHasLeftIsRemoved() throws IOException {
        Path ofLoad = partial.resolveSibling("bucket-00001-of-00003@a+b");
        Files.createDirectories(partial.getParent());
        Files.writeString(partial, "be");
        Files.writeString(ofLoad, "to");
        take("", new String[] {"a", "b"}, new String[] {});
        assertFalse(Files.exists(partial));
        assertTrue(Files.exists(ofLoad));
    }

    /** What it has begun is removed, and the file stays as it was. */
    @Test
    void itEndsWithWhoeverAskedAndLeavesNothing() throws IOException {
        PrintStream unheard = new PrintStream(new OutputStream() {
            @Override
            public void write(int one) throws IOException {
                throw new IOException("Broken pipe");
            }
        });
        Object before = identity();
        IOException error = assertThrows(
                IOException.class, () -> take(NAME + "\n", new String[] {"a", "c"}, new String[] {"a", "b"}, unheard));
        assertEquals("interrupted", error.getMessage());
        assertEquals(before, identity());
        assertFalse(Files.exists(partial));
    }

    @Test
    void whatIsNoPlacedFileIsRefused() {
        IOException error = assertThrows(
                IOException.class, () -> take("part-00000\n", new String[] {"a", "c"}, new String[] {"a", "b"}));
        assertEquals("part-00000 places nothing", error.getMessage());
    }
}
