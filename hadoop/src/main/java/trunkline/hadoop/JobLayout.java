package trunkline.hadoop;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Where the tasks of a job belong that reads files laid out by key: each map on the node that processes its file's bucket,
 * each reducer on the node that processes most of its partition.
 *
 * <p>The engine's partition of a key is its hash modulo the number of reducers, its bucket the same hash modulo the number
 * of buckets. So where buckets are a multiple of reducers, all keys of bucket b are in partition b modulo reducers.
 *
 * <p>A key that is too heavy for a node stands in parts on several. Its reducer merges what maps make of them. If the job
 * has a combiner that is little, and the reducer belongs to the other keys of its partition.
 */
public final class JobLayout {
    /** What one map reads: a part of a file, or parts of several. */
    public static final class Split {
        final List<Part> parts;
        final List<String> hosts;

        /** Its parts, at least one, and the hosts that have all of them. */
        public Split(List<Part> parts, List<String> hosts) {
            this.parts = List.copyOf(parts);
            this.hosts = List.copyOf(hosts);
        }
    }

    /** A part of a file. */
    public static final class Part {
        final String name;
        final long bytes;

        /** The file's name and the part's length. */
        public Part(String name, long bytes) {
            this.name = name;
            this.bytes = bytes;
        }
    }

    private final List<List<String>> maps;
    private final List<List<String>> reduces;

    private JobLayout(List<List<String>> maps, List<List<String>> reduces) {
        this.maps = maps;
        this.reduces = reduces;
    }

    /**
     * The layout of a job with these splits, in the order of its maps.
     *
     * @return the layout, or why there is none for this job
     */
    public static Result of(List<Split> splits, int reducers, boolean combines) {
        if (reducers < 1) {
            return new Result("the job has no reducers");
        }
        int buckets = 0;
        Map<String, PlacedFile> files = new HashMap<>();
        for (Split split : splits) {
            for (Part part : split.parts) {
                Optional<PlacedFile> file = PlacedFile.of(part.name);
                if (file.isEmpty()) {
                    return new Result(part.name + " is not laid out by key");
                }
                if (buckets != 0 && file.get().buckets() != buckets) {
                    return new Result("the input has layouts of " + buckets + " and of "
                            + file.get().buckets() + " buckets");
                }
                buckets = file.get().buckets();
                files.put(part.name, file.get());
            }
        }
        if (files.isEmpty()) {
            return new Result("the job has no input");
        }
        if (buckets % reducers != 0) {
            return new Result("the layout has " + buckets + " buckets, which is no multiple of the job's " + reducers
                    + " reducers: mapreduce.job.reduces=" + buckets + " fits");
        }
        List<Map<List<String>, Long>> travelling = new ArrayList<>();
        List<Map<List<String>, Long>> combined = new ArrayList<>();
        for (int reducer = 0; reducer < reducers; reducer++) {
            travelling.add(new LinkedHashMap<>());
            combined.add(new LinkedHashMap<>());
        }
        List<List<String>> maps = new ArrayList<>();
        for (Split split : splits) {
            maps.add(present(files.get(split.parts.get(0).name).nodes(), split.hosts));
            for (Part part : split.parts) {
                PlacedFile file = files.get(part.name);
                (combines && file.isOfKey() ? combined : travelling)
                        .get(file.bucket() % reducers)
                        .merge(file.nodes(), part.bytes, Long::sum);
            }
        }
        List<List<String>> reduces = new ArrayList<>();
        for (int reducer = 0; reducer < reducers; reducer++) {
            Map<List<String>, Long> ofGroups = travelling.get(reducer);
            reduces.add(heaviest(ofGroups.isEmpty() ? combined.get(reducer) : ofGroups));
        }
        return new Result(new JobLayout(maps, reduces));
    }

    /** The members of a group that have the data, in the group's order; if none has, whoever has. */
    private static List<String> present(List<String> group, List<String> hosts) {
        List<String> present = new ArrayList<>(group);
        present.retainAll(hosts);
        return present.isEmpty() ? hosts : present;
    }

    /** The group whose first node processes most bytes; the first in the order of splits among equals. */
    private static List<String> heaviest(Map<List<String>, Long> ofGroups) {
        Map<String, Long> ofNodes = new LinkedHashMap<>();
        ofGroups.forEach((group, bytes) -> ofNodes.merge(group.get(0), bytes, Long::sum));
        List<String> heaviest = Collections.emptyList();
        long most = -1;
        for (List<String> group : ofGroups.keySet()) {
            if (ofNodes.get(group.get(0)) > most) {
                most = ofNodes.get(group.get(0));
                heaviest = group;
            }
        }
        return heaviest;
    }

    /** The hosts on which a map finds its bytes, that of its bucket's reducer first; none if it is not known. */
    public List<String> ofMap(int map) {
        return map < maps.size() ? maps.get(map) : Collections.emptyList();
    }

    /** The hosts of a partition's data, the one that processes it first; none if it has no data. */
    public List<String> ofReduce(int partition) {
        return partition < reduces.size() ? reduces.get(partition) : Collections.emptyList();
    }

    @Override
    public String toString() {
        return "reducers belong on " + Arrays.toString(reduces.toArray());
    }

    /** A layout, or why there is none. */
    public static final class Result {
        private final JobLayout layout;
        private final String reason;

        Result(JobLayout layout) {
            this.layout = layout;
            this.reason = null;
        }

        Result(String reason) {
            this.layout = null;
            this.reason = reason;
        }

        /** The layout; empty if there is none. */
        public Optional<JobLayout> layout() {
            return Optional.ofNullable(layout);
        }

        /** Why there is none. */
        public String reason() {
            return reason;
        }
    }
}
