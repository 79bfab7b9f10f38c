//! A disk that is written as a log, against one that is written in place: sums by hand.

use storage::{Disk, DiskSpec, Layout, Op, Request, RotatingSpec, Stream};
use units::{BitRate, Bytes, Time};

/// 10 ms to any other place, 100 MB/s.
const POSITION: Time = Time::from_ms(10);
const PIECE: u64 = 100_000;

fn disk(layout: Layout) -> Disk<u64> {
    let rate = BitRate::from_bps(800_000_000);
    Disk::new(DiskSpec::Rotating(RotatingSpec { layout, ..RotatingSpec::flat(POSITION, rate, rate) }))
}

/// One request after the other: how long they take, in ms.
fn take(disk: &mut Disk<u64>, now: &mut Time, requests: impl IntoIterator<Item = (Op, u64, u64)>) -> f64 {
    let began = *now;
    for (op, file, piece) in requests {
        let stream = Stream { node: 0, id: file, part: 0 };
        let request =
            Request { op, stream, offset: Bytes::new(piece * PIECE), bytes: Bytes::new(PIECE), places: 1, tag: 0 };
        disk.submit(*now, request);
        let mut done = Vec::new();
        while done.is_empty() {
            *now = disk.deadline();
            assert!(*now < Time::MAX);
            disk.on_timer(*now, &mut done);
        }
    }
    (*now - began).as_secs_f64() * 1e3
}

/// Two files of twenty pieces, written by turns: 40 ms of transfer, and in place a seek for each piece. In the log
/// there is none but the first. Read back file by file, each is in one piece in place, and in twenty in the log.
#[test]
fn a_log_saves_the_seeks_of_writes_and_spends_them_in_reads() {
    for (layout, writes, reads) in
        [(Layout::InPlace, 40.0 + 40.0 * 10.0, 40.0 + 2.0 * 10.0), (Layout::Log, 40.0 + 10.0, 40.0 + 40.0 * 10.0)]
    {
        let (mut disk, mut now) = (disk(layout), Time::ZERO);
        let by_turns = (0..20).flat_map(|piece| [(Op::Write, 1, piece), (Op::Write, 2, piece)]);
        let wrote = take(&mut disk, &mut now, by_turns);
        assert!((wrote - writes).abs() < 1e-6, "{layout:?}: {wrote} ms of writes");
        let in_order = [1, 2].into_iter().flat_map(|file| (0..20).map(move |piece| (Op::Read, file, piece)));
        let read = take(&mut disk, &mut now, in_order);
        assert!((read - reads).abs() < 1e-6, "{layout:?}: {read} ms of reads");
    }
}

/// A file that is written alone is in one piece in a log, too; and so is one that was there before.
#[test]
fn a_log_is_no_worse_for_a_file_alone() {
    let (mut disk, mut now) = (disk(Layout::Log), Time::ZERO);
    assert!((take(&mut disk, &mut now, (0..20).map(|piece| (Op::Write, 1, piece))) - 30.0).abs() < 1e-6);
    assert!((take(&mut disk, &mut now, (0..20).map(|piece| (Op::Read, 1, piece))) - 30.0).abs() < 1e-6);
    assert!((take(&mut disk, &mut now, (0..20).map(|piece| (Op::Read, 9, piece))) - 30.0).abs() < 1e-6);
}

/// One request over bytes that were written in two turns: a seek in between. What nobody wrote stands where it stood.
#[test]
fn a_read_over_pieces_seeks_to_each() {
    let (mut disk, mut now) = (disk(Layout::Log), Time::ZERO);
    take(&mut disk, &mut now, [(Op::Write, 1, 0), (Op::Write, 2, 0), (Op::Write, 1, 1)]);
    let stream = Stream { node: 0, id: 1, part: 0 };
    let began = now;
    disk.submit(
        now,
        Request { op: Op::Read, stream, offset: Bytes::ZERO, bytes: Bytes::new(3 * PIECE), places: 1, tag: 1 },
    );
    let mut done = Vec::new();
    while done.is_empty() {
        now = disk.deadline();
        disk.on_timer(now, &mut done);
    }
    // Its two pieces of the log, and a third that was there before.
    assert!(((now - began).as_secs_f64() * 1e3 - (3.0 + 3.0 * 10.0)).abs() < 1e-6);
}
