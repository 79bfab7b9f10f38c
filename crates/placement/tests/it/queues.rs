//! One process with all queues, or a queue in each DataNode.

use placement::{Import, Queues};

/// The cluster of Yang 2012 (3.5.1): 8 GB, blocks of 256 MB, 1 Gbit/s, a name node with 4 GB, one copy.
fn document() -> Import {
    Import {
        bytes: 8e9,
        record: 100.0,
        header: 40.0,
        replicas: 1.0,
        block: 256e6,
        rate: 125e6,
        connect: 1e-3,
        memory: 4e9,
        from_nodes: true,
    }
}

/// By hand: one interface sends 8 GB in 64 s. Eight nodes send 7/8 of 8 GB with 40 bytes beside each 100: 9.8 GB, over
/// eight interfaces 9.8 s.
#[test]
fn the_import_takes_what_the_busiest_interface_sends() {
    let central = document().cost(Queues::Central, 8);
    assert!((central.time - 64.008).abs() < 1e-9 && central.memory == 8.0 * 256e6 && central.fits, "{central:?}");
    let own = document().cost(Queues::PerDataNode, 8);
    assert!((own.time - 9.807).abs() < 1e-9 && own.memory == 256e6, "{own:?}");
    assert!((own.transfer - 9.8e9).abs() < 1.0 && central.transfer == 8e9, "records by themselves transfer more");
}

/// The document: queues in one place suit small clusters, queues in the DataNodes large ones. By hand, three copies and
/// records of 100 bytes with 150 beside them: one process sends D. A node of n sends 2.5 D (n-1)/n^2 to the owners and
/// 2 D/n copies, which is 1.125 D on two nodes (one further copy there), 1.22 D on three, 0.97 D on four.
#[test]
fn queues_in_the_data_nodes_win_from_some_size_on() {
    let import = Import { replicas: 3.0, header: 150.0, connect: 0.0, ..document() };
    assert_eq!(import.crossover(1000), Some(4));
    for (nodes, time) in [(2, 1.125), (3, 1.0 / 3.0 * (2.5 * 2.0 / 3.0 + 2.0)), (4, 0.96875)] {
        let own = import.cost(Queues::PerDataNode, nodes).time;
        assert!((own / 64.0 - time).abs() < 1e-9, "{nodes}: {own}");
    }
    for nodes in 4..200 {
        let (central, own) = (import.cost(Queues::Central, nodes), import.cost(Queues::PerDataNode, nodes));
        assert!(!central.fits || own.time < central.time, "{nodes}");
    }
    // One client sends every byte in either way, by itself with a header: memory decides. 4 GB have room for 15 blocks
    // of 256 MB.
    let client = Import { from_nodes: false, ..import };
    assert!(client.cost(Queues::Central, 8).time < client.cost(Queues::PerDataNode, 8).time);
    assert_eq!(client.crossover(1000), Some(16));
}
