//! Max-min fair rates against a solver that does nothing cleverly, and against SimGrid.

use proptest::prelude::*;
use transport::fluid::{Fluid, FluidId, Hop, PRECISION, WHOLE};

/// A flow as the plain solver knows it.
#[derive(Clone, Debug)]
struct Plain {
    path: Vec<Hop>,
    cap: f64,
    left: f64,
    rate: f64,
    id: Option<FluidId>,
}

fn share(hop: Hop) -> f64 {
    f64::from(hop.weight) / f64::from(WHOLE)
}

/// Fills a network of the same links twice, again and again: once for flows that are ahead, which have all of a link,
/// and once for the others, which have what those leave, until nothing changes any more. Each time goes half of the way:
/// flows that make room for each other would swing for ever.
fn fill(capacities: &[f64], flows: &mut [Plain]) {
    let links = capacities.len() as u32;
    let twice = |hop: &Hop| if hop.ahead { Hop { link: hop.link + links, ..*hop } } else { *hop };
    let mut twofold: Vec<Plain> = flows.to_vec();
    for flow in &mut twofold {
        flow.path = flow.path.iter().map(twice).collect();
    }
    let mut taken = vec![0.0; capacities.len()];
    loop {
        let left = capacities.iter().zip(&taken).map(|(capacity, taken)| (capacity - taken).max(capacity / 16.0));
        fill_all(&left.chain(capacities.iter().copied()).collect::<Vec<_>>(), &mut twofold);
        let mut now = vec![0.0; capacities.len()];
        for flow in &twofold {
            for hop in flow.path.iter().filter(|hop| hop.link >= links) {
                now[(hop.link - links) as usize] += flow.rate * share(*hop);
            }
        }
        if now.iter().zip(&taken).all(|(now, before): (&f64, &f64)| (now - before).abs() <= 1e-10 * now.abs()) {
            break;
        }
        for (taken, now) in taken.iter_mut().zip(now) {
            *taken = f64::midpoint(*taken, now);
        }
    }
    for (flow, filled) in flows.iter_mut().zip(twofold) {
        flow.rate = filled.rate;
    }
}

/// Water-filling as the textbook has it: all rise by the most that no link and no cap forbids, until all are held.
fn fill_all(capacities: &[f64], flows: &mut [Plain]) {
    let mut held = vec![false; flows.len()];
    let mut rest = capacities.to_vec();
    for flow in flows.iter_mut() {
        flow.rate = 0.0;
    }
    while held.iter().any(|held| !held) {
        let weight = |link: u32| -> f64 {
            let rising = flows.iter().zip(&held).filter(|(_, held)| !**held);
            rising.flat_map(|(flow, _)| &flow.path).filter(|hop| hop.link == link).copied().map(share).sum()
        };
        let weights: Vec<f64> = (0..capacities.len() as u32).map(weight).collect();
        let by_links =
            rest.iter().zip(&weights).filter(|(_, weight)| **weight > 0.0).map(|(rest, weight)| rest / weight);
        let by_caps = flows.iter().zip(&held).filter(|(_, held)| !**held).map(|(flow, _)| flow.cap - flow.rate);
        let step = by_links.chain(by_caps).fold(f64::INFINITY, f64::min).max(0.0);
        for (rest, weight) in rest.iter_mut().zip(&weights) {
            *rest -= step * weight;
        }
        for (flow, held) in flows.iter_mut().zip(&mut held).filter(|(_, held)| !**held) {
            flow.rate += step;
            let full = |hop: &Hop| rest[hop.link as usize] <= 1e-9 * capacities[hop.link as usize];
            *held = flow.rate >= flow.cap * (1.0 - 1e-12) || flow.path.iter().any(full);
        }
    }
}

