package trunkline.hadoop;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Test;
import trunkline.hadoop.JobLayout.Part;
import trunkline.hadoop.JobLayout.Split;

class JobLayoutTest {
    private static Split split(String name, long bytes, String... hosts) {
        return new Split(List.of(new Part(name, bytes)), List.of(hosts));
    }

    @Test
    void aReducerBelongsWhereMostOfItsPartitionIsProcessed() {
        // Four buckets and two reducers: partition 0 has buckets 0 and 2, partition 1 has bucket 1.
        JobLayout layout = JobLayout.of(
                        List.of(
                                split("bucket-0-of-4@a+b", 10, "b", "a"),
                                split("bucket-2-of-4@c+a", 30, "a", "c"),
                                split("bucket-2-of-4@c+a", 1, "a", "c"),
                                split("bucket-1-of-4@b+c", 5, "c", "b")),
                        2,
                        false)
                .layout()
                .orElseThrow();
        assertEquals(List.of("c", "a"), layout.ofReduce(0));
        assertEquals(List.of("b", "c"), layout.ofReduce(1));
        assertEquals(List.of("a", "b"), layout.ofMap(0));
        assertEquals(List.of("c", "a"), layout.ofMap(1));
        assertEquals(List.of(), layout.ofMap(4));
    }

    @Test
    void aMapGoesWhereItsBytesAreThoughTheGroupHasLostThem() {
        List<Split> splits = List.of(
                split("bucket-0-of-2@a+b", 1, "x", "b"),
                split("bucket-1-of-2@a+b", 1, "x", "y"),
                split("bucket-1-of-2-key-0-part-1@c", 9, "c"));
        JobLayout layout = JobLayout.of(splits, 2, false).layout().orElseThrow();
        assertEquals(List.of("b"), layout.ofMap(0));
        assertEquals(List.of("x", "y"), layout.ofMap(1));
        assertEquals(List.of("c"), layout.ofReduce(1), "a heavy key's part weighs most");
    }

    @Test
    void whatACombinerLeavesOfAHeavyKeyGoesToTheOtherKeysOfItsPartition() {
        List<Split> splits = List.of(
                split("bucket-0-of-2@a+b", 5, "a", "b"),
                split("bucket-0-of-2-key-0-part-0@c+b", 90, "c", "b"),
                split("bucket-0-of-2-key-0-part-1@b+c", 80, "b", "c"),
                split("bucket-1-of-2-key-1-part-0@a+c", 30, "a", "c"),
                split("bucket-1-of-2-key-1-part-1@b+c", 40, "b", "c"));
        JobLayout combined = JobLayout.of(splits, 2, true).layout().orElseThrow();
        assertEquals(List.of("a", "b"), combined.ofReduce(0));
        assertEquals(List.of("b", "c"), combined.ofReduce(1), "there are no other keys");
        JobLayout all = JobLayout.of(splits, 2, false).layout().orElseThrow();
        assertEquals(List.of("c", "b"), all.ofReduce(0), "without a combiner all bytes travel");
    }

    @Test
    void aMapOfSeveralFilesCountsForThePartitionOfEach() {
        Split joined =
                new Split(List.of(new Part("bucket-0-of-4@a+b", 10), new Part("bucket-1-of-4@a+c", 20)), List.of("a"));
        List<Split> splits = List.of(joined, split("bucket-2-of-4@b+a", 11, "b"), split("bucket-3-of-4@b+c", 19, "b"));
        JobLayout layout = JobLayout.of(splits, 2, false).layout().orElseThrow();
        assertEquals(List.of("a"), layout.ofMap(0));
        assertEquals(List.of("b", "a"), layout.ofReduce(0), "11 bytes of bucket 2 against 10");
        assertEquals(List.of("a", "c"), layout.ofReduce(1), "20 bytes of bucket 1 against 19");
    }

    @Test
    void aPartitionWithoutDataMayBeReducedAnywhere() {
        JobLayout layout = JobLayout.of(List.of(split("bucket-0-of-2@a", 1, "a")), 2, true)
                .layout()
                .orElseThrow();
        assertEquals(List.of(), layout.ofReduce(1));
    }

    @Test
    void whatIsNotLaidOutForTheJobIsSaid() {
        List<Split> of6 = List.of(split("bucket-0-of-6@a", 1, "a"));
        String reason = JobLayout.of(of6, 4, false).reason();
        assertTrue(reason.contains("6 buckets") && reason.contains("mapreduce.job.reduces=6"), reason);
        assertTrue(JobLayout.of(of6, 3, false).layout().isPresent());
        assertTrue(JobLayout.of(of6, 0, false).reason().contains("no reducers"));
        assertTrue(JobLayout.of(List.of(), 1, false).reason().contains("no input"));
        assertTrue(JobLayout.of(List.of(split("part-0", 1)), 1, false).reason().contains("part-0"));
        List<Split> two = List.of(split("bucket-0-of-6@a", 1, "a"), split("bucket-0-of-3@a", 1, "a"));
        assertTrue(JobLayout.of(two, 3, false).reason().contains("of 6 and of 3"));
    }
}
