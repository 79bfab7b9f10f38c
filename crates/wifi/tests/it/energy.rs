//! Energy of radios: sums of power and time, worked by hand, and nothing lost whatever the order of states.

use proptest::prelude::*;
use units::{Energy, Power, Time};
use wifi::energy::{RadioPower, RadioState, RadioTimes};

#[test]
fn energy_is_power_times_time() {
    let power = RadioPower { states: [1, 100, 150, 200, 1_000, 0].map(Power::from_mw) };
    let mut radio = RadioTimes::new(Time::from_ms(10), RadioState::Idle);
    radio.set(Time::from_ms(30), RadioState::Transmit);
    radio.set(Time::from_ms(35), RadioState::Receive);
    // Setting the same state again changes nothing.
    radio.set(Time::from_ms(40), RadioState::Receive);
    radio.set(Time::from_ms(45), RadioState::Busy);
    radio.set(Time::from_ms(49), RadioState::Sleep);
    let now = Time::from_ms(149);
    let times = RadioState::ALL.map(|state| radio.time(now, state).as_ms());
    assert_eq!(times, [100, 20, 4, 10, 5, 0]);
    // 0.1 + 2 + 0.6 + 2 + 5 mJ.
    assert_eq!(radio.energy(now, &power), Energy::from_nj(9_700_000));
    // A store of 10 mJ lasts another 300 ms asleep, and 0.3 ms sending.
    let store = Energy::from_nj(10_000_000);
    assert_eq!(radio.empty_at(now, &power, store), Time::from_ms(449));
    radio.set(now, RadioState::Transmit);
    assert_eq!(radio.empty_at(now, &power, store), now + Time::from_us(300));
    assert_eq!(radio.empty_at(now, &power, Energy::from_nj(1)), now);
}

#[test]
fn a_tablet_draws_most_when_it_sends() {
    let tablet = RadioPower::tablet();
    let [sleep, idle, busy, receive, transmit, off] = RadioState::ALL.map(|state| tablet.of(state).as_watts());
    assert!(sleep < 0.05 * idle && idle <= busy && busy <= receive && receive < transmit && off == 0.0);
    // A battery of 4325 mAh at 3.7 V (16 Wh) would feed nothing but the listening radio for 57.6 hours.
    let radio = RadioTimes::new(Time::ZERO, RadioState::Idle);
    let hours = radio.empty_at(Time::ZERO, &tablet, Energy::from_joules(16.0 * 3_600.0)).as_secs_f64() / 3_600.0;
    assert!((hours - 16.0 / 0.278).abs() < 0.01, "{hours}");
}

proptest! {
    /// The times of all states make up the whole time, and with the same power everywhere the energy is that power over
    /// the whole time.
    #[test]
    fn nothing_is_lost(steps in prop::collection::vec((0_u64..1_000_000_000, 0_usize..6), 0..50)) {
        let power = RadioPower { states: [Power::from_mw(300); 6] };
        let mut now = Time::from_us(7);
        let mut radio = RadioTimes::new(now, RadioState::Sleep);
        let mut before = Energy::default();
        for (ps, state) in steps {
            now += Time::from_ps(ps);
            radio.set(now, RadioState::ALL[state]);
            let total: Time = RadioState::ALL.into_iter().map(|state| radio.time(now, state)).sum();
            prop_assert_eq!(total, now - Time::from_us(7));
            let energy = radio.energy(now, &power);
            prop_assert!(power.states[0].over(total).as_nj() - energy.as_nj() < RadioState::ALL.len() as u64 && energy >= before);
            before = energy;
        }
    }
}
