package org.apache.hadoop.hdfs.server.blockmanagement;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;
import java.util.stream.Collectors;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.StorageType;
import org.apache.hadoop.hdfs.AddBlockFlag;
import org.apache.hadoop.hdfs.DFSConfigKeys;
import org.apache.hadoop.hdfs.protocol.BlockStoragePolicy;
import org.apache.hadoop.hdfs.protocol.DatanodeInfo;
import org.apache.hadoop.net.NetworkTopology;
import org.apache.hadoop.net.Node;
import org.apache.hadoop.net.NodeBase;
import org.apache.hadoop.util.ReflectionUtils;
import trunkline.hadoop.PlacedFile;

/**
 * Puts the blocks of files that are laid out by key on the nodes that their paths name; all others, and what finds no room
 * there, where the site's own policy puts them.
 *
 * <p>{@code dfs.block.replicator.classname} names this class on the NameNode. {@link #SITE_POLICY} names the policy that
 * it asks about everything: also whether a node of the group may have a block, so that full, stale or decommissioning nodes,
 * racks and storage types count as for any other file. Only a node's load does not: the data belong there.
 *
 * <p>It is one of HDFS's default policies by type alone, since the Balancer starts with no other; whatever HDFS asks a
 * policy is answered here.
 *
 * <p>This package because {@code chooseTarget} with favoured nodes, and the map from hosts to DataNodes, are visible
 * nowhere else.
 */
public final class KeyAwareBlockPlacementPolicy extends BlockPlacementPolicyDefault {
    /** The site's policy; HDFS's default one if it is not set. */
    public static final String SITE_POLICY = "trunkline.placement.site-policy";
    /** An expression for whole paths, whose group {@code nodes} has the hosts' names with a plus between them. */
    public static final String PATH_RULE = "trunkline.placement.path-rule";

    private final StrayReplicas strays = new StrayReplicas();
    private Pattern rule;
    private NetworkTopology topology;
    private Host2NodesMap hosts;
    private BlockPlacementPolicy site;
    /** The site's policy without regard to a node's load: asked about members of groups. */
    private BlockPlacementPolicy members;

    @Override
    public void initialize(
            Configuration conf, FSClusterStats stats, NetworkTopology clusterMap, Host2NodesMap host2datanodeMap) {
        topology = clusterMap;
        hosts = host2datanodeMap;
        rule = rule(conf.getTrimmed(PATH_RULE, PlacedFile.RULE));
        Class<? extends BlockPlacementPolicy> of =
                conf.getClass(SITE_POLICY, BlockPlacementPolicyDefault.class, BlockPlacementPolicy.class);
        if (of == KeyAwareBlockPlacementPolicy.class) {
            throw new IllegalArgumentException(
                    SITE_POLICY + " names " + of.getName() + " itself: it is for the policy that the site had before");
        }
        site = ReflectionUtils.newInstance(of, conf);
        site.initialize(conf, stats, clusterMap, host2datanodeMap);
        Configuration anyLoad = new Configuration(conf);
        anyLoad.setBoolean(DFSConfigKeys.DFS_NAMENODE_REDUNDANCY_CONSIDERLOAD_KEY, false);
        members = ReflectionUtils.newInstance(of, anyLoad);
        members.initialize(anyLoad, stats, clusterMap, host2datanodeMap);
        LOG.info("Files whose path matches {} stand on the nodes that it names; others by {}", rule, of.getName());
    }

    private static Pattern rule(String text) {
        try {
            // Matches nothing at all, too: then it can be asked for its group.
            Matcher matcher = Pattern.compile("(?:" + text + ")|").matcher("");
            matcher.matches();
            matcher.start("nodes");
            return Pattern.compile(text);
        } catch (PatternSyntaxException error) {
            throw new IllegalArgumentException(PATH_RULE + ": " + error.getMessage(), error);
        } catch (IllegalArgumentException error) {
            throw new IllegalArgumentException(
                    PATH_RULE + ": " + text + " has no group (?<nodes>...), which finds the nodes in a path", error);
        }
    }

    @Override
    public DatanodeStorageInfo[] chooseTarget(
            String path,
            int wanted,
            Node writer,
            List<DatanodeStorageInfo> chosen,
            boolean returnChosen,
            Set<Node> excluded,
            long blockSize,
            BlockStoragePolicy storage,
            EnumSet<AddBlockFlag> flags) {
        return chooseTarget(path, wanted, writer, chosen, returnChosen, excluded, blockSize, storage, flags, null);
    }

