package trunkline.hadoop;

import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The name of a file of a layout by key, which says where its blocks belong: {@code bucket-00012-of-00064@worker-1+worker-3}.
 *
 * <p>The group of nodes is part of the name. So the NameNode finds it without a table of its own, after a restart and for
 * each later replica, and an AppMaster finds it in the splits of a job. Records of a key that is too heavy for a node have
 * files of their own: {@code bucket-00012-of-00064-key-3-part-1@worker-2}.
 */
public final class PlacedFile {
    /** A placed file's path; its group {@code nodes} has the nodes. */
    public static final String RULE = ".*/bucket-\\d{1,7}-of-\\d{1,7}(?:-key-\\d{1,7}-part-\\d{1,7})?@(?<nodes>[^/@]+)";

    private static final Pattern NAME =
            Pattern.compile("bucket-(\\d{1,7})-of-(\\d{1,7})(-key-\\d{1,7}-part-\\d{1,7})?@([^/@]+)");

    private final int bucket;
    private final int buckets;
    private final boolean isOfKey;
    private final List<String> nodes;

    private PlacedFile(int bucket, int buckets, boolean isOfKey, List<String> nodes) {
        this.bucket = bucket;
        this.buckets = buckets;
        this.isOfKey = isOfKey;
        this.nodes = nodes;
    }

    /** Reads the last component of a path; empty if it is no placed file's. */
    public static Optional<PlacedFile> of(String name) {
        Matcher matcher = NAME.matcher(name);
        if (!matcher.matches()) {
            return Optional.empty();
        }
        int bucket = Integer.parseInt(matcher.group(1));
        int buckets = Integer.parseInt(matcher.group(2));
        List<String> nodes = nodes(matcher.group(4));
        return bucket < buckets && !nodes.isEmpty()
                ? Optional.of(new PlacedFile(bucket, buckets, matcher.group(3) != null, nodes))
                : Optional.empty();
    }

    /** The nodes of a group as it stands in a name. */
    public static List<String> nodes(String group) {
        return Pattern.compile("\\+")
                .splitAsStream(group)
                .filter(node -> !node.isEmpty())
                .distinct()
                .collect(java.util.stream.Collectors.toUnmodifiableList());
    }

    /** The bucket, from 0. */
    public int bucket() {
        return bucket;
    }

    /** How many buckets the layout has. */
    public int buckets() {
        return buckets;
    }

    /** Whether it is a part of one key that is too heavy for a node. */
    public boolean isOfKey() {
        return isOfKey;
    }

    /** The nodes that keep its copies, at least one; the first of which processes it. */
    public List<String> nodes() {
        return nodes;
    }
}
