//! Error models against the code's trellis, simulated receivers, and the sensitivities that the standard asks for.

use des::RandomStream;
use std::f64::consts::PI;
use wifi::phy::{
    Band, Coding, DsssRate, ErrorModel, ErrorTable, Frame, Guard, Mode, Modulation, OfdmRate, Preamble, Width,
};

const NIST: ErrorModel = ErrorModel::Nist;
const YANS: ErrorModel = ErrorModel::Yans;
/// For the formulas all frames are alike.
const ANY: Frame = Frame::Long;

/// Which of the two coded bits of each information bit are sent, over the period of the puncturing.
pub fn sent(coding: Coding) -> &'static [[bool; 2]] {
    const T: bool = true;
    const F: bool = false;
    match coding {
        Coding::None | Coding::Half => &[[T, T]],
        Coding::TwoThirds => &[[T, T], [T, F]],
        Coding::ThreeQuarters => &[[T, T], [T, F], [F, T]],
        Coding::FiveSixths => &[[T, T], [T, F], [F, T], [T, F], [F, T]],
    }
}

/// The coded bits and the next state: generators 133 and 171 octal, the newest of seven bits on top.
pub fn step(state: usize, bit: usize) -> ([bool; 2], usize) {
    let register = bit << 6 | state;
    let parity = |generator: usize| (register & generator).count_ones() % 2 == 1;
    ([parity(0o133), parity(0o171)], register >> 1)
}

const CODINGS: [Coding; 4] = [Coding::Half, Coding::TwoThirds, Coding::ThreeQuarters, Coding::FiveSixths];

/// Paths that leave the zero state and come back for the first time, by weight: (how many, their information bits),
/// from every place of the puncturing.
fn spectrum(coding: Coding, heaviest: usize) -> Vec<(f64, f64)> {
    let pattern = sent(coding);
    let mut total = vec![(0.0, 0.0); heaviest + 1];
    for start in 0..pattern.len() {
        let weigh = |state: usize, bit: usize, phase: usize| {
            let (coded, next) = step(state, bit);
            let weight = (0..2).filter(|&i| coded[i] && pattern[phase % pattern.len()][i]).count();
            (weight, next)
        };
        let mut open = vec![vec![(0.0, 0.0); heaviest + 1]; 64];
        let (weight, next) = weigh(0, 1, start);
        open[next][weight] = (1.0, 1.0);
        for phase in start + 1..start + 400 {
            let mut after = vec![vec![(0.0, 0.0); heaviest + 1]; 64];
            for (state, open) in open.iter().enumerate().skip(1) {
                for bit in 0..2 {
                    let (weight, next) = weigh(state, bit, phase);
                    for (before, &(paths, bits)) in open[..=heaviest - weight].iter().enumerate() {
                        let place =
                            if next == 0 { &mut total[before + weight] } else { &mut after[next][before + weight] };
                        place.0 += paths;
                        place.1 += bits + paths * bit as f64;
                    }
                }
            }
            open = after;
        }
        assert!(open.iter().flatten().all(|(paths, _)| *paths == 0.0), "{coding:?}: light paths are still open");
    }
    total
}

