package trunkline.hadoop;

import java.io.BufferedReader;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.BlockLocation;
import org.apache.hadoop.fs.FileContext;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Options.Rename;
import org.apache.hadoop.fs.Path;

/**
 * Brings blocks back to the nodes of their files' names: a file is written anew beside its place, and takes it by one
 * rename once all of its blocks have all replicas. So the file is there at any time, with no fewer replicas than it had,
 * whatever ends whoever writes it. One that came to stand no better, or did not get all replicas, stays as it was.
 */
final class Redistribution {
    /** So many bytes are copied between two words of progress. */
    private static final int STEP = 1 << 20;
    /** Short waits are not waited one by one. */
    private static final long LEAST_WAIT_MS = 50;

    private final FileSystem files;
    private final FileContext names;
    private final Path folder;
    private final PlacedReplicas replicas;
    private final long patienceMs;
    private final long bytesPerSecond;
    private final long began = System.nanoTime();
    private long copied;

    /** As fast as it goes if {@code bytesPerSecond} is 0. */
    Redistribution(
            FileSystem files,
            Configuration settings,
            Path folder,
            PlacedReplicas replicas,
            long patienceMs,
            long bytesPerSecond)
            throws IOException {
        this.files = files;
        this.names = FileContext.getFileContext(files.getUri(), settings);
        this.folder = folder;
        this.replicas = replicas;
        this.patienceMs = patienceMs;
        this.bytesPerSecond = bytesPerSecond;
    }

    /**
     * Takes names of files, a line each. Says {@code bytes} and their number as they are copied, also of none while it waits,
     * and at the end of each file {@code file}, its name, its blocks, how many of them stood elsewhere, and how many do now.
     */
    void take(BufferedReader in, PrintStream say) throws IOException {
        removeLeft();
        for (String name = in.readLine(); name != null; name = in.readLine()) {
            PlacedFile file = PlacedFile.of(name).orElse(null);
            if (file == null) {
                throw new IOException(name + " places nothing");
            }
            Path partial = new Path(folder, PlacedWriter.ASIDE + "/partial/" + name);
            try {
                say.println(renew(new Path(folder, name), partial, file, say));
                say.flush();
            } catch (IOException error) {
                discard(partial);
                throw error;
            }
        }
    }

    /**
     * Removes what one that was killed was writing. A file that stands in its place is written anew by nobody else; what a load
     * writes does not stand there yet.
     */
    private void removeLeft() throws IOException {
        Path aside = new Path(folder, PlacedWriter.ASIDE + "/partial");
        for (FileStatus partial : listed(files, aside)) {
            if (files.exists(new Path(folder, partial.getPath().getName()))) {
                files.delete(partial.getPath(), false);
            }
        }
    }

    /** What a folder holds: nothing if it is not there. */
    static FileStatus[] listed(FileSystem files, Path folder) throws IOException {
        try {
            return files.listStatus(folder);
        } catch (FileNotFoundException error) {
            return new FileStatus[0];
        }
    }

    private String renew(Path place, Path partial, PlacedFile file, PrintStream say) throws IOException {
        FileStatus old = files.getFileStatus(place);
        long before = PlacedReplicas.elsewhere(blocks(old), file);
        copy(old, partial, file, say);
        FileStatus made = files.getFileStatus(partial);
        BlockLocation[] blocks = settled(made, say);
        long after = PlacedReplicas.elsewhere(blocks, file);
        boolean isBetter = replicas.areThere(blocks) && after < before;
        if (isBetter) {
            files.setPermission(partial, old.getPermission());
            // By its length and time a reader of the old file knows that this one is the same.
            files.setTimes(partial, old.getModificationTime(), -1);
            names.rename(partial, place, Rename.OVERWRITE);
        } else {
            discard(partial);
        }
        return String.join(
                "\t",
                "file",
                place.getName(),
                Integer.toString(blocks.length),
                Long.toString(before),
                Long.toString(isBetter ? after : before));
    }

    /**
     * Writes the copy. Its stream is closed only where all of it is written: one that has failed fails again when it is closed,
     * by the same exception, which hides why. It is left to the end of the process, which is near.
     */
    private void copy(FileStatus old, Path partial, PlacedFile file, PrintStream say) throws IOException {
        OutputStream out = replicas.create(partial, file);
        try (InputStream in = files.open(old.getPath())) {
            copy(in, old, out, say);
        }
        out.close();
    }

    private void copy(InputStream in, FileStatus old, OutputStream out, PrintStream say) throws IOException {
        byte[] buffer = new byte[STEP];
        long left = old.getLen();
        while (left > 0) {
            int read = in.readNBytes(buffer, 0, (int) Math.min(STEP, left));
            if (read == 0) {
                throw new IOException(old.getPath() + " ends " + left + " bytes before its length");
            }
            out.write(buffer, 0, read);
            left -= read;
            copied += read;
            tell(say, read);
            hold(say);
        }
    }

    /** Says so many bytes are copied, and ends where whoever asked is not there any longer. */
    private static void tell(PrintStream say, int bytes) throws IOException {
        say.println("bytes\t" + bytes);
        if (say.checkError()) {
            throw new IOException("interrupted");
        }
    }

    private void hold(PrintStream say) throws IOException {
        while (bytesPerSecond > 0) {
            long due = TimeUnit.SECONDS.toMillis(copied) / bytesPerSecond;
            long ahead = due - TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - began);
            if (ahead <= LEAST_WAIT_MS) {
                return;
            }
            PlacedReplicas.pause(Math.min(ahead, PlacedReplicas.LOOK_MS));
            tell(say, 0);
        }
    }

    /** The blocks once all have all replicas, or when there was time enough for it. */
    private BlockLocation[] settled(FileStatus file, PrintStream say) throws IOException {
        long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(patienceMs);
        BlockLocation[] blocks = blocks(file);
        while (!replicas.areThere(blocks) && System.nanoTime() < end) {
            PlacedReplicas.pause();
            tell(say, 0);
            blocks = blocks(file);
        }
        return blocks;
    }

    private BlockLocation[] blocks(FileStatus file) throws IOException {
        return files.getFileBlockLocations(file, 0, file.getLen());
    }

    private void discard(Path partial) {
        try {
            files.delete(partial, false);
        } catch (IOException error) {
            // The next try writes over it.
        }
    }
}
