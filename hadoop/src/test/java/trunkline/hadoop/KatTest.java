package trunkline.hadoop;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.FilterFileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.hdfs.protocol.DatanodeInfo;
import org.apache.hadoop.util.Progressable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class KatTest {
    @Test
    void aLoadThatHdfsInterruptsIsSaidToGoOn() {
        IOException noAnswer = new IOException("Connection refused\n\tat java.net");
        String said = Kat.reason("write", noAnswer);
        assertTrue(
                said.startsWith("Connection refused; ") && said.endsWith("the same command goes on with the others"));
        assertEquals("Connection refused", Kat.reason("look", noAnswer));
        // The same records would be wrong again.
        assertEquals(
                "the key is in bucket 1", Kat.reason("write", new IllegalStateException("the key is in bucket 1")));
    }

    @Test
    void nodesWithoutRoomAreNamed() {
        DatanodeInfo[] nodes = {node("b", 0), node("a", 99), node("c", 100)};
        assertEquals("; without room for a block of 100 bytes: a, b", Kat.withoutRoom(nodes, 100));
        assertEquals("", Kat.withoutRoom(nodes, 0));
    }

    private static DatanodeInfo node(String name, long room) {
        return new DatanodeInfo.DatanodeInfoBuilder()
                .setHostName(name)
                .setRemaining(room)
                .build();
    }

    /** A load goes on by its manifest, so that must outlive what the layout outlives. The local file system's default is 1. */
    @Test
    void theManifestHasAsManyReplicasAsTheLayout(@TempDir java.nio.file.Path folder) throws IOException {
        List<Short> asked = new ArrayList<>();
        FileSystem files = new FilterFileSystem(FileSystem.getLocal(new Configuration(false))) {
            @Override
            public FSDataOutputStream create(
                    Path file,
                    FsPermission permission,
                    boolean overwrite,
                    int buffer,
                    short replicas,
                    long block,
                    Progressable progress)
                    throws IOException {
                asked.add(replicas);
                return super.create(file, permission, overwrite, buffer, replicas, block, progress);
            }
        };
        Path manifest = new Path(folder.toString(), "manifest");
        new Kat(files, System.out)
                .put(manifest, (short) 3, new ByteArrayInputStream("{}".getBytes(StandardCharsets.UTF_8)));
        assertEquals(List.of((short) 3), asked);
        assertEquals("{}", Files.readString(folder.resolve("manifest")));
    }
}