#[test]
fn coded_errors_follow_from_the_trellis() {
    // Ten terms each; at rate 1/2 every second one is nothing.
    for (coding, (free, heaviest)) in CODINGS.into_iter().zip([(10, 28), (6, 15), (5, 14), (4, 13)]) {
        let spectrum = spectrum(coding, heaviest);
        if coding == Coding::Half {
            // The model's own ten numbers, worked out here from the trellis.
            let bits: Vec<f64> = spectrum[free..].iter().step_by(2).map(|(_, bits)| *bits).collect();
            let own = [36, 211, 1_404, 11_633, 77_433, 502_690, 3_322_763, 21_292_910, 134_365_911, 843_425_871];
            assert_eq!(bits, own.map(f64::from));
        }
        assert!(spectrum[..free].iter().all(|(paths, _)| *paths == 0.0), "{coding:?} has a lighter path");
        for db in [-2.0, 0.0, 1.0, 2.0, 4.0, 6.0, 8.0, 10.0] {
            let ratio = libm::pow(10.0, db / 10.0);
            let p = 0.5 * libm::erfc(libm::sqrt(ratio));
            // Miller: Chernoff's bound on each path, bit errors per information bit.
            let z = libm::sqrt(4.0 * p * (1.0 - p));
            let period = sent(coding).len() as f64;
            let union: f64 = spectrum.iter().enumerate().map(|(d, (_, bits))| bits * libm::pow(z, d as f64)).sum();
            let nist = NIST.bit_error(Modulation::Bpsk, coding, ANY, ratio);
            let bound = (union / (2.0 * period)).min(0.5);
            assert!((nist / bound - 1.0).abs() < 1e-9, "{coding:?} {db} dB: {nist} not {bound}");
            // Lacage and Henderson: paths of the free distance, each with the binomial probability that more than half
            // of its bits are wrong.
            let wrong: f64 = (0..=free)
                .map(|k| {
                    let ways = libm::tgamma(free as f64 + 1.0)
                        / libm::tgamma(k as f64 + 1.0)
                        / libm::tgamma((free - k) as f64 + 1.0);
                    let share = [0.0, 0.5, 1.0][((2 * k).cmp(&free) as i8 + 1) as usize];
                    share * ways * libm::pow(p, k as f64) * libm::pow(1.0 - p, (free - k) as f64)
                })
                .sum();
            let (yans, first) =
                (YANS.bit_error(Modulation::Bpsk, coding, ANY, ratio), (spectrum[free].0 * wrong).min(0.5));
            assert!((yans / first - 1.0).abs() < 1e-9, "{coding:?} {db} dB: {yans} not {first}");
        }
    }
}

/// The share of frames of `bits` bits that a Viterbi decoder with hard decisions gets wrong, and the share of wrong
/// bits, each coded bit wrong with `p`.
fn viterbi(coding: Coding, p: f64, bits: usize, frames: usize) -> (f64, f64) {
    let mut random = RandomStream::new(7, "wifi/viterbi", 0);
    let pattern = sent(coding);
    let (mut bad_frames, mut bad_bits) = (0, 0);
    for _ in 0..frames {
        // The zero word, with six zeros of tail.
        let length = bits + 6;
        let mut metric = [u32::MAX / 2; 64];
        metric[0] = 0;
        let mut from = vec![[0_u8; 64]; length];
        for (time, from) in from.iter_mut().enumerate() {
            let received: [bool; 2] = std::array::from_fn(|_| random.chance(p));
            let sent = pattern[time % pattern.len()];
            let mut next_metric = [u32::MAX / 2; 64];
            for (state, &metric) in metric.iter().enumerate() {
                for bit in 0..2 {
                    let (coded, next) = step(state, bit);
                    let differs = (0..2).filter(|&i| sent[i] && coded[i] != received[i]).count() as u32;
                    // A tie is as good as lost half of the time.
                    let better = metric + differs < next_metric[next];
                    let tied = metric + differs == next_metric[next] && random.chance(0.5);
                    if better || tied {
                        next_metric[next] = metric + differs;
                        from[next] = state as u8;
                    }
                }
            }
            metric = next_metric;
        }
        let (mut state, mut wrong) = (0_usize, 0);
        for time in (0..length).rev() {
            wrong += state >> 5;
            state = usize::from(from[time][state]);
        }
        bad_bits += wrong;
        bad_frames += usize::from(wrong > 0);
    }
    (bad_frames as f64 / frames as f64, bad_bits as f64 / (frames * bits) as f64)
}

#[test]
fn a_real_decoder_lies_between_the_models() {
    // (code, Es/N0 of BPSK in dB) where a frame of 800 bits is lost now and then.
    for (coding, db) in [(Coding::Half, 2.2), (Coding::ThreeQuarters, 5.0)] {
        let ratio = libm::pow(10.0, db / 10.0);
        let p = 0.5 * libm::erfc(libm::sqrt(ratio));
        let (frames, bits) = viterbi(coding, p, 800, 600);
        assert!(frames > 0.02 && frames < 0.5, "{coding:?}: {frames} of the frames");
        let lost =
            |model: ErrorModel| 1.0 - libm::pow(1.0 - model.bit_error(Modulation::Bpsk, coding, ANY, ratio), 800.0);
        // Chernoff's bound is one; the first term alone is a little too kind.
        assert!(NIST.bit_error(Modulation::Bpsk, coding, ANY, ratio) > bits, "{coding:?}: {bits}");
        assert!(
            lost(NIST) > frames && lost(YANS) > 0.3 * frames && lost(YANS) < 1.3 * frames,
            "{coding:?} {frames} {}",
            lost(YANS)
        );
    }
}

