//! Figures that weigh energy against time, by their names in Yang 2012, 4.4.

/// Energy times time, the energy-delay product. Yang 2012, Eq. 4.2, calls it PowerTime, Pt.
pub fn energy_delay(energy: f64, time: f64) -> f64 {
    energy * time
}

/// Ptc of Yang 2012, Eq. 4.3: `alpha` E / (E + E') + (1 - alpha) T / (T + T'), of one of two settings (E, T), (E', T').
pub fn ptc(alpha: f64, own: (f64, f64), other: (f64, f64)) -> f64 {
    alpha * own.0 / (own.0 + other.0) + (1.0 - alpha) * own.1 / (own.1 + other.1)
}

/// Which of two settings has the lesser Ptc, for which `alpha`.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Wins {
    /// The first, or neither is worse, for all.
    First,
    /// The second, for all.
    Second,
    /// The first above this `alpha`, the second below it.
    FirstAbove(f64),
    /// The first below this `alpha`, the second above it.
    FirstBelow(f64),
}

/// The range of `alpha` in which each of two settings (energy, time) wins.
pub fn crossover(first: (f64, f64), second: (f64, f64)) -> Wins {
    let energy = (second.0 - first.0) / (first.0 + second.0);
    let time = (second.1 - first.1) / (first.1 + second.1);
    match (energy >= 0.0, time >= 0.0) {
        (true, true) => Wins::First,
        (false, false) => Wins::Second,
        (true, false) => Wins::FirstAbove(-time / (energy - time)),
        (false, true) => Wins::FirstBelow(time / (time - energy)),
    }
}

/// The least and the most relative change between two readings of a meter with this resolution: each reading stands
/// for what is rounded to it.
pub fn change_read(before: f64, after: f64, resolution: f64) -> (f64, f64) {
    let half = resolution / 2.0;
    ((after - half) / (before + half) - 1.0, (after + half) / (before - half) - 1.0)
}

/// The capacity of backup disks that holds all further replicas of full primary disks: (n - 1) : 1.
pub fn backup_capacity(primary: f64, replicas: u32) -> f64 {
    primary * f64::from(replicas.saturating_sub(1))
}
