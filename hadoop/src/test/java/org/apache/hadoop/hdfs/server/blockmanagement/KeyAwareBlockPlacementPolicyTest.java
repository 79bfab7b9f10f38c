package org.apache.hadoop.hdfs.server.blockmanagement;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.StorageType;
import org.apache.hadoop.hdfs.net.DFSNetworkTopology;
import org.apache.hadoop.hdfs.protocol.BlockStoragePolicy;
import org.apache.hadoop.hdfs.protocol.BlockType;
import org.apache.hadoop.hdfs.protocol.DatanodeID;
import org.apache.hadoop.hdfs.server.protocol.DatanodeStorage;
import org.apache.hadoop.net.NetworkTopology;
import org.apache.hadoop.net.Node;
import org.junit.jupiter.api.Test;

/** Decisions over a cluster that is only described: eight DataNodes on two racks, w1 to w4 on /a, w5 to w8 on /b. */
class KeyAwareBlockPlacementPolicyTest {
    private static final long BLOCK = 128L << 20;
    private static final String PATH = "/data/visits/bucket-00003-of-00008@w2+w7+w6";
    private static final BlockStoragePolicy HOT =
            BlockStoragePolicySuite.createDefaultSuite().getPolicy("HOT");

    private final Configuration conf = new Configuration(false);
    private final DFSNetworkTopology topology = DFSNetworkTopology.getInstance(conf);
    private final Host2NodesMap hosts = new Host2NodesMap();
    private final List<DatanodeDescriptor> nodes = new ArrayList<>();
    private final KeyAwareBlockPlacementPolicy policy = new KeyAwareBlockPlacementPolicy();

    KeyAwareBlockPlacementPolicyTest() {
        for (int number = 1; number <= 8; number++) {
            String rack = number <= 4 ? "/a" : "/b";
            DatanodeDescriptor node = new DatanodeDescriptor(
                    new DatanodeID("10.0.0." + number, "w" + number, "uuid-" + number, 9866, 9864, 9865, 9867), rack);
            DatanodeStorageInfo storage = node.updateStorage(
                    new DatanodeStorage("s" + number, DatanodeStorage.State.NORMAL, StorageType.DISK));
            storage.setUtilizationForTesting(100 * BLOCK, 0, 100 * BLOCK, 0);
            node.setAlive(true);
            nodes.add(node);
            topology.add(node);
            hosts.add(node);
        }
        policy.initialize(conf, new Idle(), topology, hosts);
    }

    private static List<String> names(DatanodeStorageInfo[] targets) {
        return Arrays.stream(targets)
                .map(target -> target.getDatanodeDescriptor().getHostName())
                .collect(Collectors.toList());
    }

    private DatanodeStorageInfo storage(int number) {
        return nodes.get(number - 1).getStorageInfos()[0];
    }

    private List<DatanodeStorageInfo> storages(int... numbers) {
        return Arrays.stream(numbers).mapToObj(this::storage).collect(Collectors.toCollection(ArrayList::new));
    }

    private List<String> choose(String path, int wanted, Node writer, List<DatanodeStorageInfo> chosen) {
        return names(policy.chooseTarget(path, wanted, writer, chosen, false, new HashSet<>(), BLOCK, HOT, null));
    }

    @Test
    void aNewBlockGoesToItsGroupWhoeverWrites() {
        for (int again = 0; again < 50; again++) {
            assertEquals(List.of("w2", "w7", "w6"), choose(PATH, 3, null, new ArrayList<>()));
            assertEquals(List.of("w2", "w7"), choose(PATH, 2, nodes.get(0), new ArrayList<>()));
        }
        // The pipeline begins at a writer that is a member.
        assertEquals(List.of("w6", "w7", "w2"), choose(PATH, 3, nodes.get(5), new ArrayList<>()));
        DatanodeStorageInfo[] favoured = policy.chooseTarget(
                PATH, 3, null, new HashSet<>(), BLOCK, List.of(nodes.get(3), nodes.get(4)), HOT, null);
        assertEquals(List.of("w2", "w7", "w6"), names(favoured), "the path goes before a client's favoured nodes");
    }

