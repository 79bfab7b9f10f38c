//! Key-aware placement: records stand on the node that will reduce their key, so that the shuffle stays local
//! (Yang 2012, chapter 3).
//!
//! Pure code: no file, socket, clock or thread. [`Records`] cuts a stream of bytes into records, a [`KeyRule`] finds
//! the keys of each, a [`Bucketing`] asks the engine's own hash for the bucket, a [`Profile`] counts in bounded memory,
//! and [`Plan`] puts buckets on groups of nodes. [`Saving`] says what a job would then save, and what it costs.

mod combined;
mod distinct;
mod distribute;
mod filled;
mod hash;
mod histogram;
mod json;
mod key;
mod law;
mod layout;
mod nodes;
mod pairs;
mod pattern;
mod per_record;
mod place;
mod plan;
mod plan_text;
mod profile;
mod queues;
mod recent;
mod record;
mod saving;
mod value;
mod words;

pub use combined::{Combined, Combiner, pairs_of_a_key};
pub use distinct::Distinct;
pub use distribute::{Distributor, Packed, node_of_record};
pub use filled::Filled;
pub use hash::{Bucketing, BucketingError, Engine, Hash, python_hash_of_text};
pub use histogram::{CountMin, HeavyKey, HeavyKeys, sketch_hash};
pub use key::{Hint, KeyRule, KeyRuleError, Keys};
pub use law::{KeyClass, KeyClasses, KeyLaw};
pub use layout::{Redistribution, Repair, SecondLayout};
pub use nodes::{Node, NodesError, parse_nodes};
pub use pairs::{PairCount, PairSample};
pub use pattern::Pattern;
pub use per_record::KeysPerRecord;
pub use place::{CAP, Group, Item, Placed, place, replace};
pub use plan::{Part, Plan, PlanError, Planned, SplitKey};
pub use plan_text::PLAN_VERSION;
pub use profile::{Layout, Profile, ScanError};
pub use queues::{Import, ImportCost, Queues};
pub use record::{Records, TooLong, each_line};
pub use saving::{Exchange, Saving, best_host_share};
pub use value::{KeyType, Value, write_decimal};