#[derive(Clone, Debug)]
enum Step {
    /// Links by number (some may not exist), their weights and whether it is ahead there, a cap, an amount.
    Start(Vec<(u32, u32, bool)>, Option<f64>, f64),
    Stop(usize),
    Capacity(u32, f64),
    Wait(f64),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    // A flow takes one part of its rate wherever it is ahead, and more than that elsewhere, once at the least. If it took
    // less there, several answers would be fair: with more it would take more from those that make room for it.
    let data = prop_oneof![3 => Just(WHOLE), 1 => WHOLE / 2..2 * WHOLE];
    let hops = prop::collection::vec((0_u32..12, data, prop::bool::weighted(0.4)), 1..6);
    let path = (hops, 100..WHOLE / 16).prop_map(|(hops, part)| {
        let hop = |(place, (link, data, ahead))| {
            if ahead && place > 0 { (link, part, true) } else { (link, data, false) }
        };
        hops.into_iter().enumerate().map(hop).collect::<Vec<_>>()
    });
    let step = prop_oneof![
        5 => (path, prop::option::weighted(0.3, 0.5..200.0), 1.0..5_000.0).prop_map(|(p, c, a)| Step::Start(p, c, a)),
        1 => any::<prop::sample::Index>().prop_map(|index| Step::Stop(index.index(1_000))),
        1 => (0_u32..12, 10.0..500.0).prop_map(|(link, capacity)| Step::Capacity(link, capacity)),
        3 => (0.0..20.0).prop_map(Step::Wait),
    ];
    prop::collection::vec(step, 1..80)
}

/// A path over links that there are, each once.
fn hops(path: Vec<(u32, u32, bool)>, links: u32) -> Vec<Hop> {
    let hop = |(link, weight, ahead)| Hop { link: link % links, weight, ahead };
    let mut path: Vec<Hop> = path.into_iter().map(hop).collect();
    path.sort_by_key(|hop| (hop.link, hop.ahead));
    path.dedup_by_key(|hop| hop.link);
    path
}

fn begin(fluid: &mut Fluid, now: f64, path: Vec<Hop>, cap: Option<f64>, amount: f64) -> Plain {
    let cap = cap.unwrap_or(f64::INFINITY);
    let id = Some(fluid.start(now, &path, cap, amount));
    Plain { path, cap, left: amount, rate: 0.0, id }
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-6 * a.abs().max(b.abs()).max(1e-6)
}

/// Lets time pass in both; flows end in both at the same time. Returns the time, or what is wrong.
fn pass(now: f64, wait: f64, fluid: &mut Fluid, capacities: &[f64], flows: &mut Vec<Plain>) -> Result<f64, String> {
    let (mut now, until) = (now, now + wait);
    loop {
        fill(capacities, flows);
        let end = flows.iter().map(|flow| now + flow.left / flow.rate).fold(f64::INFINITY, f64::min);
        let next = fluid.next_end().unwrap_or(f64::INFINITY);
        if end > until && next > until {
            for flow in flows.iter_mut() {
                flow.left -= flow.rate * (until - now);
            }
            return Ok(until);
        }
        if !close(end, next) {
            return Err(format!("the next flow ends at {end}, not {next}"));
        }
        for flow in flows.iter_mut() {
            flow.left -= flow.rate * (end - now);
        }
        now = next.max(now);
        let mut ended = 0;
        while let Some(id) = fluid.ended(now) {
            let place = flows.iter().position(|flow| flow.id == Some(id)).ok_or("an unknown flow has ended")?;
            if flows[place].left > 1e-5 * capacities[flows[place].path[0].link as usize] {
                return Err(format!("{} are left of a flow that has ended", flows[place].left));
            }
            fluid.stop(now, id);
            flows.remove(place);
            ended += 1;
        }
        if ended == 0 {
            return Err("no flow has ended".to_owned());
        }
        fluid.settle(now);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, ..ProptestConfig::default() })]

    /// Rates and ends of random flows over random links, with caps, weights, flows taken out and capacities that
    /// change, are those of the plain solver, which computes all anew at every change.
    #[test]
    fn rates_are_those_of_a_plain_solver(
        mut capacities in prop::collection::vec(10.0..500.0_f64, 2..12),
        steps in steps(),
    ) {
        let mut fluid = Fluid::new(capacities.iter().copied(), 0.0);
        let mut flows: Vec<Plain> = Vec::new();
        let (mut now, links) = (0.0, capacities.len() as u32);
        for step in steps {
            match step {
                Step::Start(path, cap, amount) => {
                    flows.push(begin(&mut fluid, now, hops(path, links), cap, amount));
                }
                Step::Stop(place) if !flows.is_empty() => {
                    let flow = flows.remove(place % flows.len());
                    let left = flow.id.and_then(|id| fluid.stop(now, id));
                    prop_assert!(left.is_some_and(|left| (left - flow.left).abs() < 1e-3), "{left:?}, {}", flow.left);
                }
                Step::Stop(_) => {}
                Step::Capacity(link, capacity) => {
                    let link = link % links;
                    capacities[link as usize] = capacity;
                    fluid.set_capacity(link, capacity);
                }
                Step::Wait(wait) => {
                    fluid.settle(now);
                    now = pass(now, wait, &mut fluid, &capacities, &mut flows).map_err(TestCaseError::fail)?;
                }
            }
            fluid.settle(now);
            fill(&capacities, &mut flows);
            for flow in &flows {
                let rate = flow.id.and_then(|id| fluid.rate(id)).unwrap_or(f64::NAN);
                prop_assert!(close(rate, flow.rate), "a rate of {rate}, not {}, at {now}: {flows:?}", flow.rate);
            }
            for link in 0..links {
                let load: f64 = flows.iter().flat_map(|flow| flow.path.iter().map(|hop| (flow.rate, *hop)))
                    .filter(|(_, hop)| hop.link == link).map(|(rate, hop)| rate * share(hop)).sum();
                prop_assert!((fluid.load(link) - load).abs() <= 1e-6 * capacities[link as usize]);
            }
        }
    }
}

