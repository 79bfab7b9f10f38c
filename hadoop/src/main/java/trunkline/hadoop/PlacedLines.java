package trunkline.hadoop;

import java.io.IOException;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.LongWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapreduce.InputSplit;
import org.apache.hadoop.mapreduce.RecordReader;
import org.apache.hadoop.mapreduce.TaskAttemptContext;
import org.apache.hadoop.mapreduce.lib.input.CombineFileSplit;
import org.apache.hadoop.mapreduce.lib.input.FileSplit;
import org.apache.hadoop.mapreduce.lib.input.TextInputFormat;

/**
 * The lines of a piece of a placed file, also where {@code trunkline kat redistribute} puts another in its place meanwhile.
 *
 * <p>HDFS then removes the blocks under who reads them, whose stream fails ({@code Blocklist for ... has changed}). The file
 * that took the place has the same bytes, and says so by its length and time. It is read on from the line that came last.
 */
public final class PlacedLines extends RecordReader<LongWritable, Text> {
    private static final long NONE = -1;

    private final FileSplit piece;
    private final TaskAttemptContext context;
    private FileStatus opened;
    private RecordReader<LongWritable, Text> lines;
    /** Where the last line began, and where that had begun after which the file was opened again. */
    private long last = NONE;

    private long retried = NONE - 1;

    /** As {@code CombineFileRecordReader} makes it: for one of the pieces of a split. */
    public PlacedLines(CombineFileSplit split, TaskAttemptContext context, Integer number) throws IOException {
        this.piece = new FileSplit(
                split.getPath(number), split.getOffset(number), split.getLength(number), split.getLocations());
        this.context = context;
    }

    @Override
    public void initialize(InputSplit split, TaskAttemptContext same) throws IOException, InterruptedException {
        opened = status();
        open(piece);
    }

    private FileStatus status() throws IOException {
        Path path = piece.getPath();
        return path.getFileSystem(context.getConfiguration()).getFileStatus(path);
    }

    private void open(FileSplit from) throws IOException, InterruptedException {
        lines = new TextInputFormat().createRecordReader(from, context);
        lines.initialize(from, context);
    }

    @Override
    public boolean nextKeyValue() throws IOException, InterruptedException {
        boolean has;
        try {
            has = lines.nextKeyValue();
        } catch (IOException error) {
            readOn(error);
            has = lines.nextKeyValue();
        }
        if (has) {
            last = lines.getCurrentKey().get();
        }
        return has;
    }

    /** Opens the file again behind the last line, unless it is another one or has failed there before. */
    private void readOn(IOException error) throws IOException, InterruptedException {
        FileStatus now = status();
        boolean isSame = now.getLen() == opened.getLen() && now.getModificationTime() == opened.getModificationTime();
        if (!isSame || retried == last) {
            throw error;
        }
        retried = last;
        close();
        if (last == NONE) {
            open(piece);
            return;
        }
        // A split that does not begin with the file begins behind its first end of line: here behind the last line.
        open(new FileSplit(piece.getPath(), last, piece.getStart() + piece.getLength() - last, piece.getLocations()));
        if (last == 0) {
            lines.nextKeyValue();
        }
    }

    @Override
    public LongWritable getCurrentKey() throws IOException, InterruptedException {
        return lines.getCurrentKey();
    }

    @Override
    public Text getCurrentValue() throws IOException, InterruptedException {
        return lines.getCurrentValue();
    }

    @Override
    public float getProgress() {
        float read = (float) (last - piece.getStart()) / Math.max(1, piece.getLength());
        return Math.min(1, Math.max(0, read));
    }

    @Override
    public void close() throws IOException {
        if (lines != null) {
            lines.close();
        }
    }
}
