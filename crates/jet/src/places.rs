//! Places for handshakes, for whom nobody has shown a key yet. Whoever comes gets one: when they run out, the source
//! with most loses the one that it has had for longest. So who is slow waits as long as nobody needs the place.

use crate::keys::Fingerprint;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::oneshot;

/// The source of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Source {
    /// An address. An IPv6 host has its whole /64 (RFC 7421), so a /64 counts as one address.
    Address(IpAddr),
    /// A peer, by its hint.
    Peer(Fingerprint),
}

impl Source {
    pub fn of(address: IpAddr) -> Self {
        // A socket of both families shows IPv4 addresses within one /64, so these count singly.
        Self::Address(match address.to_canonical() {
            IpAddr::V6(address) => IpAddr::V6((u128::from(address) >> 64 << 64).into()),
            address @ IpAddr::V4(_) => address,
        })
    }
}

/// A place by its number, and the signal by which it is taken from its holder.
type Held = (u64, oneshot::Sender<()>);

/// How a source stands: who has most loses first, of equals who has had a place for longest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Standing {
    held: usize,
    oldest: Reverse<u64>,
    source: Source,
}

#[derive(Debug, Default)]
struct Taken {
    /// Of each source with places, in the order in which they lose one last.
    standings: BTreeSet<Standing>,
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
    /// A place for this source. Where all are taken, somebody loses one.
    pub fn take(self: &Arc<Self>, source: Source) -> Place {
        let mut taken = self.taken();
        if taken.count >= self.most {
            taken.evict();
        }
        let number = taken.next;
        let (sender, evicted) = oneshot::channel();
        taken.next += 1;
        taken.count += 1;
        let held = taken.by_source.entry(source).or_default();
        held.push_back((number, sender));
        let standing = Standing { held: held.len(), oldest: Reverse(held[0].0), source };
        taken.standings.insert(standing);
        if standing.held > 1 {
            taken.standings.remove(&Standing { held: standing.held - 1, ..standing });
        }
        Place { places: Arc::clone(self), source, number, evicted }
    }
}

impl Taken {
    /// Takes a place from the source with most, of equals from the one whose place is the oldest.
    fn evict(&mut self) {
        let Some(Standing { source, oldest: Reverse(number), .. }) = self.standings.last().copied() else { return };
        self.remove(source, number);
    }
    /// Removes a place, if it is still held. Dropping its sender tells the holder.
    fn remove(&mut self, source: Source, number: u64) {
        let Some(held) = self.by_source.get_mut(&source) else { return };
        let Some(place) = held.iter().position(|(other, _)| *other == number) else { return };
        self.standings.remove(&Standing { held: held.len(), oldest: Reverse(held[0].0), source });
        held.remove(place);
        self.count -= 1;
        match held.front() {
            Some((oldest, _)) => {
                let standing = Standing { held: held.len(), oldest: Reverse(*oldest), source };
                self.standings.insert(standing);
            }
            None => drop(self.by_source.remove(&source)),
        }
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
        self.places.taken().remove(self.source, self.number);
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
        let take = |text| places.take(Source::of(address(text)));
        let mut flood: Vec<Place> = (0..4).map(|_| take("192.0.2.1")).collect();
        flood.push(take("192.0.2.1"));
        assert!(is_lost(&mut flood[0]).await && !is_lost(&mut flood[1]).await, "its own oldest, and no others'");
        let mut good = take("192.0.2.2");
        assert!(is_lost(&mut flood[1]).await && !is_lost(&mut good).await);
        let mut second = take("192.0.2.2");
        assert!(is_lost(&mut flood[2]).await && !is_lost(&mut flood[3]).await);
        // Two each: the oldest of all goes for a third address.
        let mut third = take("192.0.2.3");
        assert!(is_lost(&mut flood[3]).await && !is_lost(&mut flood[4]).await);
        assert!(!is_lost(&mut good).await && !is_lost(&mut second).await && !is_lost(&mut third).await);
        // A place that was given back is free again: once.
        drop((flood, good, second, third));
        let mut all: Vec<Place> = (0..5).map(|_| take("192.0.2.9")).collect();
        assert!(is_lost(&mut all[0]).await && !is_lost(&mut all[1]).await);
        drop(all);
        let taken = places.taken();
        assert!(taken.by_source.is_empty() && taken.standings.is_empty() && taken.count == 0);
    }

    #[tokio::test]
    async fn of_many_with_one_place_each_the_oldest_goes() {
        let places = Places::new(256);
        let take = |number: u32| places.take(Source::of(IpAddr::V4(number.into())));
        let mut all: Vec<Place> = (1..=10_000).map(take).collect();
        assert!(is_lost(&mut all[9_743]).await && !is_lost(&mut all[9_744]).await, "256 of 10,000 are left");
        let taken = places.taken();
        assert_eq!((taken.count, taken.standings.len()), (256, 256));
        // Places give themselves up when they are dropped.
        drop(taken);
    }
}
