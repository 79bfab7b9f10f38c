//! Whether a plan pays, and what it costs where nodes are loaded unevenly.

use crate::asked::{Asked, combines};
use placement::{CAP, KeyRule, Layout, PairCount, Planned, Profile, Saving};

/// Whether placement pays.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// After so many runs, in bytes.
    Pays(u64),
    /// It does not, because of this.
    No(String),
}

/// The fullest node has more than [`CAP`] times its share, and maps of a run that follow their data wait for it.
#[derive(Clone, Debug, PartialEq)]
pub struct Uneven {
    /// Why, and what would help.
    pub why: String,
    /// A node's maps must take more bytes a second than this: below, the fullest node's maps last longer by more than
    /// the network saves. None where nothing is saved.
    pub maps_above: Option<f64>,
}

impl Uneven {
    pub(crate) fn of(
        asked: &Asked,
        profile: &Profile<KeyRule>,
        placed: &Planned,
        saving: &Saving,
        stored: f64,
        by_hash: f64,
    ) -> Option<Self> {
        if placed.imbalance <= CAP {
            return None;
        }
        let plan = &placed.plan;
        let (nodes, buckets) = (plan.nodes().len(), plan.bucketing().buckets() as usize);
        let loads = plan.loads();
        let idle = loads.iter().filter(|load| **load == 0).count();
        let share = loads.iter().sum::<u64>() as f64 / nodes as f64;
        let heavy = || profile.heaviest().into_iter().filter(|key| key.least as f64 > share * CAP);
        let why = if buckets < nodes {
            format!(
                "{buckets} buckets are fewer than {nodes} nodes, of which {idle} have nothing to process, though \
                 natively all run maps: --buckets {nodes} or more, and as many reducers, use all"
            )
        } else if let Some(key) = heavy().next().filter(|_| !asked.combiner) {
            let name: String = String::from_utf8_lossy(&key.key).chars().filter(|c| !c.is_control()).take(24).collect();
            let part = |bytes: f64| 100.0 * bytes / (share * nodes as f64);
            let others = heavy().count() - 1;
            let others = if others > 0 { format!(", and {others} more,") } else { String::new() };
            format!(
                "key {name} ({:.1} %){others} is more than a node's share ({:.1} %), and one reducer gets all of it, \
                 placed or not. It can be split {}if the key is made of two columns",
                part(key.least as f64),
                part(share),
                if combines(plan.bucketing().hash()) { "if the job has a combiner (--combiner), or " } else { "" }
            )
        } else {
            format!("{buckets} buckets do not spread evenly over {nodes} nodes: more --buckets do")
        };
        // The fullest node's maps read what is above its share at their rate. The reducer that gets most natively waits
        // for the network; of what a combiner leaves all reducers get about as much.
        let longest = if asked.combiner { 1.0 } else { by_hash };
        let saved = longest * saving.saved();
        let rate = asked.rate.as_bps() as f64 / 8.0;
        let maps_above = (saved > 0.0).then(|| rate * (placed.imbalance - 1.0) * stored / saved);
        Some(Self { why, maps_above })
    }
}

pub(crate) fn judge(
    asked: &Asked,
    profile: &Profile<KeyRule>,
    saving: &Saving,
    pairs: Option<&PairCount>,
    nodes: usize,
) -> Verdict {
    /// Records with this many keys on average have a few exceptions at most.
    const ONE: f64 = 1.01;
    /// Whole records of several keys that save less than this leave most to a layout key by key.
    const MUCH: f64 = 0.5;
    if nodes < 2 {
        return Verdict::No("one node exchanges nothing with itself".to_owned());
    }
    let keys = profile.keys_per_record();
    if asked.layout == Layout::Whole && keys > ONE && saving.share() < MUCH {
        let removed = pairs.map_or(0.0, PairCount::removed_by_rarest) * 100.0;
        return Verdict::No(format!(
            "a record has {keys:.1} keys and can stand with one of them. Whole records by their first key save {:.1} % \
             of the exchange; after a combiner, by their rarest key, {}. {}",
            saving.share() * 100.0,
            if removed < 0.0 {
                format!("they add {:.0} % to its pairs", -removed)
            } else {
                format!("they save {removed:.0} % of its pairs at best")
            },
            match asked.value {
                None => "--layout split gives each key a copy of the record",
                Some(_) =>
                    "--layout projected keeps the keys alone, of which a job makes its values; --layout split \
                            gives each key a record of its own with its value",
            }
        ));
    }
    match saving.runs {
        None => Verdict::No("a run exchanges no less with it".to_owned()),
        Some(_) if saving.share() < 0.01 => {
            Verdict::No(format!("it saves {:.1} % of the exchange, which no run would show", saving.share() * 100.0))
        }
        Some(runs) => Verdict::Pays(runs),
    }
}
