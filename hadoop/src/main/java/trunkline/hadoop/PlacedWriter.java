package trunkline.hadoop;

import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.fs.BlockLocation;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

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
    private final PlacedReplicas placed;
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
        this.placed = new PlacedReplicas(files, replicas, nodes);
    }

    private static final class Open {
        final String name;
        final PlacedFile file;
        final int bucket;
        final int buckets;
        final Path partial;
        final OutputStream out;
        long records;

        Open(String name, PlacedFile file, int bucket, int buckets, Path partial, OutputStream out) {
            this.name = name;
            this.file = file;
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
            commit(say);
        } finally {
            discard();
        }
    }

    private void begin(DataInputStream in) throws IOException {
        int number = in.readInt();
        String name = in.readUTF();
        PlacedFile file = PlacedFile.of(name).orElseThrow(() -> new IllegalArgumentException(name + " places nothing"));
        Path partial = new Path(new Path(folder, ASIDE + "/partial"), name);
        OutputStream out = new BufferedOutputStream(placed.create(partial, file), BUFFER);
        open.put(number, new Open(name, file, in.readInt(), in.readInt(), partial, out));
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

    /** Moves files to their places as their blocks get all replicas. Those that have not got them in time are named. */
    private void commit(PrintStream say) throws IOException {
        long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(patienceMs);
        while (true) {
            String lacking = "";
            for (Open file : List.copyOf(open.values())) {
                FileStatus status = files.getFileStatus(file.partial);
                BlockLocation[] blocks = files.getFileBlockLocations(status, 0, status.getLen());
                if (placed.areThere(blocks)) {
                    say.println(move(file, status, blocks));
                    open.values().remove(file);
                } else {
                    lacking = file.name + " has one with " + placed.least(blocks);
                }
            }
            if (open.isEmpty()) {
                return;
            }
            if (System.nanoTime() > end) {
                throw new IOException(open.size() + " files are not moved to their places: after "
                        + TimeUnit.MILLISECONDS.toSeconds(patienceMs) + " s blocks lack replicas, as " + lacking
                        + " of "
                        + replicas);
            }
            PlacedReplicas.pause();
        }
    }

    private String move(Open file, FileStatus status, BlockLocation[] blocks) throws IOException {
        Path place = new Path(folder, file.name);
        if (!files.rename(file.partial, place)) {
            throw new IOException(place + " is there already");
        }
        long elsewhere = PlacedReplicas.elsewhere(blocks, file.file);
        return String.join(
                "\t",
                "file",
                file.name,
                Long.toString(file.records),
                Long.toString(status.getLen()),
                Integer.toString(blocks.length),
                Long.toString(elsewhere));
    }

    /**
     * Removes what was begun. The streams are left to the end of the process: closing them takes HDFS's word for each. Where
     * it does not answer the rest is left, too, for the next try writes over it: each call waits as long as the first.
     */
    private void discard() {
        try {
            for (Open file : open.values()) {
                files.delete(file.partial, false);
            }
        } catch (IOException error) {
            // What has failed before this is told.
        }
    }
}
