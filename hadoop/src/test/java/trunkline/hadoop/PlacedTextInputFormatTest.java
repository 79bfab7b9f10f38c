package trunkline.hadoop;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.io.LongWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapreduce.InputSplit;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.RecordReader;
import org.apache.hadoop.mapreduce.TaskAttemptID;
import org.apache.hadoop.mapreduce.lib.input.CombineFileSplit;
import org.apache.hadoop.mapreduce.lib.input.FileInputFormat;
import org.apache.hadoop.mapreduce.task.TaskAttemptContextImpl;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PlacedTextInputFormatTest {
    @TempDir
    Path folder;

    private final List<String> written = new ArrayList<>();

    /** Lines of different lengths. */
    private void write(String name, int lines) throws IOException {
        List<String> all = new ArrayList<>();
        for (int line = 0; line < lines; line++) {
            all.add(name + " " + line + "x".repeat(line % 7));
        }
        Files.write(folder.resolve(name), all);
        written.addAll(all);
    }

    private Job job(long most) throws IOException {
        Configuration conf = new Configuration();
        Job job = Job.getInstance(conf);
        FileInputFormat.addInputPath(job, new org.apache.hadoop.fs.Path(folder.toUri()));
        FileInputFormat.setMaxInputSplitSize(job, most);
        return job;
    }

    private static List<String> lines(Job job, InputSplit split) throws IOException, InterruptedException {
        List<String> lines = new ArrayList<>();
        TaskAttemptContextImpl context = new TaskAttemptContextImpl(job.getConfiguration(), new TaskAttemptID());
        try (RecordReader<LongWritable, Text> reader = new PlacedTextInputFormat().createRecordReader(split, context)) {
            reader.initialize(split, context);
            while (reader.nextKeyValue()) {
                lines.add(reader.getCurrentValue().toString());
            }
        }
        return lines;
    }

    /** A node's files are joined, and its splits differ by less than the remainder of a division; every line is read once. */
    @Test
    void splitsOfANodeAreOfOneLengthAndHaveEachLineOnce() throws Exception {
        write("bucket-0-of-4@a+b", 100);
        write("bucket-1-of-4@a+c", 7);
        write("bucket-2-of-4@b+a", 40);
        write("bucket-3-of-4@b+c", 0);
        write("bucket-3-of-4-key-0-part-0@a+c", 60);
        long ofA = Files.size(folder.resolve("bucket-0-of-4@a+b"))
                + Files.size(folder.resolve("bucket-1-of-4@a+c"))
                + Files.size(folder.resolve("bucket-3-of-4-key-0-part-0@a+c"));
        // Four blocks and a quarter: a file of as much has a fifth map, of a quarter.
        Job job = job(ofA * 4 / 17);
        List<InputSplit> splits = new PlacedTextInputFormat().getSplits(job);
        List<Long> lengths = new ArrayList<>();
        List<String> read = new ArrayList<>();
        for (InputSplit split : splits) {
            CombineFileSplit joined = (CombineFileSplit) split;
            String node = PlacedFile.of(joined.getPath(0).getName())
                    .orElseThrow()
                    .nodes()
                    .get(0);
            for (org.apache.hadoop.fs.Path path : joined.getPaths()) {
                assertEquals(
                        node,
                        PlacedFile.of(path.getName()).orElseThrow().nodes().get(0));
            }
            if (node.equals("a")) {
                lengths.add(joined.getLength());
            }
            read.addAll(lines(job, split));
        }
        assertEquals(4, lengths.size());
        assertEquals(ofA, lengths.stream().mapToLong(Long::longValue).sum());
        assertTrue(Collections.max(lengths) - Collections.min(lengths) < 4, lengths.toString());
        Collections.sort(read);
        Collections.sort(written);
        assertEquals(written, read);
    }

    @Test
    void whatIsNotLaidOutIsRefused() throws Exception {
        write("bucket-0-of-1@a", 3);
        write("part-r-00000", 3);
        String said = assertThrows(IOException.class, () -> new PlacedTextInputFormat().getSplits(job(1000)))
                .getMessage();
        assertTrue(said.contains("part-r-00000 is not laid out by key"), said);
    }
}
