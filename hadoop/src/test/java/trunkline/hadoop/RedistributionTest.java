package trunkline.hadoop;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.io.StringReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.BlockLocation;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.FilterFileSystem;
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

    @BeforeEach
    void aFileInItsPlace() throws IOException {
        Files.writeString(folder.resolve(NAME), "be 1\nbe 2\n");
        partial = folder.resolve("_trunkline/partial").resolve(NAME);
    }

    private void take(String names, String[] inPlace, String[] anew) throws IOException {
        Configuration settings = new Configuration();
        FileSystem files = new FilterFileSystem(FileSystem.getLocal(settings)) {
            @Override
            public BlockLocation[] getFileBlockLocations(FileStatus file, long start, long length) {
                boolean isAnew = file.getPath().toString().contains("_trunkline/partial");
                String[] hosts = isAnew ? anew : inPlace;
                return new BlockLocation[] {new BlockLocation(hosts, hosts, start, length)};
            }
        };
        PlacedReplicas replicas = new PlacedReplicas(files, (short) 2, Map.of());
        new Redistribution(files, settings, new org.apache.hadoop.fs.Path(folder.toString()), replicas, 300, 1_000_000)
                .take(new BufferedReader(new StringReader(names)), new PrintStream(said, true));
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
        take(NAME + "\n", new String[] {"a", "c"}, new String[] {"b", "a"});
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
        assertEquals(one + one, said());
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
