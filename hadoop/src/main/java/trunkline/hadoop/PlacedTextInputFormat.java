package trunkline.hadoop;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.apache.hadoop.fs.BlockLocation;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.LongWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapreduce.InputSplit;
import org.apache.hadoop.mapreduce.JobContext;
import org.apache.hadoop.mapreduce.RecordReader;
import org.apache.hadoop.mapreduce.TaskAttemptContext;
import org.apache.hadoop.mapreduce.lib.input.CombineFileRecordReader;
import org.apache.hadoop.mapreduce.lib.input.CombineFileSplit;
import org.apache.hadoop.mapreduce.lib.input.CombineTextInputFormat;

/**
 * Lines of text that are laid out by key, as {@code TextInputFormat} hands them to maps, but with fewer maps: a layout has a
 * file for each bucket and for each part of a heavy key, and most of them are shorter than a block.
 *
 * <p>The files of a node follow one another and are cut into splits of equal length, as near a block as may be and at most 1.1
 * of it, which is what {@code FileInputFormat} grants to the last split of a file ({@code SPLIT_SLOP}). So a node whose share is a little
 * more than so many blocks has as many maps, and none that is much shorter than the others. Hadoop's own {@code
 * CombineTextInputFormat} joins files of any node that has a copy, where their keys are not reduced.
 */
public final class PlacedTextInputFormat extends CombineTextInputFormat {
    private static final double SLOP = 1.1;

    @Override
    public List<InputSplit> getSplits(JobContext job) throws IOException {
        Map<String, List<FileStatus>> ofNodes = new TreeMap<>();
        for (FileStatus file : listStatus(job)) {
            PlacedFile placed = PlacedFile.of(file.getPath().getName())
                    .orElseThrow(() -> new IOException(file.getPath()
                            + " is not laid out by key (trunkline kat load): this job reads it without "
                            + "mapreduce.job.inputformat.class=" + PlacedTextInputFormat.class.getName()));
            if (file.getLen() > 0) {
                ofNodes.computeIfAbsent(placed.nodes().get(0), node -> new ArrayList<>())
                        .add(file);
            }
        }
        List<InputSplit> splits = new ArrayList<>();
        for (List<FileStatus> files : ofNodes.values()) {
            long length = computeSplitSize(
                    files.get(0).getBlockSize(),
                    Math.max(getFormatMinSplitSize(), getMinSplitSize(job)),
                    getMaxSplitSize(job));
            cut(job, files, length, splits);
        }
        return splits;
    }

    @Override
    public RecordReader<LongWritable, Text> createRecordReader(InputSplit split, TaskAttemptContext context)
            throws IOException {
        return new CombineFileRecordReader<>((CombineFileSplit) split, context, PlacedLines.class);
    }

    /** Cuts files that follow one another into splits of equal length. */
    private static void cut(JobContext job, List<FileStatus> files, long length, List<InputSplit> splits)
            throws IOException {
        long whole = files.stream().mapToLong(FileStatus::getLen).sum();
        int count = (int) Math.max(Math.ceil(whole / (SLOP * length)), Math.round((double) whole / length));
        int number = 1;
        long at = 0;
        Joined split = new Joined();
        for (FileStatus file : files) {
            long offset = 0;
            while (offset < file.getLen()) {
                long end = number == count ? whole : whole / count * number;
                long taken = Math.min(end - at, file.getLen() - offset);
                split.add(job, file, offset, taken);
                offset += taken;
                at += taken;
                if (at == end) {
                    splits.add(split.made());
                    split = new Joined();
                    number++;
                }
            }
        }
    }

    /** A split in the making. */
    private static final class Joined {
        private final List<Path> paths = new ArrayList<>();
        private final List<Long> offsets = new ArrayList<>();
        private final List<Long> lengths = new ArrayList<>();
        /** The hosts that have all of it; of what no host has as a whole, those of its beginning. */
        private Set<String> hosts;

        void add(JobContext job, FileStatus file, long offset, long length) throws IOException {
            paths.add(file.getPath());
            offsets.add(offset);
            lengths.add(length);
            BlockLocation[] blocks =
                    file.getPath().getFileSystem(job.getConfiguration()).getFileBlockLocations(file, offset, length);
            for (BlockLocation block : blocks) {
                Set<String> common = new LinkedHashSet<>(Arrays.asList(block.getHosts()));
                if (hosts != null) {
                    common.retainAll(hosts);
                }
                hosts = common.isEmpty() && hosts != null ? hosts : common;
            }
        }

        InputSplit made() {
            return new CombineFileSplit(
                    paths.toArray(new Path[0]),
                    offsets.stream().mapToLong(Long::longValue).toArray(),
                    lengths.stream().mapToLong(Long::longValue).toArray(),
                    hosts == null ? new String[0] : hosts.toArray(new String[0]));
        }
    }
}
