//! Tasks that share cores.

use std::collections::VecDeque;

/// When tasks end that begin in this order in so many places and share so many cores, in seconds from the first's
/// start; by time. `works` are what they take of a core, in seconds.
///
/// A place that becomes free takes the next task (list scheduling: Graham, Bounds on Multiprocessing Timing Anomalies,
/// 1969). Tasks get equal shares of the cores, at most a core each (processor sharing: Kleinrock, Queueing Systems,
/// volume 2, 1976, section 4.4): all advance at one pace, so that their order does not depend on it.
pub fn ends(works: impl Iterator<Item = f64>, places: f64, cores: f64) -> Vec<f64> {
    let places = (places as usize).max(1);
    // What each task has advanced to when it ends, with a core of its own.
    let mut ends: Vec<f64> = Vec::new();
    let mut running: VecDeque<f64> = VecDeque::new();
    for work in works {
        let from = if running.len() < places { 0.0 } else { running.pop_front().unwrap_or_default() };
        let end = from + work;
        running.insert(running.partition_point(|other| *other <= end), end);
        ends.push(end);
    }
    ends.sort_by(f64::total_cmp);
    let (mut before, mut now) = (0.0, 0.0);
    let count = ends.len();
    for (place, end) in ends.iter_mut().enumerate() {
        let running = places.min(count - place) as f64;
        now += (*end - before) * (running / cores).max(1.0);
        before = std::mem::replace(end, now);
    }
    ends
}

/// When the last of such tasks ends; at once without any.
pub fn last_end(works: impl Iterator<Item = f64>, places: f64, cores: f64) -> f64 {
    ends(works, places, cores).last().copied().unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(works: &[f64], places: f64, cores: f64) -> Vec<f64> {
        ends(works.iter().copied(), places, cores)
    }

    /// Four tasks of 2 on two cores have half a core each until 4. Of 1, 2 and 5 all have two thirds until the first
    /// ends, at 1.5; the second has a core for its 1 that is left, until 2.5; the third has 3 left then.
    #[test]
    fn cores_are_shared_equally() {
        assert_eq!(of(&[2.0; 4], 8.0, 2.0), [4.0; 4]);
        assert_eq!(of(&[5.0, 1.0, 2.0], 8.0, 2.0), [1.5, 2.5, 5.5]);
    }

    /// With cores for all, tasks last as long as their work, and the third takes the place that is free at 1.
    #[test]
    fn a_place_that_is_free_takes_the_next() {
        assert_eq!(of(&[3.0, 1.0, 1.0], 2.0, 8.0), [1.0, 2.0, 3.0]);
        assert_eq!(last_end(std::iter::repeat_n(1.0, 5), 2.0, 8.0), 3.0);
        assert_eq!(last_end(std::iter::empty(), 2.0, 8.0), 0.0);
    }
}
