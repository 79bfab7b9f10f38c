//! Saturated 802.11n for timing: `time saturation SECONDS SENDERS MCS MPDUS` says how many PPDUs went on the air.

use des::{Ecn, EventQueue};
use std::env::args;
use units::Time;
use wifi::mac::{Aggregation, MacConfig, StationId};
use wifi::medium::{Medium, StationSpec, Traffic};
use wifi::mobility::{Area, Mobility, Position};
use wifi::phy::{AccessCategory, Settings, Standard};
use wifi::propagation::{Fading, PathLoss, Propagation, Shadowing};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let argument = |at, default| args().nth(at).map_or(Ok(default), |text| text.parse::<u32>());
    let (seconds, senders, mcs, mpdus) = (argument(1, 60)?, argument(2, 10)?, argument(3, 7)?, argument(4, 1)?);
    let area = Area::new(10.0, 10.0)?;
    let propagation = Propagation::new(1, 5.18e9, PathLoss::FreeSpace, Shadowing::None, Fading::None)?;
    let phy = Settings::new(Standard::N5);
    let aggregation = Aggregation { mpdus, ..Aggregation::AMPDU };
    let mac = MacConfig { aggregation, ..MacConfig::new(phy, phy.mcs(mcs as u8)?) };
    let spec = |index: u32| {
        let angle = f64::from(index) / f64::from(senders) * std::f64::consts::TAU;
        let reach = if index == 0 { 0.0 } else { 3.0 };
        let place = Position::ground(5.0 + reach * libm::cos(angle), 5.0 + reach * libm::sin(angle));
        let mobility = Mobility::fixed(place, &area)?;
        Ok(StationSpec::new(mobility, mac.clone()))
    };
    let specs = (0..=senders).map(spec).collect::<Result<Vec<_>, Box<dyn std::error::Error>>>()?;
    let mut medium: Medium<u32> = Medium::new(&specs, &area, propagation, 1)?;
    let mut events = EventQueue::new();
    let send = |medium: &mut Medium<u32>, now, sender, events: &mut EventQueue| {
        let flow = (StationId(sender), StationId(0));
        let traffic = Traffic { bytes: 1_500, category: AccessCategory::BestEffort, flow: sender, ecn: Ecn::default() };
        medium.send(now, sender, flow, traffic, events);
    };
    for sender in 1..=senders {
        for _ in 0..128 {
            send(&mut medium, Time::ZERO, sender, &mut events);
        }
    }
    let until = Time::from_secs(u64::from(seconds));
    let (mut packets, mut gone) = (0_u64, Vec::new());
    while let Some(event) = events.pop().filter(|event| event.time() <= until) {
        medium.on_event(&event, &mut events);
        gone.extend(medium.take_delivered().map(|delivered| delivered.packet));
        packets += gone.len() as u64;
        gone.extend(medium.take_dropped().map(|dropped| dropped.packet));
        for sender in gone.drain(..) {
            send(&mut medium, event.time(), sender, &mut events);
        }
    }
    medium.ledger().check()?;
    let ppdus: u64 = (0..=senders).map(|id| medium.station(StationId(id)).counters().ppdus).sum();
    let mbps = packets as f64 * 1_472.0 * 8.0 / f64::from(seconds) / 1e6;
    println!("{ppdus} PPDUs, {packets} packets, {} events, {mbps:.2} Mbit/s", events.pushed());
    Ok(())
}