proptest! {
    /// Rates to a part of them only are still fair by the definition of the textbook (Bertsekas and Gallager, 6.5.2): no
    /// link carries more than it can, and each flow has its cap or a link that is full, where none has a higher rate; all
    /// of it to that part, and to twice of it where flows know to that part what is ahead of them.
    #[test]
    fn rates_are_fair_to_the_precision_that_was_asked_for(
        mut capacities in prop::collection::vec(100.0..500.0_f64, 2..12),
        steps in steps(),
    ) {
        let precision = 1e-3;
        let mut fluid = Fluid::new(capacities.iter().copied(), precision);
        let (mut flows, mut now, links) = (Vec::new(), 0.0, capacities.len() as u32);
        for step in steps {
            match step {
                Step::Start(path, cap, amount) => {
                    // None ends.
                    flows.push(begin(&mut fluid, now, hops(path, links), cap, amount * 1e6));
                }
                Step::Stop(place) if !flows.is_empty() => {
                    let flow: Plain = flows.remove(place % flows.len());
                    flow.id.and_then(|id| fluid.stop(now, id));
                }
                Step::Stop(_) => {}
                Step::Capacity(link, capacity) => {
                    let link = link % links;
                    capacities[link as usize] = capacity;
                    fluid.set_capacity(link, capacity);
                }
                Step::Wait(wait) => now += wait,
            }
            fluid.settle(now);
            for flow in &mut flows {
                flow.rate = flow.id.and_then(|id| fluid.rate(id)).unwrap_or(f64::NAN);
            }
            let on = |link: u32, ahead: bool| {
                flows.iter().filter_map(move |flow| {
                    flow.path.iter().find(|hop| hop.link == link && hop.ahead == ahead).map(|hop| (flow.rate, *hop))
                })
            };
            let load = |link: u32, ahead: bool| on(link, ahead).map(|(rate, hop)| rate * share(hop)).sum::<f64>();
            for flow in &flows {
                let is_full = |hop: &Hop| {
                    let capacity = capacities[hop.link as usize];
                    let room = if hop.ahead { capacity } else {
                        (capacity - load(hop.link, true)).max(capacity / 16.0)
                    };
                    let (load, slack) = (load(hop.link, hop.ahead), 2.0 * precision * capacity);
                    prop_assert!(load <= room + slack, "{load} on link {} with room for {room}", hop.link);
                    let highest = on(hop.link, hop.ahead).map(|(rate, _)| rate).fold(0.0, f64::max);
                    Ok(load >= room - slack && flow.rate >= highest * (1.0 - precision))
                };
                let held = flow.path.iter().map(is_full).collect::<Result<Vec<bool>, _>>()?;
                prop_assert!(flow.rate >= flow.cap * (1.0 - precision) || held.contains(&true), "{flow:?} of {flows:?}");
            }
        }
    }
}

