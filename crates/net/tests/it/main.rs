//! Every integration test of `net`, in one program.

mod bonds;
mod codel;
mod conservation;
mod fq_codel;
mod harness;
mod lacp;
mod lacp_ovs;
mod links;
mod loss;
mod marking;
mod ns3_queues;
mod occupancy;
mod pie;
mod priority;
mod red;
mod routes;
mod seam;
mod shaping;
mod shared_buffer;
mod topologies;
