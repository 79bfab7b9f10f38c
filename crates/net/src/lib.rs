//! Packets, links, queues, shaping, topologies, routing.
