//! A map's two threads, as Hadoop's `MapTask.MapOutputBuffer` has them: the map function fills the sort buffer, and the
//! spill thread sorts and writes what is full.

/// The work of a map, in seconds of a core.
#[derive(Clone, Copy, Debug)]
pub struct TwoThreads<'a> {
    /// The map function.
    pub function: f64,
    /// Each spill that begins while the function runs, in their order.
    pub full: &'a [f64],
    /// The spill of the rest, and the merge.
    pub rest: f64,
    /// The part of the output that one of the full spills holds.
    pub part: f64,
    /// The part of the output that the whole buffer holds.
    pub room: f64,
}

impl TwoThreads<'_> {
    /// The work that is left when the function has ended. Both threads get equal shares of the cores while both run.
    /// The function stops while the buffer is full.
    pub fn left(&self) -> f64 {
        let (mut produced, mut done, mut spilling) = (0.0_f64, 0, None::<f64>);
        while produced < 1.0 {
            let due = (done + 1) as f64 * self.part;
            if spilling.is_none() && done < self.full.len() && produced >= due - 1e-12 {
                spilling = Some(self.full[done]);
            }
            let stop = match spilling {
                None if done < self.full.len() => due,
                None => 1.0,
                Some(_) => done as f64 * self.part + self.room.max(self.part),
            };
            let to_stop = (stop.min(1.0) - produced).max(0.0) * self.function;
            match &mut spilling {
                Some(rest) if to_stop > 0.0 && *rest > to_stop => {
                    *rest -= to_stop;
                    produced = stop.min(1.0);
                }
                Some(rest) => {
                    // The spill ends first. A function that waits for room goes on after it.
                    produced += if to_stop > 0.0 { *rest / self.function } else { 0.0 };
                    (spilling, done) = (None, done + 1);
                }
                None => produced = stop.min(1.0),
            }
        }
        let begun = usize::from(spilling.is_some());
        spilling.unwrap_or(0.0) + self.full.iter().skip(done + begun).sum::<f64>() + self.rest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn left(function: f64, full: &[f64], part: f64, room: f64) -> f64 {
        TwoThreads { function, full, rest: 1.0, part, room }.left()
    }

    /// A function of 10 s has 4 s left when 60 % of its output fill the buffer. In those 4 s the spill thread does as
    /// much, so that of a spill of 6 s there are 2 s left, and of one of 3 s nothing.
    #[test]
    fn a_spill_runs_beside_the_rest_of_the_function() {
        assert!((left(10.0, &[6.0], 0.6, 1.0) - 3.0).abs() < 1e-9);
        assert!((left(10.0, &[3.0], 0.6, 1.0) - 1.0).abs() < 1e-9);
        assert!((left(10.0, &[], 2.0, 3.0) - 1.0).abs() < 1e-9);
    }

    /// A spill holds 40 % of the output and takes 8 s, the function 10 s. The first spill begins after 4 s. If the
    /// buffer holds 60 %, the function stops 2 s later; with the spill's end 40 % are free again, 2 s later the second
    /// spill begins, and the last 2 s of the function run beside it. If the buffer holds 50 %, the function also waits
    /// for the second spill's end.
    #[test]
    fn a_full_buffer_stops_the_function() {
        assert!((left(10.0, &[8.0, 8.0], 0.4, 0.6) - 7.0).abs() < 1e-9);
        assert!((left(10.0, &[8.0, 1.5], 0.4, 0.6) - 1.0).abs() < 1e-9);
        assert!((left(10.0, &[8.0, 8.0], 0.4, 0.5) - 1.0).abs() < 1e-9);
    }
}
