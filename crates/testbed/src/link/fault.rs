//! Links of a star that fail and become slow while they are up.

use super::host::INTERFACE;
use super::setup;
use super::spoke::Bucket;
use super::{LinkError, Links, Star};
use net::Limit;
use units::{BitRate, Bytes};

/// The kernel's numbers of a bridge port's states.
const DISABLED: u8 = 0;
const FORWARDING: u8 = 3;
/// The bucket of a link that has none of its own holds a frame of the largest segmentation offload.
const BURST: Bytes = Bytes::new(64 << 10);

/// What is to be set where a link has become slow, in one direction.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Slow {
    /// The token bucket in front of it.
    Bucket(Bucket),
    /// The emulated path's rate; `None` is unlimited.
    Path(Option<BitRate>),
    /// No bucket, as the link had none.
    NoBucket,
}

impl Star {
    /// Takes a host's link down, both ways, or up again. The host keeps its carrier: what it sends is lost at the
    /// switch.
    pub fn set_link_up(&self, host: usize, up: bool) -> Result<(), LinkError> {
        let state = if up { FORWARDING } else { DISABLED };
        let command = format!("link set dev {} state {state}\n", self.spokes()[host].name());
        setup::batch("bridge", "take a link down or up", self.switch(), &command)
    }

    /// Gives a host's link this part of its rate, both ways; 1 restores it. `nominal` is the rate of a link that the
    /// kernel makes as fast as it can.
    pub fn set_link_part(&self, host: usize, part: f64, nominal: BitRate) -> Result<(), LinkError> {
        let spoke = &self.spokes()[host];
        let ways = [
            (spoke.egress, spoke.path.forth.rate, self.hosts()[host].net(), INTERFACE),
            (spoke.ingress, spoke.path.back.rate, self.switch(), spoke.name()),
        ];
        for (way, (bucket, rate, namespace, interface)) in ways.into_iter().enumerate() {
            let command = match slow(self.links(), bucket, rate, nominal, part) {
                Slow::Bucket(bucket) => bucket.command(interface),
                Slow::NoBucket => format!("qdisc delete dev {interface} root\n"),
                Slow::Path(rate) => {
                    self.set_path_rate(host, way, rate);
                    continue;
                }
            };
            setup::batch("tc", "change the rate of a link", namespace, &command)?;
        }
        Ok(())
    }
}

/// How a direction of a link gets a part of its rate: by the slower of its token bucket and its path.
fn slow(links: Links, bucket: Option<Bucket>, rate: Option<BitRate>, nominal: BitRate, part: f64) -> Slow {
    let of = |rate: BitRate| BitRate::from_bps(units::whole(rate.as_bps() as f64 * part).max(1));
    let by_bucket = bucket.filter(|bucket| rate.is_none_or(|rate| bucket.rate <= rate));
    match (links, by_bucket) {
        (_, Some(bucket)) => Slow::Bucket(Bucket { rate: of(bucket.rate), ..bucket }),
        (Links::Emulated, None) if part < 1.0 => Slow::Path(Some(of(rate.unwrap_or(nominal)))),
        (Links::Emulated, None) => Slow::Path(rate),
        (Links::Veth, None) if part < 1.0 => {
            Slow::Bucket(Bucket { rate: of(nominal), burst: BURST, limit: Limit::Bytes(Bytes::from_mib(16)) })
        }
        (Links::Veth, None) => Slow::NoBucket,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MBPS: fn(u64) -> BitRate = BitRate::from_mbps;

    fn bucket(mbps: u64) -> Bucket {
        Bucket { rate: MBPS(mbps), burst: Bytes::new(32_000), limit: Limit::Bytes(Bytes::new(500_000)) }
    }

    #[test]
    fn the_slower_of_bucket_and_path_becomes_slower() {
        let nominal = BitRate::from_gbps(15);
        let shaped = |part| slow(Links::Emulated, Some(bucket(10)), Some(MBPS(100)), nominal, part);
        assert_eq!(shaped(0.1), Slow::Bucket(Bucket { rate: MBPS(1), ..bucket(10) }));
        assert_eq!(shaped(1.0), Slow::Bucket(bucket(10)));
        let plain = |part| slow(Links::Emulated, None, Some(MBPS(100)), nominal, part);
        assert_eq!((plain(0.5), plain(1.0)), (Slow::Path(Some(MBPS(50))), Slow::Path(Some(MBPS(100)))));
        // A bucket that is faster than its path never holds a frame back.
        let behind = slow(Links::Emulated, Some(bucket(200)), Some(MBPS(100)), nominal, 0.5);
        assert_eq!(behind, Slow::Path(Some(MBPS(50))));
        let free = |part| slow(Links::Emulated, None, None, nominal, part);
        assert_eq!((free(0.1), free(1.0)), (Slow::Path(Some(MBPS(1_500))), Slow::Path(None)));
        let kernel = |part| slow(Links::Veth, None, None, nominal, part);
        assert!(matches!(kernel(0.1), Slow::Bucket(Bucket { rate, .. }) if rate == MBPS(1_500)));
        assert_eq!(kernel(1.0), Slow::NoBucket);
    }
}
