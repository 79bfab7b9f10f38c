//! Route discovery in rings that widen (RFC 3561, section 6.4), and the packets that wait for it.

use super::AodvSettings;
use crate::routing::Datagram;
use std::collections::VecDeque;
use units::Time;

/// The search for one destination.
#[derive(Debug, Clone)]
pub(super) struct Search<P> {
    /// How far the last request went; 0 before the first.
    ttl: u8,
    /// How often the whole network was asked.
    whole: u32,
    pub(super) deadline: Time,
    pub(super) held: VecDeque<Datagram<P>>,
}

impl<P> Search<P> {
    /// A search that begins now with a ring of what was the distance, if that is known.
    pub(super) const fn new(now: Time) -> Self {
        Self { ttl: 0, whole: 0, deadline: now, held: VecDeque::new() }
    }

    /// The radius of the next request, and how long to wait for an answer; nothing when all has been tried.
    pub(super) fn widen(&mut self, now: Time, last_hops: Option<u8>, settings: &AodvSettings) -> Option<u8> {
        let diameter = settings.net_diameter;
        self.ttl = match self.ttl {
            0 => last_hops.map_or(settings.ttl_start, |hops| hops.saturating_add(settings.ttl_increment)),
            ttl if ttl < settings.ttl_threshold => {
                ttl.saturating_add(settings.ttl_increment).min(settings.ttl_threshold)
            }
            _ => diameter,
        };
        if self.ttl > settings.ttl_threshold {
            self.ttl = diameter;
        }
        let wait = if self.ttl < diameter {
            settings.node_traversal * (2 * (u64::from(self.ttl) + 2))
        } else {
            self.whole += 1;
            if self.whole > 1 + settings.retries {
                return None;
            }
            settings.net_traversal() * (1 << (self.whole - 1))
        };
        self.deadline = now.saturating_add(wait);
        Some(self.ttl)
    }
}

/// At most `limit` events in any one second.
#[derive(Debug, Clone)]
pub(super) struct RateLimit {
    limit: usize,
    recent: VecDeque<Time>,
}

impl RateLimit {
    pub(super) const fn new(limit: usize) -> Self {
        Self { limit, recent: VecDeque::new() }
    }
    /// Counts one more if it is allowed now; otherwise tells when it will be.
    pub(super) fn take(&mut self, now: Time) -> Result<(), Time> {
        if self.recent.len() >= self.limit
            && let Some(again) = self.recent.front().map(|first| *first + Time::from_secs(1))
        {
            if again > now {
                return Err(again);
            }
            self.recent.pop_front();
        }
        self.recent.push_back(now);
        Ok(())
    }
}
