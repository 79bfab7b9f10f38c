//! How strongly each station hears a transmitter: mean powers kept as long as they hold.

use crate::propagation::{Propagation, Radio};
use crate::space::Space;
use units::Time;

/// Where stations are, with what radios, and the air between them.
#[derive(Debug)]
pub(super) struct Field {
    pub radios: Vec<Radio>,
    pub space: Space,
    pub propagation: Propagation,
    /// A signal that arrives with less mW does not matter.
    pub weakest: f64,
}

/// A mean power is reckoned anew when the distance may have changed by this part of it: 0.04 dB in free space, 0.09 dB
/// by two rays.
const TOLERANCE: f64 = 0.005;

/// The stations that may hear one station.
#[derive(Debug, Default)]
pub(super) struct Links {
    /// Generation of the space at which the list was made.
    generation: u64,
    hearers: Vec<Link>,
}

#[derive(Clone, Copy, Debug)]
struct Link {
    to: u32,
    /// Mean power in mW.
    mean: f64,
    /// How long the power is valid.
    until: Time,
}

impl Links {
    /// Appends who hears a PPDU that `from` sends now, and with how many mW.
    pub fn hearers(&mut self, now: Time, from: u32, field: &mut Field, out: &mut Vec<(u32, f64)>) {
        let generation = field.space.generation(now);
        if self.generation != generation {
            self.generation = generation;
            self.hearers.clear();
            let link = |to: &u32| Link { to: *to, mean: 0.0, until: Time::ZERO };
            self.hearers.extend(field.space.neighbours(now, from).iter().map(link));
        }
        let varies = !field.propagation.is_deterministic();
        for link in &mut self.hearers {
            if link.until <= now {
                link.renew(now, from, field);
            }
            let mut power = link.mean;
            if varies {
                let places = (field.space.position(now, from), field.space.position(now, link.to));
                power *= libm::pow(10.0, field.propagation.variation(now, (from, link.to), places) / 10.0);
            }
            if power >= field.weakest {
                out.push((link.to, power));
            }
        }
    }
}

impl Link {
    fn renew(&mut self, now: Time, from: u32, field: &mut Field) {
        let (here, there) = (field.space.leg(now, from), field.space.leg(now, self.to));
        let (a, b) = (here.position(now), there.position(now));
        let (sender, receiver) = (&field.radios[from as usize], &field.radios[self.to as usize]);
        self.mean = field.propagation.mean((sender, a), (receiver, b)).milliwatts();
        let speed = here.velocity.speed() + there.velocity.speed();
        let holds = if speed > 0.0 { Time::from_secs_f64(TOLERANCE * a.distance(b) / speed) } else { Time::MAX };
        // What stands still holds until one of the two sets off.
        self.until = now.saturating_add(holds.max(Time::from_ps(1))).min(here.until).min(there.until);
    }
}
