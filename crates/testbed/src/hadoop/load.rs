//! What a cluster takes of its host, and what else the host does: processor time and disk traffic, sampled.

use super::running::{Place, Running};
use nix::unistd::{SysconfVar, sysconf};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::time::{SystemTime, UNIX_EPOCH};

/// Counters at one moment.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Sample {
    /// Milliseconds since 1970, as histories count.
    pub at_ms: u64,
    /// Seconds of processors spent by all programs and the kernel since boot.
    pub host_s: f64,
    /// Seconds that the host's own host has taken since boot.
    pub steal_s: f64,
    /// What the cluster has spent since it came up, by host and role.
    pub cluster: Vec<Share>,
}

/// What the processes of one role have taken.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Share {
    /// The host; empty for what is on none.
    pub host: String,
    /// The role: a daemon's kind (a NodeManager's counts its tasks, a Spark Worker's its executors), "client", or
    /// "supervisor", which emulates links.
    pub role: String,
    /// Seconds of processors.
    pub cpu_s: f64,
    /// Bytes read from disks.
    pub read: u64,
    /// Bytes written to disks, or to be.
    pub written: u64,
}

/// The load between two samples.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Load {
    /// Seconds between them.
    pub length_s: f64,
    /// Seconds of processors that the cluster spent.
    pub cluster_s: f64,
    /// Seconds of processors that everything else spent.
    pub other_s: f64,
    /// Seconds that the host's own host took.
    pub steal_s: f64,
}

/// Milliseconds since 1970.
#[expect(clippy::disallowed_methods, reason = "histories of real jobs have real times")]
pub fn now_ms() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as u64)
}

impl Sample {
    /// The counters now. This process and those that it has waited for count as the cluster's client.
    pub fn take(cluster: &Running) -> io::Result<Self> {
        let stat = fs::read_to_string("/proc/stat")?;
        let (host_s, steal_s) = busy(&stat).ok_or_else(|| io::Error::other("/proc/stat has no line cpu"))?;
        let mut shares: BTreeMap<Place, Share> = BTreeMap::new();
        let own = Place { host: cluster.ready.hosts[0].name.clone(), role: "client".to_owned() };
        let mut all = cluster.processes()?;
        all.push((std::process::id(), own));
        for (pid, mut place) in all {
            if place.role == "tasks" {
                // A task that has ended counts with the daemon that waited for it.
                cluster.engine().parent_of_tasks().name().clone_into(&mut place.role);
            }
            let file = |name: &str| fs::read_to_string(format!("/proc/{pid}/{name}")).unwrap_or_default();
            // One that has ended meanwhile counts with its parent.
            let cpu = spent(&file("stat")).unwrap_or(0.0);
            let (read, written) = disk(&file("io"));
            let share = shares.entry(place.clone()).or_insert(Share {
                host: place.host,
                role: place.role,
                cpu_s: 0.0,
                read: 0,
                written: 0,
            });
            share.cpu_s += cpu;
            share.read += read;
            share.written += written;
        }
        Ok(Self { at_ms: now_ms(), host_s, steal_s, cluster: shares.into_values().collect() })
    }

    fn cluster_s(&self) -> f64 {
        self.cluster.iter().map(|share| share.cpu_s).sum()
    }

    /// What each role has taken since an earlier sample.
    pub fn since(&self, before: &Self) -> Vec<Share> {
        let then = |share: &Share| before.cluster.iter().find(|b| (&b.host, &b.role) == (&share.host, &share.role));
        let difference = |share: &Share| match then(share) {
            None => share.clone(),
            Some(then) => Share {
                cpu_s: (share.cpu_s - then.cpu_s).max(0.0),
                read: share.read.saturating_sub(then.read),
                written: share.written.saturating_sub(then.written),
                ..share.clone()
            },
        };
        self.cluster.iter().map(difference).collect()
    }
}

