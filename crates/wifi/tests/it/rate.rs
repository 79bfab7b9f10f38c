//! Rate controls: ARF and AARF step by step, the others on channels whose best mode is known.

use des::RandomStream;
use units::{BitRate, Time};
use wifi::phy::{ErrorModel, ErrorTable, Frame, Guard, Mode, Settings, Standard, Width};
use wifi::rate::{Arf, Choice, RateControl, RateSpec};

fn b() -> Vec<Mode> {
    Settings::new(Standard::B).modes().collect()
}

/// The rates, in units of 500 kbit/s, before each transmission of a sequence: `+` got through, `-` did not.
fn walk(arf: &mut Arf, sequence: &str) -> Vec<u64> {
    let step = |outcome| {
        let rate = arf.mode().rate().as_bps() / 500_000;
        arf.report(outcome == '+');
        rate
    };
    sequence.chars().map(step).collect()
}

fn rate(arf: &Arf) -> u64 {
    arf.mode().rate().as_bps() / 500_000
}

#[test]
fn arf_steps_up_after_ten_and_down_after_two() {
    let mut arf = Arf::new(b());
    // Ten at 1 Mbit/s, the eleventh at 2 Mbit/s gets through.
    assert_eq!(walk(&mut arf, "+++++++++++"), [2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 4]);
    // One failure is nothing, two in a row are a step down.
    assert_eq!(walk(&mut arf, "-+--+"), [4, 4, 4, 4, 2]);
    // The failure of the first after a step up takes it back at once.
    assert_eq!(walk(&mut arf, "+++++++++-+"), [2, 2, 2, 2, 2, 2, 2, 2, 2, 4, 2]);
    // Every other one fails: the fifteenth transmission is the one that takes it up.
    let mut arf = Arf::new(b());
    walk(&mut arf, "+-+-+-+-+-+-+-");
    assert_eq!(rate(&arf), 2);
    walk(&mut arf, "+");
    assert_eq!(rate(&arf), 4);
    // Neither beyond the fastest nor below the slowest.
    let mut arf = Arf::new(b());
    walk(&mut arf, &"+".repeat(100));
    assert_eq!(rate(&arf), 22);
    walk(&mut arf, &"-".repeat(20));
    assert_eq!(rate(&arf), 2);
}

#[test]
fn aarf_asks_for_twice_as_many_after_each_vain_probe() {
    let mut aarf = Arf::adaptive(b());
    for wanted in [10, 20, 40, 50, 50] {
        walk(&mut aarf, &"+".repeat(wanted - 1));
        assert_eq!(rate(&aarf), 2, "before {wanted}");
        walk(&mut aarf, "+");
        assert_eq!(rate(&aarf), 4, "after {wanted}");
        walk(&mut aarf, "-");
        assert_eq!(rate(&aarf), 2);
    }
    // A probe that succeeds leaves it at that; two failures in a row forget it.
    walk(&mut aarf, &"+".repeat(51));
    assert_eq!(rate(&aarf), 4);
    walk(&mut aarf, "--");
    assert_eq!(rate(&aarf), 2);
    walk(&mut aarf, &"+".repeat(10));
    assert_eq!(rate(&aarf), 4);
    // ARF tries in vain once in eleven frames, AARF once in 51.
    let vain = |mut control: Arf| {
        let mut probes = 0;
        for _ in 0..10_000 {
            let slowest = rate(&control) == 2;
            probes += u32::from(!slowest);
            control.report(slowest);
        }
        probes
    };
    assert_eq!(vain(Arf::new(b())), 10_000 / 11);
    assert!((190..=200).contains(&vain(Arf::adaptive(b()))), "{}", vain(Arf::adaptive(b())));
}

/// What a frame of 1200 bytes costs in a mode: DIFS, half of CWmin, the frame, SIFS and the answer.
fn cost(settings: &Settings, mode: Mode) -> f64 {
    let timing = settings.timing();
    let exchange = timing.difs + timing.sifs + mode.duration(1_200) + settings.response(mode).duration(14);
    exchange.as_secs_f64() + timing.slot.as_secs_f64() * f64::from(timing.cw_min) / 2.0
}

