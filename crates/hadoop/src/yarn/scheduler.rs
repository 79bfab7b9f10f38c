//! Which application or job is next, and how long it waits for a local container or slot: what the schedulers of both
//! generations share.

use crate::numbers::count;
use crate::record::Locality;
use units::Time;

/// How applications share the cluster.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Policy {
    /// In order of submission.
    Fifo,
    /// The one furthest below its fair share first.
    Fair,
}

/// An application or job as the scheduler compares it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Share {
    /// Its number.
    pub user: usize,
    pub submit: Time,
    /// Resources that it holds (memory or slots).
    pub used: u64,
    pub weight: f64,
}

/// The users in the order in which they are offered a resource. FIFO: by submission. Fair: by resources held per
/// weight, the least first; with equal demands this is max-min fairness (Hadoop's `FairShareComparator` without minimum
/// shares).
pub(crate) fn order(policy: Policy, mut shares: Vec<Share>) -> Vec<usize> {
    let held = |share: &Share| share.used as f64 / share.weight.max(1e-9);
    shares.sort_by(|a, b| {
        let by_share = match policy {
            Policy::Fifo => std::cmp::Ordering::Equal,
            Policy::Fair => held(a).total_cmp(&held(b)),
        };
        by_share.then(a.submit.cmp(&b.submit)).then(a.user.cmp(&b.user))
    });
    shares.into_iter().map(|share| share.user).collect()
}

/// Delay scheduling by missed offers, as YARN's capacity scheduler counts them (`RegularContainerAllocator`).
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct MissedOffers(u32);

/// Where the containers of a request would be near their input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Wanted {
    /// How many are still asked for.
    pub containers: u32,
    /// Nodes and racks that they name.
    pub places: usize,
}

impl MissedOffers {
    /// Whether an offer may be taken for its rack alone. `delay` is `node-locality-delay`; no more offers than there
    /// are nodes are let pass. The offer itself counts as one (`addSchedulingOpportunity` comes first).
    pub fn takes_rack(self, delay: u32, nodes: usize) -> bool {
        self.with_this() > delay.min(count(nodes))
    }
    /// Whether it may be taken wherever it is: after as many offers as there are requests, weighted by the places that
    /// they name over the nodes (`getLocalityWaitFactor`). In a small cluster that is often the second one.
    pub fn takes_any(self, nodes: usize, wanted: Wanted) -> bool {
        let factor = (wanted.places as f64 / nodes.max(1) as f64).min(1.0);
        let wait = (f64::from(wanted.containers) * factor).min(nodes as f64);
        wanted.places == 0 || f64::from(self.with_this()) > wait
    }
    /// How many were let pass.
    pub fn count(self) -> u32 {
        self.0
    }
    fn with_this(self) -> u32 {
        self.0.saturating_add(1)
    }
    pub fn miss(&mut self) {
        self.0 = self.0.saturating_add(1);
    }
    pub fn assigned(&mut self, locality: Locality) {
        if locality != Locality::Remote {
            self.0 = 0;
        }
    }
}

/// Delay scheduling by time (Zaharia and others, EuroSys 2010), as Hadoop 1's fair scheduler does it: a job waits
/// `delay` for each level of locality that it gives up, and keeps the level until it launches a task nearer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LocalityWait {
    level: Locality,
    since: Option<Time>,
}

impl Default for LocalityWait {
    fn default() -> Self {
        Self { level: Locality::Node, since: None }
    }
}

impl LocalityWait {
    pub fn farthest(&mut self, now: Time, delay: Time) -> Locality {
        let since = *self.since.get_or_insert(now);
        let waited = now.saturating_sub(since);
        let reached = match self.level {
            Locality::Node if waited >= delay * 2 => Locality::Remote,
            Locality::Node if waited >= delay => Locality::Rack,
            Locality::Rack if waited >= delay => Locality::Remote,
            level => level,
        };
        reached.max(self.level)
    }
    pub fn assigned(&mut self, locality: Locality) {
        self.level = locality;
        self.since = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn share(user: usize, submit: u64, used: u64, weight: f64) -> Share {
        Share { user, submit: Time::from_secs(submit), used, weight }
    }

    #[test]
    fn fifo_goes_by_submission_and_fair_by_share() {
        let shares = vec![share(0, 5, 0, 1.0), share(1, 1, 8, 1.0), share(2, 3, 8, 4.0)];
        assert_eq!(order(Policy::Fifo, shares.clone()), [1, 2, 0]);
        assert_eq!(order(Policy::Fair, shares), [0, 2, 1]);
    }

    #[test]
    fn missed_offers_widen_the_search_in_hadoops_order() {
        let after = |missed: u32| {
            let mut offers = MissedOffers::default();
            (0..missed).for_each(|_| offers.miss());
            offers
        };
        // Ten nodes, all of them and their rack named by 30 requests: ten offers pass, whatever the delay.
        let wide = Wanted { containers: 30, places: 11 };
        assert!(!after(9).takes_rack(40, 10) && !after(9).takes_any(10, wide));
        assert!(after(10).takes_rack(40, 10) && after(10).takes_any(10, wide));
        assert!(after(3).takes_rack(3, 10) && !after(2).takes_rack(3, 10));
        // A word count of two maps whose blocks are on three of four nodes, real Hadoop 3.5.0: 2 x 4/4 offers pass; once
        // one map has its container, a single one does.
        assert!(!after(1).takes_any(4, Wanted { containers: 2, places: 4 }));
        assert!(after(2).takes_any(4, Wanted { containers: 2, places: 4 }));
        assert!(after(1).takes_any(4, Wanted { containers: 1, places: 3 }));
        // Two maps of objects on two nodes name `localhost` and the rack: the third offer is taken for the rack, and
        // then for the other map the second one, for any place, as the ResourceManager of 3.5.0 logs it.
        let objects = |containers: u32| Wanted { containers, places: 2 };
        assert!(!after(1).takes_rack(40, 2) && !after(1).takes_any(2, objects(2)));
        assert!(after(2).takes_rack(40, 2));
        assert!(!after(0).takes_any(2, objects(1)));
        assert!(after(1).takes_any(2, objects(1)) && !after(1).takes_rack(40, 2));
        let mut offers = after(5);
        offers.assigned(Locality::Remote);
        assert!(offers.takes_rack(3, 10), "a container far away does not start the count anew");
        offers.assigned(Locality::Node);
        assert!(!offers.takes_rack(3, 10));
    }

    #[test]
    fn waiting_gives_up_one_level_per_delay() {
        let mut wait = LocalityWait::default();
        let delay = Time::from_secs(5);
        let at = |s: u64| Time::from_secs(100 + s);
        assert_eq!(wait.farthest(at(0), delay), Locality::Node);
        assert_eq!(wait.farthest(at(4), delay), Locality::Node);
        assert_eq!(wait.farthest(at(5), delay), Locality::Rack);
        assert_eq!(wait.farthest(at(10), delay), Locality::Remote);
        wait.assigned(Locality::Rack);
        assert_eq!(wait.farthest(at(11), delay), Locality::Rack);
        assert_eq!(wait.farthest(at(16), delay), Locality::Remote);
        wait.assigned(Locality::Node);
        assert_eq!(wait.farthest(at(17), delay), Locality::Node);
    }
}
