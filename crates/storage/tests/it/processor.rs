//! The fair-shared processor against independent calculation.

use proptest::prelude::*;
use storage::Processor;
use units::Time;

const fn ms(ms: u64) -> Time {
    Time::from_ms(ms)
}

fn run(processor: &mut Processor<u32>) -> Vec<(Time, usize, u32)> {
    let (mut all, mut done) = (Vec::new(), Vec::new());
    while processor.deadline() < Time::MAX {
        let now = processor.deadline();
        processor.on_timer(now, &mut done);
        all.extend(done.drain(..).map(|(node, tag)| (now, node, tag)));
    }
    all
}

/// Fixed-point rates are rounded down by at most 2^-32, so times are at most that much late.
fn close(a: Time, b: Time) -> bool {
    a.as_ps().abs_diff(b.as_ps()) <= 1 + b.as_ps() / 1_000_000_000
}

#[test]
fn alone_a_piece_takes_its_work() {
    let mut processor = Processor::new(4);
    let node = processor.add_node(4.0, 1.0);
    processor.submit(ms(5), node, ms(100), 7);
    assert_eq!(run(&mut processor), vec![(ms(105), node, 7)]);
}

#[test]
fn speed_divides_the_time() {
    let mut processor = Processor::new(1);
    let node = processor.add_node(1.0, 0.25);
    processor.submit(Time::ZERO, node, ms(100), 7);
    assert_eq!(run(&mut processor), vec![(ms(400), node, 7)]);
}

/// One core, pieces of 10, 20 and 30 ms from time 0: done at 30, 50 and 60 ms.
#[test]
fn pieces_share_one_core() {
    let mut processor = Processor::new(1);
    let node = processor.add_node(1.0, 1.0);
    for (tag, work) in [(1, 10), (2, 20), (3, 30)] {
        processor.submit(Time::ZERO, node, ms(work), tag);
    }
    let done = run(&mut processor);
    for ((at, _, tag), (expected, expected_tag)) in done.iter().zip([(30, 1), (50, 2), (60, 3)]) {
        assert!(close(*at, ms(expected)) && *tag == expected_tag, "{tag} at {at}");
    }
}

/// Two cores and six threads of other work: a piece alone is one of seven, so it gets 2/7 of a core. Where cores are
/// left over it gets a whole one. Capped to a tenth of a core, it gets that.
#[test]
fn other_work_takes_its_share() {
    for (cores, load, cap, took) in [(2, 6.0, 2.0, 350), (4, 3.0, 4.0, 100), (4, 2.5, 4.0, 100), (2, 1.5, 0.1, 1000)] {
        let mut processor = Processor::with_load(cores, load);
        let node = processor.add_node(cap, 1.0);
        processor.submit(Time::ZERO, node, ms(100), 7);
        let done = run(&mut processor);
        assert!(close(done[0].0, ms(took)), "{cores} {load} {cap}: {}", done[0].0);
        assert!(close(processor.used(done[0].0, node), ms(100)), "what the node used is its own");
    }
}

#[test]
fn a_piece_uses_one_core_at_most() {
    let mut processor = Processor::new(8);
    let node = processor.add_node(8.0, 1.0);
    for tag in 0..8 {
        processor.submit(Time::ZERO, node, ms(10), tag);
    }
    assert!(run(&mut processor).iter().all(|(at, ..)| *at == ms(10)));
}

/// Four nodes with two pieces each on two cores: every piece gets a quarter, as in the recorded cluster of four workers
/// on one host.
#[test]
fn nodes_of_a_host_share_its_cores() {
    let mut processor = Processor::new(2);
    for n in 0..4 {
        let node = processor.add_node(4.0, 1.0);
        assert_eq!(node, n);
        for tag in 0..2 {
            processor.submit(Time::ZERO, node, ms(100), tag);
        }
    }
    let done = run(&mut processor);
    assert_eq!(done.len(), 8);
    assert!(done.iter().all(|(at, ..)| *at == ms(400)), "{done:?}");
}

/// A node capped at half a core leaves the rest to the others.
#[test]
fn a_capped_node_leaves_its_rest_to_others() {
    let mut processor = Processor::new(2);
    let capped = processor.add_node(0.5, 1.0);
    let free = processor.add_node(2.0, 1.0);
    processor.submit(Time::ZERO, capped, ms(10), 0);
    processor.submit(Time::ZERO, capped, ms(10), 1);
    for tag in 0..3 {
        processor.submit(Time::ZERO, free, ms(10), tag);
    }
    let done = run(&mut processor);
    // Capped: 2 x 10 ms at half a core = 40 ms; free: 3 pieces on 1.5 cores = 20 ms.
    assert!(done[..3].iter().all(|(at, node, _)| *node == free && *at == ms(20)), "{done:?}");
    assert!(done[3..].iter().all(|(at, node, _)| *node == capped && *at == ms(40)), "{done:?}");
}

#[test]
fn cancelled_work_is_not_reported_and_frees_its_share() {
    let mut processor = Processor::new(1);
    let node = processor.add_node(1.0, 1.0);
    processor.submit(Time::ZERO, node, ms(100), 0);
    processor.submit(Time::ZERO, node, ms(100), 1);
    processor.cancel(ms(50), node, 0);
    // 25 ms done in the first 50; 75 alone.
    assert_eq!(run(&mut processor), vec![(ms(125), node, 1)]);
}

