//! Carrier sense and backoff, to the slot.

use des::RandomStream;
use units::Time;
use wifi::mac::{Channel, Contention, Parameters};

const US: fn(u64) -> Time = Time::from_us;
const EXTENSION: Time = Time::from_us(60);
const DCF: Parameters =
    Parameters { ifs: Time::from_us(34), slot: Time::from_us(9), cw_min: 15, cw_max: 1_023, txop_limit: Time::ZERO };

fn random() -> RandomStream {
    RandomStream::new(1, "wifi/backoff", 0)
}

#[test]
fn the_medium_is_free_when_signal_reservation_and_eifs_are_over() {
    let mut channel = Channel::new(EXTENSION);
    assert_eq!(channel.free_from(), Some(Time::ZERO));
    channel.sense(US(100), true);
    assert_eq!(channel.free_from(), None);
    // Understood, and it reserves 50 us.
    channel.on_frame_end(true);
    channel.reserve(US(250), None);
    channel.sense(US(200), false);
    assert_eq!(channel.free_from(), Some(US(250)));
    // A shorter reservation does not take it back.
    channel.reserve(US(220), None);
    assert_eq!(channel.nav(), US(250));
    // A frame that was not understood: EIFS in place of DIFS, until one is understood or the station itself sends.
    channel.sense(US(300), true);
    channel.on_frame_end(false);
    channel.sense(US(400), false);
    assert_eq!(channel.free_from(), Some(US(400) + EXTENSION));
    channel.transmit(US(500), true);
    assert!(channel.is_busy());
    channel.transmit(US(600), false);
    assert_eq!(channel.free_from(), Some(US(600)));
    // A signal that began during the transmission goes on after it.
    channel.transmit(US(700), true);
    channel.sense(US(710), true);
    channel.transmit(US(720), false);
    assert_eq!(channel.free_from(), None);
    channel.sense(US(800), false);
    assert_eq!(channel.free_from(), Some(US(800)));
}

#[test]
fn the_reservation_of_an_rts_lapses_if_nothing_follows() {
    let heard = |follows: Option<u64>| {
        let mut channel = Channel::new(EXTENSION);
        channel.sense(US(0), true);
        channel.on_frame_end(true);
        channel.reserve(US(1_000), Some(US(150)));
        channel.sense(US(50), false);
        if let Some(at) = follows {
            channel.sense(US(at), true);
            channel.sense(US(at + 10), false);
        }
        channel.nav()
    };
    assert_eq!(heard(None), US(150));
    assert_eq!(heard(Some(100)), US(1_000));
    assert_eq!(heard(Some(150)), US(1_000));
    assert_eq!(heard(Some(151)), US(150));
    // An earlier reservation by others stands in any case.
    let mut channel = Channel::new(EXTENSION);
    channel.reserve(US(400), None);
    channel.reserve(US(1_000), Some(US(150)));
    assert_eq!(channel.nav(), US(400));
}

/// A contention with a backoff drawn at 0, and its slots.
fn drawn(random: &mut RandomStream) -> (Contention, u64) {
    let mut contention = Contention::new(DCF);
    contention.want(Time::ZERO, &Channel::new(EXTENSION), random);
    loop {
        contention.draw(Time::ZERO, random);
        let slots = (contention.due(Some(Time::ZERO)).unwrap().as_us() - 34) / 9;
        if slots > 4 {
            return (contention, slots);
        }
    }
}

#[test]
fn whole_slots_of_a_free_medium_count() {
    let mut random = random();
    let (contention, slots) = drawn(&mut random);
    // Busy during the interframe space, just before a slot is over, with it, and after three.
    for (busy, passed) in [(20, 0), (34, 0), (34 + 8, 0), (34 + 9, 1), (34 + 28, 3)] {
        let mut contention = contention.clone();
        contention.freeze(US(busy), Some(Time::ZERO), true, &mut random);
        assert_eq!(contention.due(None), None);
        let due = contention.due(Some(US(1_000))).unwrap();
        assert_eq!(due, US(1_000 + 34 + 9 * (slots - passed)), "busy from {busy} us on");
    }
    // A signal that begins in the very slot comes too late to be heard.
    let mut contention = contention;
    contention.freeze(US(34 + 9 * slots), Some(Time::ZERO), true, &mut random);
    assert_eq!(contention.due(None), Some(Time::ZERO));
}

#[test]
fn an_idle_medium_is_used_at_once_and_a_busy_one_after_backoff() {
    let mut random = random();
    let idle = Channel::new(EXTENSION);
    let mut contention = Contention::new(DCF);
    contention.want(US(500), &idle, &mut random);
    assert_eq!(contention.due(idle.free_from()), Some(US(500)));
    // Not idle for DIFS yet: as soon as it is.
    let mut contention = Contention::new(DCF);
    contention.want(US(10), &idle, &mut random);
    assert_eq!(contention.due(idle.free_from()), Some(US(34)));
    // A signal within DIFS: a backoff is drawn after all.
    let mut total = 0;
    for _ in 0..1_000 {
        let mut contention = Contention::new(DCF);
        contention.want(US(10), &idle, &mut random);
        contention.freeze(US(20), idle.free_from(), true, &mut random);
        total += (contention.due(Some(US(100))).unwrap().as_us() - 134) / 9;
    }
    let mean = total as f64 / 1_000.0;
    assert!((mean - 7.5).abs() < 0.5, "{mean}");
    // A reserved medium is not idle.
    let mut reserved = Channel::new(EXTENSION);
    reserved.reserve(US(1_000), None);
    let mut latest = Time::ZERO;
    for _ in 0..100 {
        let mut contention = Contention::new(DCF);
        contention.want(US(500), &reserved, &mut random);
        latest = latest.max(contention.due(reserved.free_from()).unwrap());
    }
    assert_eq!(latest, US(1_000 + 34 + 9 * 15));
}

#[test]
fn the_window_doubles_up_to_its_limit_and_falls_back() {
    let mut random = random();
    let mut contention = Contention::new(DCF);
    let mut windows = vec![contention.cw()];
    for _ in 0..8 {
        contention.fail(Time::ZERO, &mut random);
        windows.push(contention.cw());
    }
    assert_eq!(windows, [15, 31, 63, 127, 255, 511, 1_023, 1_023, 1_023]);
    contention.succeed(Time::ZERO, &mut random);
    assert_eq!(contention.cw(), 15);
}

#[test]
fn backoff_goes_on_after_an_exchange_with_nothing_to_send() {
    let mut random = random();
    let (mut contention, slots) = drawn(&mut random);
    contention.rest();
    assert_eq!(contention.due(Some(Time::ZERO)), None);
    let idle = Channel::new(EXTENSION);
    // Two slots later something comes: the rest is waited for.
    contention.want(US(34 + 18), &idle, &mut random);
    assert_eq!(contention.due(Some(Time::ZERO)), Some(US(34 + 9 * slots)));
}
