//! Disks against closed forms.

use proptest::prelude::*;
use storage::{Cells, Disk, DiskScheduler, DiskSpec, FlashSpec, Op, Request, RotatingSpec, Stream};
use units::{BitRate, Bytes, Time};

const RATE: BitRate = BitRate::from_bps(800_000_000); // 100 MB/s

fn stream(id: u64) -> Stream {
    Stream { node: 0, id, part: 0 }
}

fn request(op: Op, id: u64, offset: u64, bytes: u64, tag: u64) -> Request<u64> {
    Request { op, stream: stream(id), offset: Bytes::new(offset), bytes: Bytes::new(bytes), places: 1, tag }
}

/// Without geometry: 12 ms to reach another place.
fn rotating() -> RotatingSpec {
    RotatingSpec::flat(Time::from_ms(12), RATE, RATE)
}

/// Runs to the end and returns when each tag was done.
fn finish(disk: &mut Disk<u64>) -> Vec<(Time, u64)> {
    let (mut all, mut done) = (Vec::new(), Vec::new());
    while disk.deadline() < Time::MAX {
        let now = disk.deadline();
        disk.on_timer(now, &mut done);
        all.extend(done.drain(..).map(|tag| (now, tag)));
    }
    all
}

/// `readers` closed-loop readers of `chunk` bytes each, which ask for the next chunk `think` after the last: total rate
/// in bytes/s.
fn closed_loop(spec: DiskSpec, readers: u64, chunk: u64, sequential: bool, think: Time, until: Time) -> f64 {
    let mut disk = Disk::new(spec);
    let mut next = vec![0_u64; readers as usize];
    let mut thinking: Vec<(Time, u64)> = (0..readers).map(|r| (Time::ZERO, r)).collect();
    let (mut moved, mut done) = (0_u64, Vec::new());
    loop {
        thinking.sort_unstable();
        let wake = thinking.first().map_or(Time::MAX, |(at, _)| *at);
        let now = wake.min(disk.deadline());
        if now > until {
            return moved as f64 / until.as_secs_f64();
        }
        disk.on_timer(now, &mut done);
        for reader in done.drain(..) {
            moved += chunk;
            thinking.push((now + think, reader));
        }
        while thinking.first().is_some_and(|(at, _)| *at <= now) {
            let (_, reader) = thinking.remove(0);
            let turn = &mut next[reader as usize];
            let offset = if sequential { *turn * chunk } else { *turn * 7 * chunk + chunk };
            *turn += 1;
            disk.submit(now, request(Op::Read, reader, offset, chunk, reader));
        }
    }
}

#[test]
fn a_lone_stream_is_positioned_once_and_then_goes_at_the_media_rate() {
    let mut disk = Disk::new(DiskSpec::Rotating(rotating()));
    for i in 0..100 {
        disk.submit(Time::ZERO, request(Op::Read, 1, i * 1_000_000, 1_000_000, i));
    }
    let done = finish(&mut disk);
    // 12 ms + 100 MB at 100 MB/s.
    assert_eq!(done.last(), Some(&(Time::from_ms(1_012), 99)));
    assert_eq!(disk.counters(Time::MAX).switches, 1);
    assert_eq!(disk.counters(Time::MAX).busy, Time::from_ms(1_012));
    assert_eq!(disk.counters(Time::MAX).read, Bytes::from_mb(100));
}

#[test]
fn every_random_request_pays_positioning() {
    let mut disk = Disk::new(DiskSpec::Rotating(rotating()));
    for i in 0..50 {
        disk.submit(Time::ZERO, request(Op::Write, 1, i * 10_000_000, 4_000, i));
    }
    // (12 ms + 40 us) each.
    assert_eq!(finish(&mut disk).last(), Some(&(Time::from_us(50 * 12_040), 49)));
    assert_eq!(disk.counters(Time::MAX).positioning, Time::from_ms(600));
}

/// One request for what is in 50 places takes as long as 50 requests that are all asked at once: on platters each place
/// is reached for itself, flash looks for as many at once as it has channels.
#[test]
fn a_request_for_many_places_takes_as_long_as_one_for_each() {
    for spec in [DiskSpec::Rotating(rotating()), DiskSpec::Flash(flash(8))] {
        let mut each = Disk::new(spec);
        for i in 0..50 {
            each.submit(Time::ZERO, request(Op::Read, 1, i * 10_000_000, 4_000, i));
        }
        let mut together = Disk::new(spec);
        together.submit(Time::ZERO, Request { places: 50, ..request(Op::Read, 1, 0, 200_000, 0) });
        let last = |done: Vec<(Time, u64)>| done.last().expect("it ends").0.as_secs_f64();
        let (each, together) = (last(finish(&mut each)), last(finish(&mut together)));
        assert!((together / each - 1.0).abs() < 0.02, "{together} s, one by one {each} s");
    }
}