#[test]
fn a_fault_slows_what_is_under_way() {
    let mut processor = Processor::new(1);
    let node = processor.add_node(1.0, 1.0);
    processor.submit(Time::ZERO, node, ms(100), 0);
    processor.set_speed(ms(40), node, 0.5);
    assert_eq!(run(&mut processor), vec![(ms(160), node, 0)]);
    processor.submit(ms(200), node, ms(100), 1);
    processor.set_speed(ms(250), node, 0.0);
    assert_eq!(processor.deadline(), Time::MAX);
    processor.set_speed(ms(1_000), node, 1.0);
    assert_eq!(run(&mut processor), vec![(ms(1_075), node, 1)]);
}

#[test]
fn a_crash_clears_a_node_only() {
    let mut processor = Processor::new(1);
    let (a, b) = (processor.add_node(1.0, 1.0), processor.add_node(1.0, 1.0));
    processor.submit(Time::ZERO, a, ms(10), 0);
    processor.submit(Time::ZERO, b, ms(10), 0);
    processor.clear(ms(10), a);
    assert_eq!(run(&mut processor), vec![(ms(15), b, 0)]);
    assert_eq!(processor.used(ms(20), a), ms(5));
    assert_eq!(processor.used(ms(20), b), ms(10));
}

/// Event-by-event processor sharing in floating point, over one uncapped node: an independent calculation.
fn reference(cores: f64, arrivals: &[(f64, f64)]) -> Vec<f64> {
    let mut left: Vec<f64> = arrivals.iter().map(|(_, work)| *work).collect();
    let mut finish = vec![f64::NAN; arrivals.len()];
    let mut now = 0.0;
    loop {
        let active: Vec<usize> = (0..arrivals.len()).filter(|i| arrivals[*i].0 <= now && finish[*i].is_nan()).collect();
        let arrival = arrivals.iter().map(|(at, _)| *at).filter(|at| *at > now).fold(f64::INFINITY, f64::min);
        let rate = (cores / active.len() as f64).min(1.0);
        let end = active.iter().map(|i| now + left[*i] / rate).fold(f64::INFINITY, f64::min);
        let next = end.min(arrival);
        if next.is_infinite() {
            return finish;
        }
        for i in active {
            left[i] -= (next - now) * rate;
            if left[i] < 1e-9 {
                finish[i] = next;
            }
        }
        now = next;
    }
}

proptest! {
    #[test]
    fn finish_times_agree_with_an_independent_calculation(
        cores in 1_u32..5,
        asks in prop::collection::vec((0_u64..500, 1_u64..300), 1..25),
    ) {
        let mut asks = asks;
        asks.sort_unstable();
        let mut processor = Processor::new(cores);
        let node = processor.add_node(f64::from(cores), 1.0);
        let (mut done, mut finish) = (Vec::new(), vec![0.0; asks.len()]);
        let mut step = |processor: &mut Processor<u32>, now: Time| {
            processor.on_timer(now, &mut done);
            for (_, tag) in done.drain(..) {
                finish[tag as usize] = now.as_secs_f64() * 1e3;
            }
        };
        for (tag, (at, work)) in asks.iter().enumerate() {
            while processor.deadline() <= ms(*at) {
                let now = processor.deadline();
                step(&mut processor, now);
            }
            processor.submit(ms(*at), node, ms(*work), tag as u32);
        }
        while processor.deadline() < Time::MAX {
            let now = processor.deadline();
            step(&mut processor, now);
        }
        let floats: Vec<_> = asks.iter().map(|(at, work)| (*at as f64, *work as f64)).collect();
        for (ours, theirs) in finish.iter().zip(reference(f64::from(cores), &floats)) {
            prop_assert!((ours - theirs).abs() < 1e-5, "{} against {}", ours, theirs);
        }
    }

    /// Work done equals work asked for: at speed 1, core time used is the sum of all work, over any number of nodes and
    /// caps.
    #[test]
    fn work_is_conserved(
        cores in 1_u32..5,
        caps in prop::collection::vec(0.25_f64..4.0, 1..5),
        asks in prop::collection::vec((0_u64..500, 0_usize..5, 1_u64..300), 1..40),
    ) {
        let mut asks = asks;
        asks.sort_unstable();
        let mut processor = Processor::new(cores);
        for cap in &caps {
            processor.add_node(*cap, 1.0);
        }
        let (mut count, mut done) = (0, Vec::new());
        let mut total = vec![0; caps.len()];
        for (tag, (at, node, work)) in asks.iter().enumerate() {
            while processor.deadline() <= ms(*at) {
                let now = processor.deadline();
                processor.on_timer(now, &mut done);
            }
            let node = node % caps.len();
            total[node] += work;
            processor.submit(ms(*at), node, ms(*work), tag as u32);
        }
        let mut last = Time::ZERO;
        while processor.deadline() < Time::MAX {
            last = processor.deadline();
            processor.on_timer(last, &mut done);
        }
        count += done.len();
        prop_assert_eq!(count, asks.len());
        for (node, work) in total.iter().enumerate() {
            prop_assert!(close(processor.used(last, node), ms(*work)), "{} against {} ms", processor.used(last, node), work);
        }
        let busy: Time = (0..caps.len()).map(|node| processor.used(last, node)).sum();
        prop_assert!(busy <= last * u64::from(cores));
    }
}
