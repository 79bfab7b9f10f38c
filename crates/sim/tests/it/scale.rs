//! Millions of connections: what one costs while it is open, and that it costs nothing once it has closed.

#![cfg(target_os = "linux")]

use sim::bench::incast_short;
use sim::world::World;
use std::process::Command;
use units::{BitRate, Time};

/// Memory of this process that is there, in bytes: what allocators add to what is asked for is counted, pages of the
/// program's own code are not, which come as it first runs them. `smaps_rollup` is exact; `VmRSS` and `RssAnon` lag by
/// up to 64 pages for each processor (proc(5)), which is more than 8 bytes a connection.
fn resident() -> f64 {
    let maps = std::fs::read_to_string("/proc/self/smaps_rollup").expect("Linux tells");
    let line = maps.lines().find_map(|line| line.strip_prefix("Anonymous:")).expect("a line");
    line.trim().trim_end_matches(" kB").parse::<f64>().expect("a number") * 1024.0
}

/// Set in the process that measures.
const ALONE: &str = "TRUNKLINE_MEASURES_MEMORY";

/// What other tests take beside it is resident too, so both parts are measured in a process of their own.
#[test]
fn a_connection_costs_less_than_a_kilobyte_and_nothing_once_closed() {
    if std::env::var_os(ALONE).is_some() {
        return costs_of_connections();
    }
    let name = "scale::a_connection_costs_less_than_a_kilobyte_and_nothing_once_closed";
    let program = std::env::current_exe().expect("this test program");
    let output =
        Command::new(program).args(["--exact", name, "--nocapture"]).env(ALONE, "1").output().expect("it runs");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.contains("1 passed"), "{said}{}", String::from_utf8_lossy(&output.stderr));
}

fn costs_of_connections() {
    // A load that the link carries: thousands of connections come and go, some fifty are open at a time.
    let mut world = World::new(&incast_short(200, BitRate::from_mbps(100))).expect("a world");
    let run = |world: &mut World, seconds: std::ops::RangeInclusive<u64>| {
        let mut ended = 0;
        for second in seconds {
            world.run(Time::from_secs(second));
            ended += world.transport_mut().0.take_ended().len();
        }
        ended
    };
    // Tables grow to what the load needs in the first seconds: a megabyte, and then no more. The allocator gives the
    // top of the heap back and takes it again, a quarter of a megabyte at a time: so many connections that this is 2
    // bytes.
    run(&mut world, 1..=5);
    let before = resident();
    let ended = run(&mut world, 6..=25);
    let each = (resident() - before) / ended as f64;
    assert!(ended > 90_000, "{ended} ended");
    assert!(each < 8.0, "each of {ended} connections that have ended has left {each:.1} bytes");

    // Twice what the link carries: they pile up, in the middle of handshakes, transfers, recoveries and waits for
    // timers. What the network itself takes is there after the first second.
    let mut world = World::new(&incast_short(2_000, BitRate::from_mbps(100))).expect("a world");
    run(&mut world, 1..=1);
    let (before, few) = (resident(), world.packets().unwrap().open_connections());
    run(&mut world, 2..=6);
    let open = world.packets().unwrap().open_connections() - few;
    let each = (resident() - before) / open as f64;
    println!("each of {open} open connections takes {each:.0} bytes");
    assert!(open > 150_000, "{open} open");
    assert!(each < 960.0, "each of {open} open connections takes {each:.0} bytes");
}
