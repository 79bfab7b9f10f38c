package org.apache.hadoop.hdfs.server.blockmanagement;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;

/**
 * Replicas that had to go to nodes outside their group, because a member was not there or had no room.
 *
 * <p>Once the member is back a block has a replica too many. HDFS asks its policy which one may go, and tells it neither
 * the block nor the path. So the policy remembers what it did: which node got a replica for which group. What is forgotten
 * (a NameNode that restarts, more than {@link #MOST} such pairs) is left to the site's policy, and {@code trunkline kat
 * verify} names the files that then stand elsewhere.
 */
final class StrayReplicas {
    /** So many pairs of a node and a group are remembered, those used last. About 20 MB. */
    static final int MOST = 1 << 16;

    private static final Boolean KNOWN = Boolean.TRUE;

    private final Map<Stray, Boolean> strays = new LinkedHashMap<>(16, 0.75f, true) {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<Stray, Boolean> eldest) {
            return size() > MOST;
        }
    };

    /** A node, by its identity, got a replica that belongs to a group of others. */
    synchronized void remember(String node, Set<String> group) {
        strays.put(new Stray(node, group), KNOWN);
    }

    /** Whether a node got a replica for a group all of whose members are among these nodes. */
    synchronized boolean isStray(String node, Set<String> holders) {
        return strays.keySet().stream().anyMatch(stray -> stray.node.equals(node) && holders.containsAll(stray.group));
    }

    synchronized boolean isEmpty() {
        return strays.isEmpty();
    }

    private static final class Stray {
        final String node;
        final Set<String> group;

        Stray(String node, Set<String> group) {
            this.node = node;
            this.group = Collections.unmodifiableSet(group);
        }

        @Override
        public boolean equals(Object other) {
            return other instanceof Stray && node.equals(((Stray) other).node) && group.equals(((Stray) other).group);
        }

        @Override
        public int hashCode() {
            return 31 * node.hashCode() + group.hashCode();
        }
    }
}
