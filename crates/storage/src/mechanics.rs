//! Platters and head: where bytes are, and how long it takes to get there.
//!
//! Seek times follow Lee and Katz, "An analytic performance model of disk arrays" (SIGMETRICS 1993): a constant, a root
//! and a linear part over the distance, so that the three figures of data sheets come out: to the next track, on average
//! over all pairs of cylinders, from edge to edge. Ruemmler and Wilkes, "An introduction to disk drive modeling" (IEEE
//! Computer 27(3), 1994), describe the rest: the platter turns on meanwhile, so what is waited for is the angle between
//! head and data; outer tracks hold more, in zones of equal width.

use crate::disk::Op;
use units::{BitRate, Bytes, Time};

/// Seek times by distance.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SeekCurve {
    /// To the next track, settling included.
    pub track: Time,
    /// Mean over all pairs of cylinders.
    pub average: Time,
    /// From edge to edge.
    pub full: Time,
}

impl SeekCurve {
    /// The same time for each distance.
    pub const fn flat(time: Time) -> Self {
        Self { track: time, average: time, full: time }
    }

    /// The time for a distance, as a part of that from edge to edge.
    pub fn time(&self, distance: f64) -> Time {
        let (track, average, full) = (self.track.as_secs_f64(), self.average.as_secs_f64(), self.full.as_secs_f64());
        if track >= full {
            return self.average;
        }
        // Lee and Katz's a and b, for distances as parts: a sqrt(N), b N.
        let root = (15.0 * average - 10.0 * track - 5.0 * full) / 3.0;
        let linear = (7.0 * track - 15.0 * average + 8.0 * full) / 3.0;
        Time::from_secs_f64((track + root * distance.sqrt() + linear * distance).max(0.0))
    }
}

/// The rate of the media at the two edges.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MediaRate {
    /// In the outermost zone.
    pub outer: BitRate,
    /// In the innermost zone.
    pub inner: BitRate,
}

impl MediaRate {
    /// The same rate everywhere.
    pub const fn flat(rate: BitRate) -> Self {
        Self { outer: rate, inner: rate }
    }
    /// At a part of the way from the outer edge to the inner.
    fn at(&self, way: f64) -> BitRate {
        let (outer, inner) = (self.outer.as_bps() as f64, self.inner.as_bps() as f64);
        BitRate::from_bps(units::whole(outer + (inner - outer) * way).max(1))
    }
}

/// Zones of disks since the 1990s: a few dozen (Hitachi Deskstar 7K500: 30).
const ZONES: u32 = 30;

/// Tracks of one length.
#[derive(Debug, Clone, Copy)]
struct Zone {
    /// Where it begins, in bytes from the outer edge.
    start: u64,
    end: u64,
    /// Bytes of a track; none on a disk without rotation.
    track: u64,
    read: BitRate,
    write: BitRate,
}

/// A place on the platters.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Spot {
    /// The way from the outer edge to the inner, as a part.
    way: f64,
    /// The angle, as a part of a revolution.
    angle: f64,
    read: BitRate,
    write: BitRate,
}

impl Spot {
    pub const fn rate(&self, op: Op) -> BitRate {
        match op {
            Op::Read => self.read,
            Op::Write => self.write,
        }
    }
}

/// Platters that turn under a head.
#[derive(Debug, Clone)]
pub(crate) struct Mechanics {
    zones: Vec<Zone>,
    capacity: u64,
    revolution: Time,
    seek: SeekCurve,
    /// From the command's arrival until the head moves.
    overhead: Time,
}

impl Mechanics {
    pub fn new(
        capacity: Bytes,
        (read, write): (MediaRate, MediaRate),
        revolution: Time,
        seek: SeekCurve,
        overhead: Time,
    ) -> Self {
        let capacity = capacity.get().max(1);
        let number =
            if read == MediaRate::flat(read.outer) && write == MediaRate::flat(write.outer) { 1 } else { ZONES };
        let way = |zone: u32| f64::from(zone) / f64::from((number - 1).max(1));
        // Zones have equally many tracks, so their bytes are as their rates.
        let sum: f64 = (0..number).map(|zone| read.at(way(zone)).as_bps() as f64).sum();
        let mut before = 0.0;
        let mut zones: Vec<Zone> = (0..number)
            .map(|zone| {
                let (read, write) = (read.at(way(zone)), write.at(way(zone)));
                let start = units::whole(before / sum * capacity as f64);
                before += read.as_bps() as f64;
                Zone { start, end: capacity, track: read.bytes_in(revolution).get(), read, write }
            })
            .collect();
        for zone in 1..zones.len() {
            zones[zone - 1].end = zones[zone].start;
        }
        Self { zones, capacity, revolution, seek, overhead }
    }