#[test]
fn differential_detection_is_as_simulated() {
    let mut random = RandomStream::new(3, "wifi/dpsk", 0);
    let rows = [(Modulation::Dbpsk, 2, 2.0), (Modulation::Dqpsk, 4, 6.0)];
    for (modulation, points, ratio) in rows {
        // Es/N0 = ratio: unit symbols, noise of variance 1 / (2 ratio) on each axis; Gray: neighbours differ in one
        // bit, opposites in two.
        let sigma = libm::sqrt(0.5 / ratio);
        let mut wrong = 0;
        let symbols = 400_000;
        let mut last = (1.0 + sigma * random.normal(), sigma * random.normal());
        for _ in 0..symbols {
            let now = (1.0 + sigma * random.normal(), sigma * random.normal());
            let (re, im) = (now.0 * last.0 + now.1 * last.1, now.1 * last.0 - now.0 * last.1);
            let turn = (libm::atan2(im, re) / (2.0 * PI / f64::from(points))).round() as i32;
            wrong += match (points, turn.rem_euclid(points)) {
                (_, 0) => 0,
                (4, 2) => 2,
                _ => 1,
            };
            last = now;
        }
        let bits = f64::from(symbols) * f64::from(points / 2);
        let (simulated, formula) = (f64::from(wrong) / bits, NIST.bit_error(modulation, Coding::None, ANY, ratio));
        assert!((simulated / formula - 1.0).abs() < 0.03, "{modulation:?}: {simulated} not {formula}");
    }
    // A closed form to compare: DQPSK needs 2.3 dB more than coherent QPSK at rare errors, where coherent QPSK needs
    // 9.59 dB for 1e-5.
    let at = |db: f64| NIST.bit_error(Modulation::Dqpsk, Coding::None, ANY, 2.0 * libm::pow(10.0, db / 10.0));
    assert!(at(11.8) > 1e-5 && at(12.1) < 1e-5, "{} {}", at(11.8), at(12.1));
}

/// The code words of 5.5 Mbit/s or of 11 Mbit/s: eight chips by four phases (IEEE Std 802.11-2012, 17.4.6.6).
fn cck(all: bool) -> Vec<[(f64, f64); 8]> {
    let quarter = |k: u32| PI / 2.0 * f64::from(k);
    let mut words = Vec::new();
    for word in 0..if all { 256 } else { 16 } {
        let first = quarter(word & 3);
        let [second, third, fourth] = if all {
            [quarter(word >> 2 & 3), quarter(word >> 4 & 3), quarter(word >> 6 & 3)]
        } else {
            [quarter(2 * (word >> 2 & 1) + 1), 0.0, quarter(2 * (word >> 3 & 1))]
        };
        let phases = [
            second + third + fourth,
            third + fourth,
            second + fourth,
            fourth + PI,
            second + third,
            third,
            second + PI,
            0.0,
        ];
        words.push(phases.map(|phase| (libm::cos(first + phase), libm::sin(first + phase))));
    }
    words
}

#[test]
fn cck_is_as_simulated() {
    for (all, modulation, bits, ratio) in [(false, Modulation::Cck4, 4.0, 4.5), (true, Modulation::Cck8, 8.0, 13.0)] {
        let words = cck(all);
        let mut random = RandomStream::new(5, "wifi/cck", 0);
        // Es/N0 = ratio with eight chips of unit energy.
        let sigma = libm::sqrt(8.0 / (2.0 * ratio));
        let symbols = 20_000;
        let wrong = (0..symbols)
            .filter(|_| {
                let sent = random.below(words.len() as u64) as usize;
                let received = words[sent].map(|(re, im)| (re + sigma * random.normal(), im + sigma * random.normal()));
                let likeness = |word: &[(f64, f64); 8]| -> f64 {
                    word.iter().zip(&received).map(|(w, r)| w.0 * r.0 + w.1 * r.1).sum()
                };
                let best = (0..words.len()).max_by(|&a, &b| likeness(&words[a]).total_cmp(&likeness(&words[b])));
                best != Some(sent)
            })
            .count();
        let simulated = wrong as f64 / f64::from(symbols);
        let formula = 1.0 - libm::pow(1.0 - NIST.bit_error(modulation, Coding::None, ANY, ratio), bits);
        let deviation = libm::sqrt(formula * (1.0 - formula) / f64::from(symbols));
        assert!(formula > 0.02 && formula < 0.2, "{modulation:?}: {formula}");
        assert!((simulated - formula).abs() < 4.0 * deviation, "{modulation:?}: {simulated} not {formula}");
    }
}

