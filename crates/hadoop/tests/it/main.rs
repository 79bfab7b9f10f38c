//! Every integration test of `hadoop`, in one program.

mod chaos;
mod client;
mod compression;
mod erasure;
mod hdfs;
mod heartbeats;
mod jobs;
mod mapreduce;
mod mapreduce_faults;
mod mapreduce_scheduling;
mod object_chaos;
mod object_store;
mod passes;
mod placement;
mod record_end;
mod recorded;
mod rpc;
mod shuffle;
mod small_files;
mod support;
mod uber;
mod wide;
mod yarn;
