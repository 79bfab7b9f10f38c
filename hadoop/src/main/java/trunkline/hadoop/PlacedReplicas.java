package trunkline.hadoop;

import java.io.IOException;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.util.Arrays;
import java.util.Map;
import org.apache.hadoop.fs.BlockLocation;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hdfs.DistributedFileSystem;

/** Where a placed file's replicas are to stand, and where they do. */
final class PlacedReplicas {
    private static final int BUFFER = 1 << 14;
    /** Replicas are looked at again after so long. */
    static final long LOOK_MS = 200;

    private final FileSystem files;
    private final short replicas;
    private final Map<String, InetSocketAddress> nodes;

    /** With the addresses of the cluster's DataNodes by their names. */
    PlacedReplicas(FileSystem files, short replicas, Map<String, InetSocketAddress> nodes) {
        this.files = files;
        this.replicas = replicas;
        this.nodes = nodes;
    }

    /** Begins a file. DataNodes keep a block from the balancer where its writer asked for them by name. */
    OutputStream create(Path path, PlacedFile file) throws IOException {
        if (!(files instanceof DistributedFileSystem)) {
            return files.create(path, true, BUFFER, replicas, files.getDefaultBlockSize(path));
        }
        InetSocketAddress[] group = file.nodes().stream().map(nodes::get).toArray(InetSocketAddress[]::new);
        if (Arrays.asList(group).contains(null)) {
            throw new IOException(path.getName() + " names a node that is no DataNode here");
        }
        return ((DistributedFileSystem) files)
                .createFile(path)
                .recursive()
                .overwrite(true)
                .replication(replicas)
                .favoredNodes(group)
                .build();
    }

    /** How many replicas the block has that has the fewest, counted up to those that there are to be. */
    int least(BlockLocation[] blocks) throws IOException {
        int least = replicas;
        for (BlockLocation block : blocks) {
            least = Math.min(least, block.getHosts().length);
        }
        return least;
    }

    /** Whether no block has fewer replicas than it should. */
    boolean areThere(BlockLocation[] blocks) throws IOException {
        return least(blocks) >= replicas;
    }

    /** How many blocks have a replica outside the file's group. */
    static long elsewhere(BlockLocation[] blocks, PlacedFile file) throws IOException {
        long elsewhere = 0;
        for (BlockLocation block : blocks) {
            elsewhere += file.nodes().containsAll(Arrays.asList(block.getHosts())) ? 0 : 1;
        }
        return elsewhere;
    }

    /** Until replicas are looked at again. */
    static void pause() throws IOException {
        pause(LOOK_MS);
    }

    static void pause(long milliseconds) throws IOException {
        try {
            Thread.sleep(milliseconds);
        } catch (InterruptedException error) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted", error);
        }
    }
}