fn modes() -> Vec<Mode> {
    let dsss = DsssRate::ALL.map(|rate| Mode::dsss(rate, Preamble::Long));
    let ofdm = OfdmRate::ALL.map(|rate| Mode::Ofdm(rate, Band::Ghz5));
    let ht = (0..16).filter_map(|mcs| Mode::ht(mcs, Width::Mhz40, Guard::Short, Band::Ghz5));
    dsss.into_iter().chain(ofdm).chain(ht).collect()
}

#[test]
fn the_table_is_the_model() {
    for model in [NIST, YANS] {
        let table = ErrorTable::of(model);
        for mode in modes() {
            let (modulation, coding) = mode.scheme();
            let mut last = [0.0; 4];
            for step in 0..6_000 {
                let sinr = libm::pow(10.0, (-25.0 + f64::from(step) * 0.0117) / 10.0);
                let error = model.bit_error(modulation, coding, ANY, sinr * model.symbol_ratio(mode));
                for (last, bits) in last.iter_mut().zip([24.0, 112.0, 12_000.0, 500_000.0]) {
                    let exact = libm::exp(bits * libm::log1p(-error));
                    let success = table.success(mode, sinr, bits);
                    assert!(
                        (success - exact).abs() < 1e-3,
                        "{model:?} {mode} {sinr} {bits} bits: {success} not {exact}"
                    );
                    assert!(success >= *last - 1e-12, "{model:?} {mode}: success falls at {sinr}");
                    *last = success;
                }
            }
            assert!(last[3] > 1.0 - 1e-9, "{model:?} {mode}: {} at 45 dB", last[3]);
        }
        assert_eq!(table.success(modes()[4], f64::INFINITY, 1e6), 1.0);
        assert!(table.success(modes()[4], 0.0, 1e3) < 1e-100);
    }
}

/// The ratio in dB at which a tenth of the frames of 1000 bytes are lost.
fn threshold(model: ErrorModel, mode: Mode) -> f64 {
    let table = ErrorTable::of(model);
    (0..6_000)
        .map(|step| -20.0 + 0.01 * f64::from(step))
        .find(|db| table.success(mode, libm::pow(10.0, db / 10.0), 8_000.0) > 0.9)
        .expect("a ratio that is enough")
}

#[test]
fn thresholds_are_what_the_standard_allows() {
    // Table 18-14: minimum sensitivity with a noise figure of 10 dB and 5 dB of implementation margin over -101 dBm of
    // noise, a tenth of frames of 1000 bytes lost. A decoder with hard decisions needs about 2 dB more than the soft
    // one behind these figures, and Chernoff's bound is safe.
    let sensitivity = [-82.0, -81.0, -79.0, -77.0, -74.0, -70.0, -66.0, -65.0];
    for (rate, sensitivity) in OfdmRate::ALL.into_iter().zip(sensitivity) {
        let wanted: f64 = sensitivity + 101.0 - 15.0;
        let mode = Mode::Ofdm(rate, Band::Ghz5);
        let (nist, yans) = (threshold(NIST, mode), threshold(YANS, mode));
        assert!((-0.5..2.0).contains(&(nist - wanted)), "{mode}: {nist} dB, {wanted} wanted");
        // YANS counts energy of pilots and guard intervals too: 20 MHz for 12 million symbols per second, 2.2 dB.
        assert!((3.0..4.0).contains(&(nist - yans)), "{mode}: {nist} dB, {yans} dB");
    }
    // 1e-5 of the bits wrong: DBPSK needs Eb/N0 of 10.3 dB, DQPSK 12 dB; the signal-to-noise ratio is 13.4 and 10.4 dB
    // below.
    let [slow, fast] = [DsssRate::R1, DsssRate::R2].map(|rate| threshold(NIST, Mode::dsss(rate, Preamble::Long)));
    assert!((slow + 3.1).abs() < 0.2 && (fast - 1.6).abs() < 0.3, "{slow} {fast}");
}