/// A rate control towards a station like its own.
fn rate_control(spec: RateSpec, settings: &Settings) -> RateControl {
    let table = ErrorTable::of(ErrorModel::Nist);
    RateControl::new(spec, settings, settings, table, RandomStream::new(4, "wifi/minstrel", 0))
}

/// Frames got through per second over `seconds`, one after the other, each transmitted up to seven times; from `from`
/// on they count.
fn run(settings: &Settings, spec: RateSpec, from: f64, seconds: f64, channel: impl Fn(f64, Mode) -> f64) -> f64 {
    let mut random = RandomStream::new(9, "test/channel", 0);
    let mut control = rate_control(spec, settings);
    let (mut now, mut arrived) = (0.0, 0_u32);
    while now < seconds {
        for transmission in 0..7 {
            let mode = control.select(Time::from_secs_f64(now), transmission).mode;
            let success = random.chance(channel(now, mode));
            now += cost(settings, mode);
            control.report(mode, 1, u32::from(success));
            if success {
                arrived += u32::from(now >= from);
                break;
            }
        }
    }
    f64::from(arrived) / (seconds - from)
}

/// The most frames per second that any one mode gets through.
fn best(settings: &Settings, now: f64, channel: impl Fn(f64, Mode) -> f64) -> f64 {
    settings.modes().map(|mode| channel(now, mode) / cost(settings, mode)).fold(0.0, f64::max)
}

/// A channel of white noise.
fn noisy(snr_db: f64) -> impl Fn(f64, Mode) -> f64 {
    move |_, mode| {
        let sinr = libm::pow(10.0, snr_db / 10.0) * 20e6 / mode.bandwidth_hz() / f64::from(mode.streams());
        ErrorTable::of(ErrorModel::Nist).success(mode, sinr, 9_600.0)
    }
}

#[test]
fn minstrel_finds_the_best_mode() {
    let n2 = Settings { streams: 2, width: Width::Mhz40, guard: Guard::Short, ..Settings::new(Standard::N5) };
    let all = [Settings::new(Standard::B), Settings::new(Standard::A), Settings::new(Standard::N5), n2];
    for settings in all {
        for snr_db in [6.0, 12.0, 17.0, 21.5, 24.0, 35.0] {
            let channel = noisy(snr_db);
            let (got, possible) =
                (run(&settings, RateSpec::Minstrel, 1.0, 5.0, &channel), best(&settings, 0.0, &channel));
            let share = got / possible;
            assert!(share > 0.93 && share < 1.02, "{} {snr_db} dB: {share}", settings.standard);
        }
    }
}

#[test]
fn minstrel_does_not_believe_that_slower_is_safer() {
    // Half of all frames are lost at every rate but 36 Mbit/s, as behind a hidden station with luck: nothing but
    // experience tells.
    let settings = Settings::new(Standard::A);
    let odd = |_: f64, mode: Mode| match mode.rate().as_bps() / 1_000_000 {
        36 => 0.95,
        rate if rate > 36 => 0.0,
        _ => 0.5,
    };
    let share = run(&settings, RateSpec::Minstrel, 1.0, 5.0, odd) / best(&settings, 0.0, odd);
    assert!(share > 0.95 && share < 1.02, "{share}");
}

#[test]
fn minstrel_follows_a_channel_that_changes() {
    // 30 dB, at 3 s only 10 dB, at 6 s 30 dB again: half a second later it has the best mode.
    let settings = Settings::new(Standard::N5);
    let (good, bad) = (noisy(30.0), noisy(10.0));
    let channel = |now: f64, mode| if (3.0..6.0).contains(&now) { bad(now, mode) } else { good(now, mode) };
    for (from, to) in [(0.5, 3.0), (3.5, 6.0), (6.5, 9.0)] {
        let got = run(&settings, RateSpec::Minstrel, from, to, channel);
        let share = got / best(&settings, from, channel);
        assert!(share > 0.93, "{from} to {to} s: {share}");
    }
    // ARF, for comparison, loses one transmission in eleven or more to probes where the best mode is sure and the next
    // hopeless.
    let cliff = |_: f64, mode: Mode| f64::from(u8::from(mode.rate() <= BitRate::from_mbps(39)));
    let [arf, aarf, minstrel] = [RateSpec::Arf, RateSpec::Aarf, RateSpec::Minstrel]
        .map(|spec| run(&settings, spec, 1.0, 5.0, cliff) / best(&settings, 0.0, cliff));
    assert!(arf < 0.93 && aarf > 0.97 && minstrel > 0.97, "{arf} {aarf} {minstrel}");
}

