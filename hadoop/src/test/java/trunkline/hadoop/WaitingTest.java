package trunkline.hadoop;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import org.junit.jupiter.api.Test;
import trunkline.hadoop.Waiting.Bond;

class WaitingTest {
    private final Waiting<String> waiting = new Waiting<>(20_000);

    @Test
    void aHostThatGivesNothingIsWaitedForHalfTheTimeAndAllHoldersForTheRest() {
        waiting.add("r0", List.of("a", "b"), 1_000);
        assertEquals(List.of("a"), waiting.hosts("r0"));
        assertEquals(List.of(), waiting.loosen(10_999));
        assertEquals(List.of("r0"), waiting.loosen(11_000));
        assertEquals(List.of("a", "b"), waiting.hosts("r0"));
        assertEquals(List.of(), waiting.loosen(20_999), "once is enough");
        assertEquals(List.of("r0"), waiting.loosen(21_000));
        assertEquals(Bond.ANYWHERE, waiting.bond("r0"));
        assertEquals(List.of(), waiting.hosts("r0"));
    }

    @Test
    void aHostThatWorksOffItsTasksIsWaitedFor() {
        waiting.add("m0", List.of("a"), 0);
        waiting.add("m1", List.of("b"), 0);
        waiting.granted("a", 9_000);
        assertEquals(List.of("m1"), waiting.loosen(10_000));
        assertEquals(List.of("a"), waiting.hosts("m0"));
        assertEquals(List.of("m0", "m1"), waiting.loosen(20_000));
        assertEquals(Bond.HOLDERS, waiting.bond("m0"));
    }

    @Test
    void aLostHostIsNotWaitedFor() {
        waiting.add("r0", List.of("a", "b"), 0);
        waiting.add("r1", List.of("a"), 0);
        waiting.lost("a", true);
        assertEquals(List.of("r0", "r1"), waiting.loosen(1));
        assertEquals(List.of("a", "b"), waiting.hosts("r0"));
        assertEquals(Bond.ANYWHERE, waiting.bond("r1"));
        waiting.lost("b", true);
        assertEquals(List.of("r0"), waiting.loosen(2));
        waiting.lost("a", false);
        waiting.add("r2", List.of("a"), 3);
        assertEquals(List.of(), waiting.loosen(4), "it is back");
    }

    @Test
    void whatNoLongerWaitsIsForgotten() {
        waiting.add("r0", List.of("a"), 0);
        waiting.add("r1", List.of("a"), 0);
        waiting.keep(List.of("r1"));
        assertEquals(List.of("r1"), waiting.loosen(50_000));
    }
}
