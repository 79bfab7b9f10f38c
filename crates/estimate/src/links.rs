//! How fast flows go that share links.

use crate::plan::Plan;

/// Flows from one node to another, alike.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Flows {
    pub from: usize,
    pub to: usize,
    /// How many; a mean.
    pub count: f64,
}

/// Bytes per second of one flow of each kind: the least of its equal parts of the links on its way, and of what others
/// leave there because they have less elsewhere.
pub(crate) fn rates(plan: &Plan, flows: &[Flows]) -> Vec<f64> {
    const ROUNDS: usize = 2;
    let links = 2 * (plan.nodes + plan.racks);
    let rack = |node: usize| node % plan.racks;
    let ways: Vec<[usize; 4]> = flows
        .iter()
        .map(|flow| {
            let (out, into) = (flow.from, plan.nodes + flow.to);
            let racks = 2 * plan.nodes;
            if rack(flow.from) == rack(flow.to) {
                [out, into, out, into]
            } else {
                [out, into, racks + rack(flow.from), racks + plan.racks + rack(flow.to)]
            }
        })
        .collect();
    let mut left: Vec<f64> =
        (0..links).map(|link| if link < 2 * plan.nodes { plan.rate } else { plan.rack_rate }).collect();
    let mut on = vec![0.0; links];
    for (flow, way) in flows.iter().zip(&ways) {
        for (place, &link) in way.iter().enumerate() {
            if !way[..place].contains(&link) {
                on[link] += flow.count;
            }
        }
    }
    let mut rates = vec![0.0; flows.len()];
    for _ in 0..ROUNDS {
        let more: Vec<f64> = ways
            .iter()
            .map(|way| way.iter().map(|&link| left[link] / on[link].max(1.0)).fold(f64::INFINITY, f64::min))
            .collect();
        for (((rate, more), flow), way) in rates.iter_mut().zip(more).zip(flows).zip(&ways) {
            *rate += more;
            for (place, &link) in way.iter().enumerate() {
                if !way[..place].contains(&link) {
                    left[link] = (left[link] - more * flow.count).max(0.0);
                }
            }
        }
    }
    rates
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::tests::small;

    fn found(plan: &Plan, flows: &[[usize; 2]]) -> Vec<f64> {
        let flows: Vec<Flows> = flows.iter().map(|&[from, to]| Flows { from, to, count: 1.0 }).collect();
        rates(plan, &flows)
    }

    /// Links of 100. Three flows out of node 0 have a third of its link each. One of them shares node 1's link with four
    /// others: it has a fifth, and the two others have what it leaves.
    #[test]
    fn flows_have_equal_parts_and_what_others_leave() {
        let plan = small(8, 1, f64::INFINITY, 1, 1);
        let all = found(&plan, &[[0, 1], [0, 2], [0, 3]]);
        assert!(all.iter().all(|rate| (rate - 100.0 / 3.0).abs() < 1e-9), "{all:?}");
        let all = found(&plan, &[[0, 1], [0, 2], [0, 3], [4, 1], [5, 1], [6, 1], [7, 1]]);
        assert!((all[0] - 20.0).abs() < 1e-9 && (all[3] - 20.0).abs() < 1e-9, "{all:?}");
        // Max-min fair: (100 - 20) / 2 each.
        assert!(all[1] > 37.0 && all[1] < 40.0 + 1e-9 && all[0] + all[1] + all[2] <= 100.0 + 1e-9, "{all:?}");
    }

    /// Even nodes are in one rack, odd ones in the other, with 50 out of each: two flows across have 25, one inside a
    /// node's 100 less that.
    #[test]
    fn racks_are_links_too() {
        let plan = small(6, 2, 50.0, 1, 1);
        let all = found(&plan, &[[0, 1], [2, 3], [0, 4]]);
        assert!((all[0] - 25.0).abs() < 1e-9 && (all[1] - 25.0).abs() < 1e-9, "{all:?}");
        assert!((62.0..=75.0).contains(&all[2]), "{all:?}");
    }
}
