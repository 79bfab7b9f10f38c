//! Deprecated names of properties (`org.apache.hadoop.mapreduce.util.ConfigUtil`, `HdfsConfiguration`): those whose
//! successors mean something here.

/// The name by which a property is known since Hadoop 0.21.
pub fn current_name(name: &str) -> &str {
    match DEPRECATED.binary_search_by(|(old, _)| (*old).cmp(name)) {
        Ok(place) => DEPRECATED[place].1,
        Err(_) => name,
    }
}

/// The name that Hadoop 1 has for a property, which is the name itself where it was not changed.
pub fn name_in_hadoop1(name: &str) -> &str {
    DEPRECATED.iter().find(|(_, new)| *new == name).map_or(name, |(old, _)| old)
}

/// In the order of the old names.
const DEPRECATED: [(&str, &str); 53] = [
    ("dfs.access.time.precision", "dfs.namenode.accesstime.precision"),
    ("dfs.block.size", "dfs.blocksize"),
    ("dfs.socket.timeout", "dfs.client.socket-timeout"),
    ("dfs.write.packet.size", "dfs.client-write-packet-size"),
    ("fs.default.name", "fs.defaultFS"),
    ("heartbeat.recheck.interval", "dfs.namenode.heartbeat.recheck-interval"),
    ("io.sort.factor", "mapreduce.task.io.sort.factor"),
    ("io.sort.mb", "mapreduce.task.io.sort.mb"),
    ("io.sort.spill.percent", "mapreduce.map.sort.spill.percent"),
    ("mapred.combiner.class", "mapreduce.job.combine.class"),
    ("mapred.compress.map.output", "mapreduce.map.output.compress"),
    ("mapred.heartbeats.in.second", "mapreduce.jobtracker.heartbeats.in.second"),
    ("mapred.inmem.merge.threshold", "mapreduce.reduce.merge.inmem.threshold"),
    ("mapred.jar", "mapreduce.job.jar"),
    ("mapred.job.id", "mapreduce.job.id"),
    ("mapred.job.map.memory.mb", "mapreduce.map.memory.mb"),
    ("mapred.job.name", "mapreduce.job.name"),
    ("mapred.job.reduce.input.buffer.percent", "mapreduce.reduce.input.buffer.percent"),
    ("mapred.job.reduce.memory.mb", "mapreduce.reduce.memory.mb"),
    ("mapred.job.reuse.jvm.num.tasks", "mapreduce.job.jvm.numtasks"),
    ("mapred.job.shuffle.input.buffer.percent", "mapreduce.reduce.shuffle.input.buffer.percent"),
    ("mapred.job.shuffle.merge.percent", "mapreduce.reduce.shuffle.merge.percent"),
    ("mapred.job.tracker", "mapreduce.jobtracker.address"),
    ("mapred.job.tracker.handler.count", "mapreduce.jobtracker.handler.count"),
    ("mapred.map.child.java.opts", "mapreduce.map.java.opts"),
    ("mapred.map.max.attempts", "mapreduce.map.maxattempts"),
    ("mapred.map.output.compression.codec", "mapreduce.map.output.compress.codec"),
    ("mapred.map.tasks", "mapreduce.job.maps"),
    ("mapred.map.tasks.speculative.execution", "mapreduce.map.speculative"),
    ("mapred.max.split.size", "mapreduce.input.fileinputformat.split.maxsize"),
    ("mapred.max.tracker.failures", "mapreduce.job.maxtaskfailures.per.tracker"),
    ("mapred.min.split.size", "mapreduce.input.fileinputformat.split.minsize"),
    ("mapred.output.compress", "mapreduce.output.fileoutputformat.compress"),
    ("mapred.output.compression.codec", "mapreduce.output.fileoutputformat.compress.codec"),
    ("mapred.output.compression.type", "mapreduce.output.fileoutputformat.compress.type"),
    ("mapred.reduce.child.java.opts", "mapreduce.reduce.java.opts"),
    ("mapred.reduce.max.attempts", "mapreduce.reduce.maxattempts"),
    ("mapred.reduce.parallel.copies", "mapreduce.reduce.shuffle.parallelcopies"),
    ("mapred.reduce.slowstart.completed.maps", "mapreduce.job.reduce.slowstart.completedmaps"),
    ("mapred.reduce.tasks", "mapreduce.job.reduces"),
    ("mapred.reduce.tasks.speculative.execution", "mapreduce.reduce.speculative"),
    ("mapred.submit.replication", "mapreduce.client.submit.file.replication"),
    ("mapred.task.timeout", "mapreduce.task.timeout"),
    ("mapred.tasktracker.expiry.interval", "mapreduce.jobtracker.expire.trackers.interval"),
    ("mapred.tasktracker.map.tasks.maximum", "mapreduce.tasktracker.map.tasks.maximum"),
    ("mapred.tasktracker.reduce.tasks.maximum", "mapreduce.tasktracker.reduce.tasks.maximum"),
    ("mapreduce.combine.class", "mapreduce.job.combine.class"),
    ("mapreduce.job.counters.limit", "mapreduce.job.counters.max"),
    // Names of Hadoop 0.21 and 0.22.
    ("mapreduce.output.fileoutputformat.compression.codec", "mapreduce.output.fileoutputformat.compress.codec"),
    ("mapreduce.output.fileoutputformat.compression.type", "mapreduce.output.fileoutputformat.compress.type"),
    ("mapreduce.partitioner.class", "mapreduce.job.partitioner.class"),
    ("topology.node.switch.mapping.impl", "net.topology.node.switch.mapping.impl"),
    ("topology.script.file.name", "net.topology.script.file.name"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_in_order_and_has_no_chains() {
        assert!(DEPRECATED.windows(2).all(|pair| pair[0].0 < pair[1].0));
        assert!(DEPRECATED.iter().all(|(_, new)| current_name(new) == *new));
    }

    #[test]
    fn what_was_renamed_has_its_earlier_name_in_hadoop1() {
        assert_eq!(name_in_hadoop1("mapreduce.job.reduces"), "mapred.reduce.tasks");
        assert_eq!(
            name_in_hadoop1("mapreduce.output.fileoutputformat.compress.codec"),
            "mapred.output.compression.codec"
        );
        assert_eq!(name_in_hadoop1("dfs.replication"), "dfs.replication");
    }
}