    @Test
    void otherPathsAreTheSitesOwn() {
        Set<String> seen = new HashSet<>();
        for (int again = 0; again < 100; again++) {
            List<String> targets = choose("/data/part-00003", 3, null, new ArrayList<>());
            assertEquals(3, new HashSet<>(targets).size());
            seen.addAll(targets);
        }
        assertEquals(8, seen.size(), "at random over all nodes");
        // Names that no DataNode has: a file that came from another cluster.
        assertEquals(
                3, choose("/d/bucket-0-of-1@x+y+z", 3, null, new ArrayList<>()).size());
    }

    @Test
    void aLostReplicaIsMadeAnewWithinTheGroup() {
        assertEquals(List.of("w7"), choose(PATH, 1, nodes.get(1), storages(2, 6)));
        assertEquals(List.of("w2"), choose(PATH, 1, nodes.get(6), storages(7, 6)));
        // All members have one: one more is the site's affair.
        assertFalse(Set.of("w2", "w6", "w7")
                .contains(choose(PATH, 1, nodes.get(1), storages(2, 6, 7)).get(0)));
    }

    @Test
    void aMemberThatMayNotIsReplacedAndLaterTheReplacementGoes() {
        for (Runnable shortage : List.<Runnable>of(
                () -> storage(7).setUtilizationForTesting(100 * BLOCK, 100 * BLOCK, 0, 0),
                () -> nodes.get(6).startDecommission(),
                () -> topology.remove(nodes.get(6)))) {
            KeyAwareBlockPlacementPolicyTest fresh = this;
            shortage.run();
            List<String> targets = fresh.choose(PATH, 3, null, new ArrayList<>());
            assertEquals(3, new HashSet<>(targets).size());
            assertTrue(targets.containsAll(List.of("w2", "w6")), targets.toString());
            assertFalse(targets.contains("w7"), targets.toString());
            // As it was.
            storage(7).setUtilizationForTesting(100 * BLOCK, 0, 100 * BLOCK, 0);
            nodes.get(6).stopDecommission();
            topology.add(nodes.get(6));
            String stray = targets.stream()
                    .filter(name -> !List.of("w2", "w6").contains(name))
                    .findFirst()
                    .orElseThrow();
            int number = Integer.parseInt(stray.substring(1));
            Collection<DatanodeStorageInfo> all = storages(2, 6, 7, number);
            List<DatanodeStorageInfo> gone = policy.chooseReplicasToDelete(
                    all, all, 3, new ArrayList<>(List.of(StorageType.DISK)), nodes.get(6), null);
            assertEquals(List.of(stray), names(gone.toArray(DatanodeStorageInfo.EMPTY_ARRAY)));
        }
    }

    @Test
    void aMembersLoadIsNoReasonAndOthersAreStillJudgedByIt() {
        // 2.0 times the mean is the limit of dfs.namenode.redundancy.considerLoad.factor; the mean is 1.
        nodes.get(1).updateHeartbeat(nodes.get(1).getStorageReports(), 0, 0, 50, 0, null);
        storage(2).setUtilizationForTesting(100 * BLOCK, 0, 100 * BLOCK, 0);
        assertEquals("w2", choose(PATH, 3, null, new ArrayList<>()).get(0));
        for (int again = 0; again < 50; again++) {
            assertFalse(choose("/other", 3, null, new ArrayList<>()).contains("w2"));
        }
    }

    @Test
    void theSitesRuleForRacksHoldsWithinAGroup() {
        // Two members on rack /a: HDFS wants a second rack.
        List<String> targets = choose("/d/bucket-0-of-1@w1+w2", 2, null, new ArrayList<>());
        assertEquals("w1", targets.get(0));
        assertTrue(List.of("w5", "w6", "w7", "w8").contains(targets.get(1)), targets.toString());
    }

