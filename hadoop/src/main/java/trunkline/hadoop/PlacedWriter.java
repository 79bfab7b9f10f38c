package trunkline.hadoop;

import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.net.InetSocketAddress;
import java.util.Arrays;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.fs.BlockLocation;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hdfs.DistributedFileSystem;

/**
 * Writes placed files from a stream of frames. They are written beside their place and moved there once each block has all
 * replicas: a file that stands in its place is whole, whatever ended whoever wrote it.
 *
 * <p>Frames begin with a byte. {@code F}: a file: its number (int), name (UTF), bucket and number of buckets (ints). {@code
 * R}: a record: its file's number, the lengths and bytes of its key and of the record. {@code C}: move all files to their
 * places. A stream that ends without a {@code C} leaves nothing.
 */
final class PlacedWriter {
    /** The folder beside the files, which jobs do not read. */
    static final String ASIDE = "_trunkline";

    private static final int LONGEST = 64 << 20;
    private static final int BUFFER = 1 << 14;

    private final FileSystem files;
    private final Path folder;
    private final short replicas;
    private final Buckets judge;
    private final long patienceMs;
    private final Map<String, InetSocketAddress> nodes;
    private final Map<Integer, Open> open = new TreeMap<>();

    PlacedWriter(
            FileSystem files,
            Path folder,
            short replicas,
            Buckets judge,
            long patienceMs,
            Map<String, InetSocketAddress> nodes) {
        this.files = files;
        this.folder = folder;
        this.replicas = replicas;
        this.judge = judge;
        this.patienceMs = patienceMs;
        this.nodes = nodes;
    }

    private static final class Open {
        final PlacedFile file;
        final String name;
        final int bucket;
        final int buckets;
        final Path partial;
        final OutputStream out;
        long records;

        Open(String name, int bucket, int buckets, Path partial, OutputStream out) {
            this.file = PlacedFile.of(name).orElseThrow(() -> new IllegalArgumentException(name + " places nothing"));
            this.name = name;
            this.bucket = bucket;
            this.buckets = buckets;
            this.partial = partial;
            this.out = out;
        }
    }

    /** Takes frames to their end. Says of each file what became of it. */
    void take(DataInputStream in, PrintStream say) throws IOException {
        try {
            int kind = in.read();
            while (kind != 'C') {
                if (kind == 'F') {
                    begin(in);
                } else if (kind == 'R') {
                    record(in);
                } else {
                    throw new EOFException("the stream of records has ended within a pass");
                }
                kind = in.read();
            }
            for (Open file : open.values()) {
                file.out.close();
            }
            for (Open file : open.values()) {
                say.println(commit(file));
            }
            open.clear();
        } finally {
            for (Open file : open.values()) {
                discard(file);
            }
        }
    }

    private void begin(DataInputStream in) throws IOException {
        int number = in.readInt();
        String name = in.readUTF();
        Path partial = new Path(new Path(folder, ASIDE + "/partial"), name);
        OutputStream out = new BufferedOutputStream(create(partial, name), BUFFER);
        open.put(number, new Open(name, in.readInt(), in.readInt(), partial, out));
    }

    /** DataNodes keep a block from the balancer where its writer asked for them by name. */
    private OutputStream create(Path path, String name) throws IOException {
        if (!(files instanceof DistributedFileSystem)) {
            return files.create(path, true, BUFFER, replicas, files.getDefaultBlockSize(path));
        }
        InetSocketAddress[] group = PlacedFile.of(name)
                .map(file -> file.nodes().stream().map(nodes::get).toArray(InetSocketAddress[]::new))
                .orElseThrow(() -> new IllegalArgumentException(name + " places nothing"));
        if (Arrays.asList(group).contains(null)) {
            throw new IOException(name + " names a node that is no DataNode here");
        }
        return ((DistributedFileSystem) files)
                .createFile(path)
                .recursive()
                .overwrite(true)
                .replication(replicas)
                .favoredNodes(group)
                .build();
    }

    private void record(DataInputStream in) throws IOException {
        Open file = open.get(in.readInt());
        if (file == null) {
            throw new IOException("a record of a file that was not begun");
        }
        byte[] key = bytes(in);
        byte[] record = bytes(in);
        if (key.length > 0) {
            judge.check(key, file.bucket, file.buckets);
        }
        file.out.write(record);
        file.out.write('\n');
        file.records++;
    }

    static byte[] bytes(DataInputStream in) throws IOException {
        int length = in.readInt();
        if (length < 0 || length > LONGEST) {
            throw new IOException("a record of " + length + " bytes");
        }
        byte[] bytes = new byte[length];
        in.readFully(bytes);
        return bytes;
    }

    private String commit(Open file) throws IOException {
        FileStatus status = files.getFileStatus(file.partial);
        BlockLocation[] blocks = settled(status);
        Path place = new Path(folder, file.name);
        if (!files.rename(file.partial, place)) {
            throw new IOException(place + " is there already");
        }
        long elsewhere = Arrays.stream(blocks)
                .filter(block -> !isWithin(block, file.file))
                .count();
        return String.join(
                "\t",
                "file",
                file.name,
                Long.toString(file.records),
                Long.toString(status.getLen()),
                Integer.toString(blocks.length),
                Long.toString(elsewhere));
    }

    private static boolean isWithin(BlockLocation block, PlacedFile file) {
        try {
            return file.nodes().containsAll(Arrays.asList(block.getHosts()));
        } catch (IOException error) {
            return false;
        }
    }

    /** The file's blocks, once each has all replicas. */
    private BlockLocation[] settled(FileStatus status) throws IOException {
        long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(patienceMs);
        while (true) {
            BlockLocation[] blocks = files.getFileBlockLocations(status, 0, status.getLen());
            int least = replicas;
            for (BlockLocation block : blocks) {
                least = Math.min(least, block.getHosts().length);
            }
            if (least >= replicas || !(files instanceof DistributedFileSystem)) {
                return blocks;
            }
            if (System.nanoTime() > end) {
                throw new IOException(status.getPath() + " has a block with " + least + " of " + replicas
                        + " replicas after " + TimeUnit.MILLISECONDS.toSeconds(patienceMs)
                        + " s: it is not moved to its place");
            }
            try {
                Thread.sleep(200);
            } catch (InterruptedException error) {
                Thread.currentThread().interrupt();
                throw new IOException("interrupted", error);
            }
        }
    }

    private void discard(Open file) {
        try {
            file.out.close();
        } catch (IOException error) {
            // What is not whole is removed, or written over by the next try.
        }
        try {
            files.delete(file.partial, false);
        } catch (IOException error) {
            // As above.
        }
    }
}