/// What is on a link is what was started there and neither taken out nor has ended, each once.
#[test]
fn flows_on_a_link_are_known() {
    let mut fluid = Fluid::new([1.0, 1.0], 0.0);
    let hop = |link| Hop { link, weight: WHOLE, ahead: false };
    let both = fluid.start(0.0, &[hop(0), hop(1)], f64::INFINITY, 10.0);
    let twins = [0, 1].map(|_| fluid.start(0.0, &[hop(0)], f64::INFINITY, 10.0));
    let other = fluid.start(0.0, &[hop(1)], 0.5, 10.0);
    fluid.settle(0.0);
    fluid.extend(twins[0], 5.0);
    fluid.stop(1.0, twins[1]);
    let on = |fluid: &Fluid, link| {
        let mut ids: Vec<u32> = fluid.on(link).map(|id| id.0).collect();
        ids.sort_unstable();
        ids
    };
    assert_eq!(on(&fluid, 0), [both.0, twins[0].0]);
    assert_eq!(on(&fluid, 1), [both.0, other.0]);
}

/// A shuffle between all of some hosts on a star at 1 Gbit/s: when its last flow ends. Sizes of 5 to 15 MB are drawn by
/// a linear congruential generator, as in the program for SimGrid.
fn shuffle(hosts: u32, precision: f64) -> f64 {
    let mut fluid = Fluid::new(vec![125e6; 2 * hosts as usize], precision);
    let mut drawn = 1_u32;
    for from in 0..hosts {
        for to in (0..hosts).filter(|to| *to != from) {
            drawn = drawn.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let amount = (1e7 * (0.5 + f64::from(drawn >> 8) / 16_777_216.0)).floor();
            let path = [from, hosts + to].map(|link| Hop { link, weight: WHOLE, ahead: false });
            fluid.start(0.0, &path, f64::INFINITY, amount);
        }
    }
    let mut now = 0.0;
    fluid.settle(now);
    while let Some(end) = fluid.next_end() {
        now = end;
        while let Some(id) = fluid.ended(now) {
            fluid.stop(now, id);
        }
        fluid.settle(now);
    }
    now
}

/// As SimGrid 3.32 has it (model CM02, no cross traffic): the last of 9,900 flows of 100 hosts ends at 8.4808 s. So it
/// does with the precision that networks of a hundred hosts have.
#[test]
fn a_shuffle_of_a_hundred_hosts_ends_as_in_simgrid() {
    for precision in [0.0, PRECISION, 10.0 * PRECISION] {
        let end = shuffle(100, precision);
        assert!((end - 8.4808).abs() <= 1e-4 * 8.4808, "{end} to {precision}");
    }
}

/// Links that hold back thousands of flows, and of which each alone would hold back most of these, are right as well.
#[test]
fn busy_links_are_right() {
    const LINKS: u32 = 40;
    let capacities: Vec<f64> = (0..LINKS).map(|link| if link < 4 { 1e6 } else { 1e5 }).collect();
    let mut fluid = Fluid::new(capacities.clone(), PRECISION);
    let mut flows: Vec<Plain> = Vec::new();
    let mut drawn = 7_u32;
    let mut draw = |below: u32| {
        drawn = drawn.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (drawn >> 8) % below
    };
    for step in 0..12_000 {
        if flows.is_empty() || draw(1_000) < if step < 6_000 { 800 } else { 350 } {
            let (busy, side) = (draw(4), 4 + draw(LINKS - 4));
            let forth = [busy, side, (busy + 1 + draw(2)) % 4].map(|link| (link, WHOLE, false));
            let path = forth.into_iter().chain([((busy + 3) % 4, WHOLE / 35, true)]).collect();
            flows.push(begin(&mut fluid, 0.0, hops(path, LINKS), None, 1e12));
        } else {
            let flow = flows.swap_remove(draw(flows.len() as u32) as usize);
            fluid.stop(0.0, flow.id.expect("it has begun"));
        }
        fluid.settle(0.0);
        if step % 1_500 == 1_499 {
            fill(&capacities, &mut flows);
            for flow in &flows {
                let rate = flow.id.and_then(|id| fluid.rate(id)).expect("it flows");
                assert!((rate / flow.rate - 1.0).abs() <= 1e-3, "{rate} of {} at {step}", flow.rate);
            }
            for (link, capacity) in (0..).zip(&capacities) {
                assert!(fluid.load(link) <= capacity * 1.001, "{} on {link} at {step}", fluid.load(link));
            }
        }
    }
    assert!(flows.len() > 1_000, "{}", flows.len());
}
