//! Data against acknowledgements that come the other way: flows beside packets.

use std::ops::ControlFlow;

/// What two kinds of streams bring, in Mbit/s of payload: `into` from each of five workers to the first one, and one out
/// of it, at 1 Gbit/s or as the first one is `shaped`.
fn goodput(fidelity: &str, into: u32, shaped: &str) -> [f64; 2] {
    let text = format!(
        "[cluster]\nworkers = 7\n[network]\nqueue = {{ limit = \"128 packets\" }}\n\
         {shaped}\
         [[traffic]]\nname = \"into\"\nflows = {into}\nfrom = \"worker-2..worker-6\"\nto = \"worker-1\"\n\
         [[traffic]]\nname = \"out\"\nfrom = \"worker-1\"\nto = \"worker-7\"\n\
         [run]\nuntil = \"4 s\"\nfidelity = \"{fidelity}\"\n"
    );
    let scenario = sim::parse("test", &text, &[]).unwrap_or_else(|error| panic!("{error}"));
    let result = sim::run(&scenario, &mut |_| ControlFlow::Continue(())).unwrap_or_else(|error| panic!("{error}"));
    [0, 1].map(|place| result.traffic[place].delivered.get() as f64 * 8.0 / 4.0 / 1e6)
}

/// A stream out of a node to which forty or eighty others send has the node's interface for itself, whatever share one
/// of those has of the way back, where only its acknowledgements go.
#[test]
fn acknowledgements_among_many_streams_do_not_hold_theirs_back() {
    for into in [8, 16] {
        let ([into_packets, out_packets], [into_flows, out_flows]) =
            (goodput("packet", into, ""), goodput("flow", into, ""));
        assert!((into_flows / into_packets - 1.0).abs() < 0.1, "{into_flows}, by packets {into_packets} Mbit/s");
        assert!((out_flows / out_packets - 1.0).abs() < 0.1, "{out_flows}, by packets {out_packets} Mbit/s");
    }
}

/// Where the way back is a tenth, acknowledgements take a quarter of it, and data have the rest.
#[test]
fn data_have_what_acknowledgements_leave() {
    let tenth =
        "[[network.shape]]\nnodes = \"worker-1\"\ndirection = \"egress\"\nrate = \"100 Mbit/s\"\nlimit = \"20 ms\"\n";
    let ([_, packets], [_, flows]) = (goodput("packet", 4, tenth), goodput("flow", 4, tenth));
    assert!(packets < 80.0, "{packets} Mbit/s by packets");
    assert!((flows / packets - 1.0).abs() < 0.15, "{flows}, by packets {packets} Mbit/s");
}