    /// Where a byte is, counted from the outer edge; numbers beyond the last byte wrap round.
    pub fn spot(&self, byte: u64) -> Spot {
        let byte = byte % self.capacity;
        let index = self.zones.partition_point(|zone| zone.start <= byte).max(1) - 1;
        let Zone { start, end, track, read, write } = self.zones[index];
        let within = (byte - start) as f64 / (end - start).max(1) as f64;
        Spot {
            way: (index as f64 + within) / self.zones.len() as f64,
            angle: if track == 0 { 0.0 } else { (byte % track) as f64 / track as f64 },
            read,
            write,
        }
    }

    /// From `now` until the head, at `from`, has the data at `to` under it.
    pub fn positioning(&self, now: Time, from: Option<Spot>, to: &Spot) -> Time {
        let distance = from.map_or(1.0 / 3.0, |from| (from.way - to.way).abs());
        let there = self.overhead + self.seek.time(distance);
        there + self.rotation(now.saturating_add(there), to)
    }

    /// From `now` until the data at a place passes under a head that is on its track.
    pub fn rotation(&self, now: Time, to: &Spot) -> Time {
        let turn = self.revolution.as_ps();
        if turn == 0 {
            return Time::ZERO;
        }
        let (at, wanted) = (now.as_ps() % turn, units::whole(to.angle * turn as f64));
        Time::from_ps((wanted + turn - at) % turn)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn mb_per_s(mb: u64) -> BitRate {
        BitRate::from_bps(mb * 8_000_000)
    }

    /// Over all pairs of places the mean of the curve is the data sheet's average. Pairs at random, so that nothing of
    /// the curve's formula is in the expectation.
    #[test]
    fn the_mean_seek_over_uniform_pairs_is_that_of_the_data_sheet() {
        // Western Digital Ultrastar DC HC310 (OEM specification, tables 5 and 6): 0.23 and 7.4 ms; full stroke 16 ms.
        // Hitachi 5K320: 1, 12, 20 ms.
        for (track, average, full) in [(230, 7_400, 16_000), (1_000, 12_000, 20_000), (800, 8_500, 18_000)] {
            let curve =
                SeekCurve { track: Time::from_us(track), average: Time::from_us(average), full: Time::from_us(full) };
            let mut state = 1_u64;
            let mut draw = || {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                (state >> 11) as f64 / (1_u64 << 53) as f64
            };
            let pairs = 200_000;
            let sum: f64 = (0..pairs).map(|_| curve.time((draw() - draw()).abs()).as_secs_f64()).sum();
            let mean = sum / f64::from(pairs);
            assert!((mean / (average as f64 * 1e-6) - 1.0).abs() < 0.005, "{mean} against {average} us");
            assert_eq!(curve.time(0.0), Time::from_us(track));
            assert!((curve.time(1.0).as_secs_f64() / (full as f64 * 1e-6) - 1.0).abs() < 1e-9);
            let rises = (0..100).all(|i| curve.time(f64::from(i) / 100.0) < curve.time(f64::from(i + 1) / 100.0));
            assert!(rises, "a longer way takes longer");
        }
    }

    /// Equally many tracks a zone, one revolution a track: reading the whole surface takes as long as at the mean of the
    /// zones' rates, which is that of the edges.
    #[test]
    fn the_whole_surface_goes_at_the_mean_of_the_edges() {
        let capacity = Bytes::from_mb(160_000);
        let rate = MediaRate { outer: mb_per_s(120), inner: mb_per_s(60) };
        let disk =
            Mechanics::new(capacity, (rate, rate), Time::from_us(8_333), SeekCurve::flat(Time::ZERO), Time::ZERO);
        let step = 16_000_000;
        let time: f64 = (0..10_000)
            .map(|i| disk.spot(i * step).rate(Op::Read).transmission_time(Bytes::new(step)).as_secs_f64())
            .sum();
        assert!((160e9 / time / 90e6 - 1.0).abs() < 0.001, "{} MB/s", 160e3 / time);
        assert_eq!(disk.spot(0).rate(Op::Read), mb_per_s(120));
        assert_eq!(disk.spot(159_999_999_999).rate(Op::Write), mb_per_s(60));
    }

    /// What is waited for is the angle: half a revolution on average, never more than one.
    #[test]
    fn the_platter_turns_meanwhile() {
        let rate = MediaRate::flat(mb_per_s(100));
        let turn = Time::from_ms(8);
        let disk = Mechanics::new(Bytes::from_mb(1_000), (rate, rate), turn, SeekCurve::flat(Time::ZERO), Time::ZERO);
        // 800,000 bytes a track: the byte in its middle passes at 4 ms, 12 ms, ...
        let middle = disk.spot(400_000);
        assert_eq!(disk.rotation(Time::ZERO, &middle), Time::from_ms(4));
        assert_eq!(disk.rotation(Time::from_ms(4), &middle), Time::ZERO);
        assert_eq!(disk.rotation(Time::from_ms(5), &middle), Time::from_ms(7));
        let mean: f64 =
            (0..1_000).map(|i| disk.rotation(Time::ZERO, &disk.spot(i * 1_003_001)).as_secs_f64()).sum::<f64>()
                / 1_000.0;
        assert!((mean / 4e-3 - 1.0).abs() < 0.05, "{mean}");
    }
}