/// With k > 1 long streams each slice of 100 ms costs one positioning: the total rate falls to 100/112 of the media
/// rate, for every k.
#[test]
fn interleaved_streams_share_the_media_rate_less_positioning() {
    for readers in [2, 3, 8] {
        let spec = DiskSpec::Rotating(rotating());
        let rate = closed_loop(spec, readers, 4_000_000, true, Time::ZERO, Time::from_secs(60));
        let expected = 100e6 * 100.0 / 112.0;
        assert!((rate / expected - 1.0).abs() < 0.02, "{readers} readers: {rate} against {expected}");
    }
}

/// Without anticipation, readers with one chunk outstanding each lose the head after each chunk.
#[test]
fn without_anticipation_each_chunk_costs_positioning() {
    let scheduler = DiskScheduler::Turns {
        read_slice: Time::from_ms(100),
        write_slice: Time::from_ms(40),
        anticipation: Time::ZERO,
    };
    let spec = RotatingSpec { scheduler, ..rotating() };
    let rate = closed_loop(DiskSpec::Rotating(spec), 4, 1_000_000, true, Time::from_ms(1), Time::from_secs(60));
    let expected = 1_000_000.0 / 0.022; // 12 ms + 10 ms a chunk
    assert!((rate / expected - 1.0).abs() < 0.01, "{rate} against {expected}");
}

#[test]
fn anticipation_keeps_the_head_for_a_reader_that_thinks_briefly() {
    let spec = DiskSpec::Rotating(rotating());
    let rate = closed_loop(spec, 4, 1_000_000, true, Time::from_ms(1), Time::from_secs(60));
    // A slice moves 9 or 10 chunks of 10 ms with pauses of 1 ms, then the head moves: between 1 MB / 11 ms less
    // positioning, and that.
    let (low, high) = (9e6 / 0.112, 10e6 / 0.110);
    assert!((low..high).contains(&rate), "{rate} not in {low}..{high}");
}

#[test]
fn two_streams_get_equal_shares() {
    let mut disk = Disk::new(DiskSpec::Rotating(rotating()));
    for id in 0..2 {
        disk.submit(Time::ZERO, request(Op::Read, id, 0, 100_000_000, id));
    }
    let done = finish(&mut disk);
    // 20 slices of 112 ms; the first stream ends one slice before the second.
    assert_eq!(done, vec![(Time::from_ms(19 * 112), 0), (Time::from_ms(20 * 112), 1)]);
}

fn flash(channels: u32) -> FlashSpec {
    FlashSpec {
        read_latency: Time::from_us(100),
        write_latency: Time::from_us(200),
        read_rate: BitRate::from_bps(2_000_000_000), // 250 MB/s
        write_rate: BitRate::from_bps(1_000_000_000),
        channels,
        cells: Cells::UNKNOWN,
    }
}

#[test]
fn flash_does_not_care_where_the_bytes_are() {
    for sequential in [true, false] {
        let rate = closed_loop(DiskSpec::Flash(flash(8)), 4, 1_000_000, sequential, Time::ZERO, Time::from_secs(10));
        assert!((rate / 250e6 - 1.0).abs() < 0.01, "{rate}");
    }
}

/// k small requests outstanding on c channels: min(k, c) accesses overlap until the interface is full.
#[test]
fn small_flash_reads_scale_with_their_number_up_to_the_channels() {
    let service = 100e-6 + 4_000.0 / 250e6; // latency and transfer
    for (outstanding, channels, overlap) in [(1, 8, 1.0), (4, 8, 4.0), (16, 4, 4.0)] {
        let spec = DiskSpec::Flash(flash(channels));
        let rate = closed_loop(spec, outstanding, 4_000, false, Time::ZERO, Time::from_secs(2)) / 4_000.0;
        let expected = overlap / service;
        assert!((rate / expected - 1.0).abs() < 0.02, "{outstanding} on {channels}: {rate} against {expected}");
    }
}