impl Load {
    /// The load from one moment to another, milliseconds since 1970: between the samples nearest to them.
    pub fn between(samples: &[Sample], from_ms: u64, to_ms: u64) -> Option<Self> {
        let nearest = |ms: u64| samples.iter().min_by_key(|sample| sample.at_ms.abs_diff(ms));
        let (first, last) = (nearest(from_ms)?, nearest(to_ms)?);
        if last.at_ms <= first.at_ms {
            return None;
        }
        let cluster_s = (last.cluster_s() - first.cluster_s()).max(0.0);
        Some(Self {
            length_s: (last.at_ms - first.at_ms) as f64 / 1e3,
            cluster_s,
            other_s: (last.host_s - first.host_s - cluster_s).max(0.0),
            steal_s: last.steal_s - first.steal_s,
        })
    }
}

fn tick() -> f64 {
    sysconf(SysconfVar::CLK_TCK).ok().flatten().unwrap_or(100) as f64
}

/// Of the line `cpu`: user, nice, system, idle, iowait, irq, softirq, steal. Guests count as users already.
fn busy(stat: &str) -> Option<(f64, f64)> {
    let line = stat.lines().find_map(|line| line.strip_prefix("cpu "))?;
    let fields: Vec<f64> = line.split_ascii_whitespace().map_while(|field| field.parse().ok()).collect();
    let at = |index: usize| fields.get(index).copied().unwrap_or(0.0) / tick();
    Some(([0, 1, 2, 5, 6].into_iter().map(at).sum(), at(7)))
}

/// Processor time of a process and of the children that it has waited for: fields 14 to 17 of its `stat`, counted from
/// the end of its name, which may hold anything.
fn spent(stat: &str) -> Option<f64> {
    let fields = stat.rsplit_once(')')?.1.split_ascii_whitespace();
    Some(fields.skip(11).take(4).filter_map(|field| field.parse::<f64>().ok()).sum::<f64>() / tick())
}

/// Bytes read and written by a process and the children that it has waited for.
fn disk(io: &str) -> (u64, u64) {
    let field = |name: &str| {
        io.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": ")?.trim().parse().ok()).unwrap_or(0)
    };
    (field("read_bytes"), field("write_bytes"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_are_read_as_the_kernel_writes_them() {
        // proc(5): user nice system idle iowait irq softirq steal guest guest_nice, in ticks of 10 ms.
        let (busy, steal) = busy("cpu  100 20 30 9000 400 5 6 70 0 0\ncpu0 1 1 1\n").expect("a line");
        assert!((busy - 1.61).abs() < 1e-9 && (steal - 0.7).abs() < 1e-9, "{busy} {steal}");
        let stat = "17 (a ) name) S 1 17 17 0 -1 4194560 100 200 0 0 150 50 1000 300 20 0 30 0 55 1 2 3";
        assert!((spent(stat).expect("fields") - 15.0).abs() < 1e-9);
        assert_eq!(disk("rchar: 9\nread_bytes: 4096\nwrite_bytes: 8192\ncancelled_write_bytes: 1\n"), (4_096, 8_192));
    }

    #[test]
    fn what_others_spend_is_the_host_s_less_the_cluster_s() {
        let sample = |at_ms, host_s, cpu_s| Sample {
            at_ms,
            host_s,
            steal_s: 0.0,
            cluster: vec![Share { host: "m".to_owned(), role: "client".to_owned(), cpu_s, read: 0, written: 0 }],
        };
        let samples = [sample(1_000, 10.0, 1.0), sample(2_000, 12.0, 2.5), sample(3_000, 14.0, 4.0)];
        let load = Load::between(&samples, 900, 2_100).expect("two samples");
        assert_eq!((load.length_s, load.cluster_s, load.other_s), (1.0, 1.5, 0.5));
        assert_eq!(Load::between(&samples, 900, 1_100), None);
        assert_eq!(samples[2].since(&samples[0])[0].cpu_s, 3.0);
    }
}