    @Test
    void excludedNodesStayExcluded() {
        Set<Node> excluded = new HashSet<>(List.of(nodes.get(1)));
        List<String> targets =
                names(policy.chooseTarget(PATH, 3, null, new ArrayList<>(), false, excluded, BLOCK, HOT, null));
        assertFalse(targets.contains("w2"), targets.toString());
        assertTrue(targets.containsAll(List.of("w7", "w6")), targets.toString());
    }

    @Test
    void replicasTooManyOfOtherFilesAreTheSitesAffair() {
        Collection<DatanodeStorageInfo> all = storages(1, 2, 5);
        BlockPlacementPolicyDefault site = new BlockPlacementPolicyDefault();
        site.initialize(conf, new Idle(), topology, hosts);
        assertEquals(
                site.chooseReplicasToDelete(all, all, 2, types(), null, null),
                policy.chooseReplicasToDelete(all, all, 2, types(), null, null));
    }

    private static List<StorageType> types() {
        return new ArrayList<>(Collections.nCopies(1, StorageType.DISK));
    }

    @Test
    void aRuleOfTheSitesOwnFindsTheNodesAndAWrongOneSaysWhichSetting() {
        Configuration own = new Configuration(conf);
        own.set(KeyAwareBlockPlacementPolicy.PATH_RULE, "/warehouse/.*/nodes=(?<nodes>[^/]+)/.*");
        policy.initialize(own, new Idle(), topology, hosts);
        assertEquals(List.of("w8", "w1"), choose("/warehouse/t/nodes=w8+w1/f", 2, null, new ArrayList<>()));
        for (String wrong : List.of("/data/(", "/data/(.*)")) {
            own.set(KeyAwareBlockPlacementPolicy.PATH_RULE, wrong);
            IllegalArgumentException error = assertThrows(
                    IllegalArgumentException.class, () -> policy.initialize(own, new Idle(), topology, hosts));
            assertTrue(error.getMessage().contains(KeyAwareBlockPlacementPolicy.PATH_RULE), error.getMessage());
        }
        Configuration itself = new Configuration(conf);
        itself.set(KeyAwareBlockPlacementPolicy.SITE_POLICY, KeyAwareBlockPlacementPolicy.class.getName());
        assertThrows(IllegalArgumentException.class, () -> policy.initialize(itself, new Idle(), topology, hosts));
    }

    /** What the Balancer asks before it starts, and of each block: it has a configuration, and neither statistics nor nodes. */
    @Test
    void theBalancerStartsWithIt() {
        Configuration conf = new Configuration(false);
        conf.set("dfs.block.replicator.classname", KeyAwareBlockPlacementPolicy.class.getName());
        BlockPlacementPolicies policies =
                new BlockPlacementPolicies(conf, null, NetworkTopology.getInstance(conf), null);
        BlockPlacementPolicy policy = policies.getPolicy(BlockType.CONTIGUOUS);
        assertInstanceOf(BlockPlacementPolicyDefault.class, policy);
        assertInstanceOf(KeyAwareBlockPlacementPolicy.class, policy);
    }

    @Test
    void memoryOfStraysIsBounded() {
        StrayReplicas strays = new StrayReplicas();
        IntStream.rangeClosed(0, StrayReplicas.MOST).forEach(n -> strays.remember("n" + n, Set.of("a", "b")));
        assertFalse(strays.isStray("n0", Set.of("a", "b", "n0")), "the oldest is forgotten");
        assertTrue(strays.isStray("n1", Set.of("a", "b", "n1")));
        assertFalse(strays.isStray("n1", Set.of("a", "n1")), "b has no replica yet");
    }

    /** A cluster at rest. */
    private static final class Idle implements FSClusterStats {
        @Override
        public int getTotalLoad() {
            return 8;
        }

        @Override
        public boolean isAvoidingStaleDataNodesForWrite() {
            return false;
        }

        @Override
        public int getNumDatanodesInService() {
            return 8;
        }

        @Override
        public double getInServiceXceiverAverage() {
            return 1;
        }

        @Override
        public double getInServiceXceiverAverageForVolume() {
            return 1;
        }

        @Override
        public Map<StorageType, StorageTypeStats> getStorageTypeStats() {
            return Collections.emptyMap();
        }
    }
}