#[test]
fn minstrel_sends_probes_alone_and_seldom() {
    let settings = Settings::new(Standard::N5);
    let mut control = rate_control(RateSpec::Minstrel, &settings);
    let mut probes = 0;
    for ms in 0..1_000 {
        let choice = control.select(Time::from_ms(ms), 0);
        assert!(!control.select(Time::from_ms(ms), 1).probe);
        probes += u32::from(choice.probe);
        // MCS 3 and below get through.
        let reached = choice.mode.rate() <= BitRate::from_mbps(26);
        control.report(choice.mode, 16, if reached { 16 } else { 0 });
    }
    // Every 20 ms at most; no slower mode lies between the best and the most reliable, so that one kind in six has
    // nothing to try.
    assert!((30..=50).contains(&probes), "{probes}");
    // A frame that fails over and over ends at the slowest mode.
    assert_eq!(control.select(Time::from_secs(1), 40).mode.rate(), BitRate::from_bps(6_500_000));
}

/// The first stage of the chain goes as it is, all that follow behind an RTS, a sample that fails included.
#[test]
fn minstrel_announces_all_but_the_first_mode() {
    let settings = Settings::new(Standard::N5);
    let mut control = rate_control(RateSpec::Minstrel, &settings);
    let (mut samples, mut now) = (0, Time::ZERO);
    for _ in 0..1_000 {
        now += Time::from_ms(1);
        let chain: Vec<Choice> = (0..12).map(|transmission| control.select(now, transmission)).collect();
        let first = chain.iter().take_while(|choice| choice.mode == chain[0].mode).count();
        let plain = chain.iter().take_while(|choice| !choice.announced).count();
        assert!(chain[plain..].iter().all(|choice| choice.announced));
        // The next stage may have the same mode.
        assert!(if chain[0].probe { plain == 1 } else { (1..=first).contains(&plain) }, "{chain:?}");
        samples += u32::from(chain[0].probe);
        control.report(chain[0].mode, 1, u32::from(chain[0].mode.rate() <= BitRate::from_mbps(26)));
    }
    assert!(samples > 20, "{samples}");
    // Others announce nothing of their own accord.
    for spec in [RateSpec::Fixed(settings.slowest()), RateSpec::Arf, RateSpec::Aarf, RateSpec::Ideal] {
        let mut control = rate_control(spec, &settings);
        assert!((0..9).all(|transmission| !control.select(now, transmission).announced));
    }
}

#[test]
fn ideal_has_the_greatest_goodput_at_every_ratio() {
    let settings = Settings { streams: 2, ..Settings::new(Standard::N5) };
    let mut control = rate_control(RateSpec::Ideal, &settings);
    assert_eq!(control.select(Time::ZERO, 0).mode.rate(), BitRate::from_bps(6_500_000));
    let mut modes = Vec::new();
    for step in 0..120 {
        let snr = libm::pow(10.0, (f64::from(step) * 0.5 - 10.0) / 10.0);
        control.observe(snr);
        let chosen = control.select(Time::ZERO, 0).mode;
        // By the model itself, not its table.
        let goodput = |mode: Mode| {
            let (modulation, coding) = mode.scheme();
            let error = ErrorModel::Nist.bit_error(modulation, coding, Frame::Long, snr / f64::from(mode.streams()));
            let exchange = settings.timing().difs + settings.timing().sifs + mode.duration(1_500);
            let slots = settings.timing().slot.as_secs_f64() * 7.5;
            let time = (exchange + settings.response(mode).duration(14)).as_secs_f64() + slots;
            libm::exp(12_000.0 * libm::log1p(-error)) / time
        };
        let best = settings.modes().map(goodput).fold(0.0, f64::max);
        assert!(goodput(chosen) >= 0.999 * best, "{chosen}: {} of {best}", goodput(chosen));
        modes.push(chosen);
    }
    assert_eq!(modes.last().map(|mode| mode.rate()), Some(BitRate::from_mbps(130)));
    assert!(modes.windows(2).all(|pair| pair[0].rate() <= pair[1].rate()));
}
