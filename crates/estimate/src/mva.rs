//! Exact mean value analysis of a closed network: Reiser and Lavenberg, "Mean-Value Analysis of Closed Multichain
//! Queuing Networks", JACM 27(2), 1980. It is the rival that Yang 2012, chapter 2, names for predicting Hadoop.

/// A place at which a customer is served.
#[derive(Clone, Copy, Debug)]
pub struct Station {
    /// Seconds of service that a customer asks of it in a cycle.
    pub demand: f64,
    /// Servers; infinite for one at which nobody waits.
    pub servers: f64,
}

/// Seconds of a cycle with so many customers.
///
/// A station with several servers is one server of their speed together and a delay for the rest of its service
/// (Seidmann, Schweitzer and Shalev-Oren, "Computerized Closed Queueing Network Models of Flexible Manufacturing
/// Systems", 1987).
pub fn cycle(stations: &[Station], customers: u32) -> f64 {
    let queueing = |station: &Station| if station.servers.is_finite() { station.demand / station.servers } else { 0.0 };
    let delay: f64 = stations.iter().map(|station| station.demand - queueing(station)).sum();
    let mut queues = vec![0.0; stations.len()];
    let mut cycle = delay;
    for customers in 1..=customers {
        let waits = |(station, queue): (&Station, &f64)| queueing(station) * (1.0 + queue);
        let residences: Vec<f64> = stations.iter().zip(&queues).map(waits).collect();
        cycle = delay + residences.iter().sum::<f64>();
        let rate = if cycle > 0.0 { f64::from(customers) / cycle } else { 0.0 };
        queues = residences.into_iter().map(|residence| rate * residence).collect();
    }
    cycle
}

/// The mean of the longest of so many exponential times, in units of their mean: the harmonic number. Varki, "Mean value
/// technique for closed fork-join networks", SIGMETRICS 1999, has it for the wait at a join.
pub fn longest_of(count: u32) -> f64 {
    (1..=count).map(|n| 1.0 / f64::from(n)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A central server with terminals: a CPU (0.605 s), two disks (2.1 and 1.35 s), 15 s of thinking. One customer waits
    /// for nobody; with two each finds what one alone leaves at a station, the station's part of his cycle.
    #[test]
    fn two_customers_meet_as_by_hand() {
        let one = |demand| Station { demand, servers: 1.0 };
        let stations = [one(0.605), one(2.1), one(1.35), Station { demand: 15.0, servers: f64::INFINITY }];
        let cycles: Vec<f64> = (1..=2).map(|customers| cycle(&stations, customers)).collect();
        // One user waits for nobody: 0.605 + 2.1 + 1.35 = 4.055.
        assert!((cycles[0] - 19.055).abs() < 1e-9, "{cycles:?}");
        // Two users, by hand: R = sum D (1 + D / 19.055) = 4.055 + (0.366 + 4.41 + 1.8225) / 19.055.
        assert!((cycles[1] - (19.055 + 6.598_525 / 19.055)).abs() < 1e-6, "{cycles:?}");
    }

    /// One station alone: all customers but one wait, a cycle is as many services.
    #[test]
    fn a_single_station_serves_one_after_the_other() {
        assert!((cycle(&[Station { demand: 2.0, servers: 1.0 }], 7) - 14.0).abs() < 1e-12);
        let both = cycle(&[Station { demand: 2.0, servers: 2.0 }], 64);
        assert!((both / 64.0 - 1.0).abs() < 0.03, "{both}");
    }

    #[test]
    fn the_longest_of_four_is_the_harmonic_number() {
        assert!((longest_of(4) - 25.0 / 12.0).abs() < 1e-12);
    }
}