    @Override
    public DatanodeStorageInfo[] chooseTarget(
            String path,
            int wanted,
            Node writer,
            List<DatanodeStorageInfo> chosen,
            boolean returnChosen,
            Set<Node> excluded,
            long blockSize,
            BlockStoragePolicy storage,
            EnumSet<AddBlockFlag> flags,
            EnumMap<StorageType, Integer> types) {
        List<DatanodeDescriptor> group = group(path);
        if (group.isEmpty() || wanted < 1) {
            return types == null
                    ? site.chooseTarget(path, wanted, writer, chosen, returnChosen, excluded, blockSize, storage, flags)
                    : site.chooseTarget(
                            path, wanted, writer, chosen, returnChosen, excluded, blockSize, storage, flags, types);
        }
        List<DatanodeStorageInfo> all = new ArrayList<>(chosen);
        Set<Node> barred = excluded == null ? new HashSet<>() : new HashSet<>(excluded);
        chosen.forEach(replica -> barred.add(replica.getDatanodeDescriptor()));
        int end = chosen.size() + wanted;
        boolean isWithin = end <= names(path).size();
        while (true) {
            addMembers(group, end, path, all, barred, blockSize, storage);
            if (all.size() == end) {
                break;
            }
            // One that stands in. The members are asked again: with a replica elsewhere the rule for racks may let
            // them.
            DatanodeStorageInfo[] standIn =
                    site.chooseTarget(path, 1, writer, all, false, new HashSet<>(barred), blockSize, storage, flags);
            if (standIn.length == 0) {
                break;
            }
            all.add(standIn[0]);
            barred.add(standIn[0].getDatanodeDescriptor());
            if (isWithin) {
                strays.remember(standIn[0].getDatanodeDescriptor().getDatanodeUuid(), identities(group));
                LOG.info("{}: a replica goes to {}, outside its group {}", path, standIn[0], group);
            }
        }
        return inPipeline(writer, returnChosen ? all : all.subList(chosen.size(), all.size()));
    }

    private void addMembers(
            List<DatanodeDescriptor> group,
            int end,
            String path,
            List<DatanodeStorageInfo> all,
            Set<Node> barred,
            long blockSize,
            BlockStoragePolicy storage) {
        for (DatanodeDescriptor member : group) {
            if (all.size() < end && !barred.contains(member)) {
                DatanodeStorageInfo target = on(member, path, all, barred, blockSize, storage);
                if (target != null) {
                    all.add(target);
                    barred.add(member);
                }
            }
        }
    }

    private static Set<String> identities(Collection<DatanodeDescriptor> nodes) {
        return nodes.stream().map(DatanodeDescriptor::getDatanodeUuid).collect(Collectors.toSet());
    }

    /** The member as the site's policy would have it: it is asked for one replica where no other node may have it. */
    private DatanodeStorageInfo on(
            DatanodeDescriptor member,
            String path,
            List<DatanodeStorageInfo> chosen,
            Set<Node> barred,
            long blockSize,
            BlockStoragePolicy storage) {
        Set<Node> others = new HashSet<>(topology.getLeaves(NodeBase.ROOT));
        others.addAll(barred);
        others.remove(member);
        EnumSet<AddBlockFlag> none = EnumSet.noneOf(AddBlockFlag.class);
        DatanodeStorageInfo[] found =
                members.chooseTarget(path, 1, member, chosen, false, others, blockSize, storage, none);
        return found.length == 1 && found[0].getDatanodeDescriptor() == member ? found[0] : null;
    }

    /** A writer that has a replica writes it first; the rest is as it was chosen. */
    private static DatanodeStorageInfo[] inPipeline(Node writer, List<DatanodeStorageInfo> targets) {
        List<DatanodeStorageInfo> ordered = new ArrayList<>(targets);
        for (int place = 1; place < ordered.size(); place++) {
            if (ordered.get(place).getDatanodeDescriptor() == writer) {
                Collections.swap(ordered, 0, place);
            }
        }
        return ordered.toArray(DatanodeStorageInfo.EMPTY_ARRAY);
    }

