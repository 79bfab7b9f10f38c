package trunkline.hadoop;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Test;

class PlacedFileTest {
    @Test
    void aNameSaysBucketAndNodes() {
        PlacedFile file =
                PlacedFile.of("bucket-00012-of-00064@worker-1+worker-3.example").orElseThrow();
        assertEquals(12, file.bucket());
        assertEquals(64, file.buckets());
        assertEquals(List.of("worker-1", "worker-3.example"), file.nodes());
        assertEquals(
                5, PlacedFile.of("bucket-5-of-6-key-0-part-3@a").orElseThrow().bucket());
    }

    @Test
    void whatIsNoSuchNameIsNone() {
        for (String name : List.of(
                "part-00000",
                "bucket-00012-of-00064",
                "bucket-7-of-7@a",
                "bucket-1-of-2@",
                "bucket-1-of-2@+",
                "bucket-1-of-2@a@b",
                "bucket-99999999999-of-2@a",
                "bucket-1-of-2-key-1@a",
                "mail@example")) {
            assertTrue(PlacedFile.of(name).isEmpty(), name);
        }
    }
}
