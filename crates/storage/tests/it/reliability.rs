//! The rate of data loss against simulated lives of arrays.

use std::collections::BTreeSet;
use storage::{Failing, RaidLevel};

struct Draw(u64);

impl Draw {
    fn exponential(&mut self, rate: f64) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let uniform = ((self.0 >> 11) as f64 + 0.5) / (1_u64 << 53) as f64;
        -libm::log(uniform) / rate
    }
}

/// Hours until an array has lost data: members fail and are repaired independently of one another, until `fatal` of them
/// are down at the same time.
fn life(members: u32, fatal: u32, failures: f64, repair: f64, draw: &mut Draw) -> f64 {
    let (mut now, mut down) = (0.0, 0_u32);
    loop {
        let fails = draw.exponential(f64::from(members - down) * failures);
        let heals = if down > 0 { draw.exponential(f64::from(down) / repair) } else { f64::INFINITY };
        now += fails.min(heals);
        if fails < heals {
            down += 1;
            if down == fatal {
                return now;
            }
        } else {
            down -= 1;
        }
    }
}

/// Members that fail once in 1,000 h (100 h, where three have to be down at once) and take 2 h to repair, so that lives
/// are short enough to be simulated.
#[test]
fn lives_of_arrays_end_as_often_as_the_formula_says() {
    let repair = 2.0;
    let cases = [
        (RaidLevel::Raid0, 4, 1),
        (RaidLevel::Raid1, 2, 2),
        (RaidLevel::Raid1, 3, 3),
        (RaidLevel::Raid5, 4, 2),
        (RaidLevel::Raid5, 8, 2),
    ];
    for (level, members, fatal) in cases {
        let mut draw = Draw(11);
        let (failures, lives) = if fatal == 3 { (1e-2, 2_000) } else { (1e-3, 4_000) };
        let total: f64 = (0..lives).map(|_| life(members, fatal, failures, repair, &mut draw)).sum();
        let simulated = f64::from(lives) / total;
        let formula = level.losses_per_hour(members, failures, repair);
        // Four standard errors, and the formula's own error of the order of n r MTTR.
        let slack = 4.0 / f64::from(lives).sqrt() + 2.0 * f64::from(members) * failures * repair;
        assert!(
            (simulated / formula - 1.0).abs() < slack,
            "{level:?} of {members}: {simulated} against {formula} per hour"
        );
    }
}

/// Without the repair time, as Yang 2012 prints it, the formula has not even the dimension of a rate: halving the time of
/// a repair halves the losses.
#[test]
fn the_repair_time_matters() {
    let mut draw = Draw(5);
    let mut rate = |repair: f64| {
        let total: f64 = (0..4_000).map(|_| life(5, 2, 1e-3, repair, &mut draw)).sum();
        4_000.0 / total
    };
    let (slow, fast) = (rate(4.0), rate(2.0));
    assert!((slow / fast - 2.0).abs() < 0.2, "{slow} against {fast}");
}

/// Hours until the data of one of these sets of disks are lost: when `fatal` disks of a set are down. Each disk fails and
/// is repaired at its own pace.
fn life_of_sets(disks: &[Failing], sets: &BTreeSet<Vec<usize>>, fatal: usize, draw: &mut Draw) -> f64 {
    let mut down = vec![false; disks.len()];
    let mut next: Vec<f64> = disks.iter().map(|disk| draw.exponential(disk.failures)).collect();
    loop {
        let (disk, now) = next.iter().copied().enumerate().min_by(|a, b| a.1.total_cmp(&b.1)).unwrap();
        down[disk] = !down[disk];
        let rate = if down[disk] { 1.0 / disks[disk].repair } else { disks[disk].failures };
        next[disk] = now + draw.exponential(rate);
        let lost = |set: &Vec<usize>| set.iter().filter(|disk| down[**disk]).count() >= fatal;
        if down[disk] && sets.iter().any(lost) {
            return now;
        }
    }
}

/// Replicas and erasure-coded parts on disks that fail and are repaired at different paces: one set of disks, and the sets
/// on which blocks of a cluster stand.
#[test]
fn lives_of_blocks_end_as_often_as_the_formula_says() {
    let disk = |failures, repair| Failing { failures, repair };
    let unequal = [disk(1e-3, 2.0), disk(4e-3, 1.0), disk(2e-3, 3.0), disk(1e-3, 4.0), disk(3e-3, 2.0)];
    let cases: [(&[&[usize]], usize); 4] = [
        // Two replicas on unlike disks.
        (&[&[0, 1]], 2),
        // A code of three data and two parity parts.
        (&[&[0, 1, 2, 3, 4]], 3),
        // Two replicas of many blocks: of ten pairs of disks four hold a block.
        (&[&[0, 1], &[0, 2], &[2, 3], &[3, 4]], 2),
        // A block without a replica of its own.
        (&[&[2]], 1),
    ];
    for (number, (sets, fatal)) in cases.into_iter().enumerate() {
        let scale = if fatal == 3 { 10.0 } else { 1.0 };
        let disks = unequal.map(|unequal| disk(unequal.failures * scale, unequal.repair));
        let mut draw = Draw(17 + number as u64);
        let all: BTreeSet<Vec<usize>> = sets.iter().map(|set| set.to_vec()).collect();
        let lives = 4_000;
        let total: f64 = (0..lives).map(|_| life_of_sets(&disks, &all, fatal, &mut draw)).sum();
        let simulated = f64::from(lives) / total;
        let of = |set: &&[usize]| {
            let places: Vec<Failing> = set.iter().map(|place| disks[*place]).collect();
            Failing::losses_per_hour(&places, fatal)
        };
        let formula: f64 = sets.iter().map(of).sum();
        // Four standard errors, and the parts of time in which disks are down anyway.
        let away: f64 = disks.iter().map(|disk| disk.failures * disk.repair).sum();
        let slack = 4.0 / f64::from(lives).sqrt() + 2.0 * away;
        assert!((simulated / formula - 1.0).abs() < slack, "{sets:?}: {simulated} against {formula} per hour");
    }
}