    @Override
    DatanodeStorageInfo[] chooseTarget(
            String path,
            int wanted,
            Node writer,
            Set<Node> excluded,
            long blockSize,
            List<DatanodeDescriptor> favoured,
            BlockStoragePolicy storage,
            EnumSet<AddBlockFlag> flags) {
        return group(path).isEmpty()
                ? site.chooseTarget(path, wanted, writer, excluded, blockSize, favoured, storage, flags)
                : chooseTarget(path, wanted, writer, new ArrayList<>(), false, excluded, blockSize, storage, flags);
    }

    /** The DataNodes of a path's group, as far as the cluster knows them; none if the path names none. */
    private List<DatanodeDescriptor> group(String path) {
        return names(path).stream()
                .map(hosts::getDataNodeByHostName)
                .filter(Objects::nonNull)
                .collect(Collectors.toList());
    }

    private List<String> names(String path) {
        Matcher matcher = rule.matcher(path == null ? "" : path);
        return matcher.matches() && matcher.group("nodes") != null
                ? PlacedFile.nodes(matcher.group("nodes"))
                : Collections.emptyList();
    }

    /**
     * Which replicas go when there are too many: those that stood in for a member of their group which is back, as long as
     * the rest satisfies the site; else as the site's policy says.
     */
    @Override
    public List<DatanodeStorageInfo> chooseReplicasToDelete(
            Collection<DatanodeStorageInfo> available,
            Collection<DatanodeStorageInfo> candidates,
            int expected,
            List<StorageType> excessTypes,
            DatanodeDescriptor added,
            DatanodeDescriptor hint) {
        List<DatanodeStorageInfo> left = new ArrayList<>(available);
        List<DatanodeStorageInfo> mayGo = new ArrayList<>(candidates);
        List<DatanodeStorageInfo> gone = new ArrayList<>();
        // The hint is the balancer's source: what it has copied it may remove.
        if (hint == null && !strays.isEmpty()) {
            Set<String> holders = identities(left.stream()
                    .map(DatanodeStorageInfo::getDatanodeDescriptor)
                    .collect(Collectors.toList()));
            for (DatanodeStorageInfo replica : candidates) {
                if (left.size() > expected && mayGo(replica, left, holders, expected, excessTypes)) {
                    left.remove(replica);
                    mayGo.remove(replica);
                    gone.add(replica);
                    excessTypes.remove(replica.getStorageType());
                }
            }
        }
        if (left.size() > expected) {
            gone.addAll(site.chooseReplicasToDelete(left, mayGo, expected, excessTypes, added, hint));
        }
        return gone;
    }

    private boolean mayGo(
            DatanodeStorageInfo replica,
            List<DatanodeStorageInfo> left,
            Set<String> holders,
            int expected,
            List<StorageType> excessTypes) {
        DatanodeDescriptor node = replica.getDatanodeDescriptor();
        if (!excessTypes.contains(replica.getStorageType()) || !strays.isStray(node.getDatanodeUuid(), holders)) {
            return false;
        }
        DatanodeInfo[] rest = left.stream()
                .filter(other -> other != replica)
                .map(DatanodeStorageInfo::getDatanodeDescriptor)
                .toArray(DatanodeInfo[]::new);
        return site.verifyBlockPlacement(rest, expected).isPlacementPolicySatisfied();
    }

    /** The site's rule for racks; HDFS does not tell whose replicas these are. */
    @Override
    public BlockPlacementStatus verifyBlockPlacement(DatanodeInfo[] nodes, int replicas) {
        return site.verifyBlockPlacement(nodes, replicas);
    }

    /** The site's rule; HDFS does not tell whose replica this is. Blocks that were pinned stay where they are anyway. */
    @Override
    public boolean isMovable(Collection<DatanodeInfo> candidates, DatanodeInfo source, DatanodeInfo target) {
        return site.isMovable(candidates, source, target);
    }

    @Override
    public void setExcludeSlowNodesEnabled(boolean enabled) {
        site.setExcludeSlowNodesEnabled(enabled);
        members.setExcludeSlowNodesEnabled(enabled);
    }

    @Override
    public boolean getExcludeSlowNodesEnabled() {
        return site.getExcludeSlowNodesEnabled();
    }

    @Override
    public void setMinBlocksForWrite(int blocks) {
        site.setMinBlocksForWrite(blocks);
        members.setMinBlocksForWrite(blocks);
    }

    @Override
    public int getMinBlocksForWrite() {
        return site.getMinBlocksForWrite();
    }
}
