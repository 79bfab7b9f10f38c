//! Places for handshakes. Nobody has shown a key yet, so addresses share the places: when they run out, the address
//! with most gives one up for an address with fewer.

use std::collections::{BTreeMap, VecDeque};
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::oneshot;

/// The source of a stream. An IPv6 host has its whole /64 (RFC 7421), so a /64 counts as one address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Source(IpAddr);

impl Source {
    fn of(address: IpAddr) -> Self {
        // A socket of both families shows IPv4 addresses within one /64, so these count singly.
        Self(match address.to_canonical() {
            IpAddr::V6(address) => IpAddr::V6((u128::from(address) >> 64 << 64).into()),
            address @ IpAddr::V4(_) => address,
        })
    }
}

/// A place by its number, and the signal by which it is taken from its holder.
type Held = (u64, oneshot::Sender<()>);

#[derive(Debug, Default)]
struct Taken {
    /// Places by source, the oldest first.
    by_source: BTreeMap<Source, VecDeque<Held>>,
    count: usize,
    next: u64,
}

/// Room for this many handshakes in all.
#[derive(Debug)]
pub(crate) struct Places {
    most: usize,
    taken: Mutex<Taken>,
}

/// A place, until this is dropped.
#[derive(Debug)]
pub(crate) struct Place {
    places: Arc<Places>,
    source: Source,
    number: u64,
    evicted: oneshot::Receiver<()>,
}

impl Places {
    pub fn new(most: usize) -> Arc<Self> {
        Arc::new(Self { most, taken: Mutex::default() })
    }
    fn taken(&self) -> MutexGuard<'_, Taken> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
    /// A place for this address. `None` if all are taken and no address has at least two more than this one.
    pub fn take(self: &Arc<Self>, address: IpAddr) -> Option<Place> {
        let source = Source::of(address);
        let mut taken = self.taken();
        if taken.count >= self.most {
            let own = taken.by_source.get(&source).map_or(0, VecDeque::len);
            let (_, most) = taken.by_source.iter_mut().max_by_key(|(_, held)| held.len())?;
            if most.len() < own + 2 {
                return None;
            }
            // The oldest place of that address, which has had the most time. Dropping its sender tells the holder.
            most.pop_front();
            taken.count -= 1;
        }
        let number = taken.next;
        let (sender, evicted) = oneshot::channel();
        taken.next += 1;
        taken.count += 1;
        taken.by_source.entry(source).or_default().push_back((number, sender));
        Some(Place { places: Arc::clone(self), source, number, evicted })
    }
}

impl Place {
    /// Returns when the place has been given to somebody else.
    pub async fn lost(&mut self) {
        let _ = (&mut self.evicted).await;
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut taken = self.places.taken();
        let Some(held) = taken.by_source.get_mut(&self.source) else { return };
        let before = held.len();
        held.retain(|(number, _)| *number != self.number);
        let given_back = before - held.len();
        if held.is_empty() {
            taken.by_source.remove(&self.source);
        }
        taken.count -= given_back;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::time::{Duration, timeout};

    fn address(text: &str) -> IpAddr {
        text.parse().expect("an address")
    }
    async fn is_lost(place: &mut Place) -> bool {
        timeout(Duration::ZERO, place.lost()).await.is_ok()
    }

    #[test]
    fn a_source_is_an_ipv4_address_or_a_64_of_ipv6() {
        let same = |a, b| Source::of(address(a)) == Source::of(address(b));
        assert!(same("192.0.2.1", "::ffff:192.0.2.1") && !same("::ffff:192.0.2.1", "::ffff:192.0.2.2"));
        assert!(same("2001:db8::1", "2001:db8::ffff:0:0:9") && !same("2001:db8::1", "2001:db8:0:1::1"));
    }

    #[tokio::test]
    async fn whoever_has_most_gives_one_up_for_whoever_has_fewer() {
        let places = Places::new(4);
        let take = |text| places.take(address(text));
        let mut flood: Vec<Place> = (0..4).map(|_| take("192.0.2.1").expect("free")).collect();
        assert!(take("192.0.2.1").is_none(), "its own are no others'");
        let mut good = take("192.0.2.2").expect("a share");
        assert!(is_lost(&mut flood[0]).await && !is_lost(&mut flood[1]).await && !is_lost(&mut good).await);
        let second = take("192.0.2.2").expect("two of four");
        assert!(is_lost(&mut flood[1]).await);
        // Two each: no third for either, but a share for a third address.
        assert!(take("192.0.2.1").is_none() && take("192.0.2.2").is_none());
        let third = take("192.0.2.3").expect("a share");
        // A place that was given back is free again: once.
        drop((flood, good, second, third));
        let all: Vec<Place> = (0..4).map(|_| take("192.0.2.9").expect("free")).collect();
        assert!(take("192.0.2.9").is_none());
        drop(all);
        assert!(places.taken().by_source.is_empty() && places.taken().count == 0);
    }
}