#[test]
fn flash_writes_are_slower_than_reads() {
    let mut disk = Disk::new(DiskSpec::Flash(flash(8)));
    disk.submit(Time::ZERO, request(Op::Write, 0, 0, 125_000_000, 0));
    assert_eq!(finish(&mut disk), vec![(Time::from_us(1_000_200), 0)]);
}

#[test]
fn every_preset_has_a_name() {
    for name in DiskSpec::PRESETS {
        assert!(DiskSpec::preset(name).is_some(), "{name}");
    }
    assert_eq!(DiskSpec::preset("floppy"), None);
}

/// The average access time of Yang 2012's table 2.1: 11 ms for the HDD, 0.11 ms for the SSD; over single bytes anywhere.
#[test]
fn presets_have_the_access_times_of_their_document() {
    for (spec, access) in [(DiskSpec::st3160318as(), 11e-3), (DiskSpec::f40a(), 0.11e-3)] {
        let mut disk = Disk::new(spec);
        let (mut now, accesses) = (Time::ZERO, 4_000);
        for id in 0..accesses {
            disk.submit(now, request(Op::Read, id, 0, 1, 0));
            now = finish(&mut disk)[0].0;
        }
        let took = now.as_secs_f64() / accesses as f64;
        assert!((took / access - 1.0).abs() < 0.02, "{took} against {access}");
    }
}

proptest! {
    /// Whatever is asked, each kept request is reported once, the bytes add up, and the disk is never busy for longer
    /// than the time that passed.
    #[test]
    fn bytes_and_time_are_conserved(
        asks in prop::collection::vec((0_u64..2_000, 0_u64..5, any::<bool>(), 0_u64..50, 1_u64..20_000_000), 1..60),
        solid in any::<bool>(),
        dropped in 0_u64..8,
    ) {
        let spec = if solid { DiskSpec::Flash(flash(4)) } else { DiskSpec::Rotating(rotating()) };
        let mut disk = Disk::new(spec);
        let mut asks = asks;
        asks.sort_unstable();
        let (mut done, mut reported) = (Vec::new(), Vec::new());
        let half = asks.len() / 2;
        for (tag, &(at, id, write, place, bytes)) in asks.iter().enumerate() {
            let now = Time::from_ms(at);
            while disk.deadline() <= now {
                let due = disk.deadline();
                disk.on_timer(due, &mut done);
            }
            if tag == half {
                disk.retain(|request| request.stream.id != dropped);
            }
            let op = if write { Op::Write } else { Op::Read };
            disk.submit(now, request(op, id, place * 1_000_000, bytes, tag as u64));
        }
        reported.append(&mut done);
        let end = finish(&mut disk);
        let last = end.last().map_or(Time::from_ms(2_000), |(at, _)| *at).max(Time::from_ms(2_000));
        reported.extend(end.iter().map(|(_, tag)| *tag));
        reported.sort_unstable();
        let before = reported.len();
        reported.dedup();
        prop_assert_eq!(before, reported.len());
        for (tag, ask) in asks.iter().enumerate() {
            prop_assert!(reported.contains(&(tag as u64)) || (tag < half && ask.1 == dropped));
        }
        let asked: u64 = reported.iter().map(|tag| asks[*tag as usize].4).sum();
        let moved = (disk.counters(Time::MAX).read + disk.counters(Time::MAX).written).get();
        let at_most: u64 = asks.iter().map(|ask| ask.4).sum();
        prop_assert!(asked <= moved && moved <= at_most);
        prop_assert_eq!(disk.queued(), 0);
        prop_assert!(disk.counters(Time::MAX).busy <= last);
    }
}

#[test]
fn busy_time_is_that_up_to_the_moment_of_asking() {
    for spec in [DiskSpec::virtual_disk(), DiskSpec::st3160318as()] {
        let mut disk = Disk::new(spec);
        let stream = Stream { node: 1, id: 1, part: 0 };
        disk.submit(
            Time::ZERO,
            Request { op: Op::Read, stream, offset: Bytes::ZERO, bytes: Bytes::from_mb(1), places: 1, tag: 0 },
        );
        let whole = disk.deadline();
        for parts in 0..=4 {
            let at = Time::from_ps(whole.as_ps() / 4 * parts);
            assert_eq!(disk.counters(at).busy, at, "busy from the start, {parts} quarters in");
        }
        assert_eq!(disk.counters(whole + Time::from_secs(1)).busy, whole);
    }
}
