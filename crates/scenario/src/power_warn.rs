//! Settings of disks' power that would do nothing.
//!
//! A policy that is set to `always-on` is the yardstick of the others, and may keep what these heed.

use super::check::Check;
use super::{Disk, Power, PowerPolicy, RestDepth};

/// Keys of `[power]` that say how disks rest.
const OF_RESTS: [&str; 7] = ["timeout", "margin", "spin-ups", "loads", "primaries", "backups", "guard"];

/// Says what of disks' power a scenario sets in vain.
pub(super) fn warn(check: &mut Check<'_>) {
    check.idle_chores();
    if let Some(power) = &check.scenario.power {
        check.no_failing_disk(power);
        check.idle_policy(power);
        check.idle_backups(power);
        check.idle_profile(power);
    }
}

impl<'a> Check<'a> {
    fn disks(&self) -> impl Iterator<Item = &'a Disk> + use<'a> {
        self.scenario.described().into_iter().flat_map(|(_, node)| &node.disk)
    }
    fn sets(&self, key: &str) -> bool {
        self.tree.get(&format!("power.{key}")).is_some()
    }
    fn idle(&mut self, key: &str, why: &str, help: &str) {
        if self.sets(key) {
            self.says(&format!("power.{key}"), format!("it has no effect: {why}"), help);
        }
    }

    /// A rate of disks that are expected to fail which no disk has.
    fn no_failing_disk(&mut self, power: &Power) {
        let Some(least) = power.failing_rate else { return };
        if !self.disks().any(|disk| disk.failure_rate.is_some_and(|rate| rate >= least)) {
            let help = "`failure-rate` of [[node.disk]], or a lower rate here";
            self.idle("failing-rate", "no disk has such a `failure-rate`", help);
        }
    }

    /// What the policy does not look at.
    fn idle_policy(&mut self, power: &Power) {
        if !self.sets("policy") {
            for key in OF_RESTS {
                self.idle(key, "no disk rests, as `policy` is left out", "a `policy`, or leave it out");
            }
        }
        if power.policy == PowerPolicy::AlwaysOn {
            return;
        }
        let policy = power.policy.word();
        if !matches!(power.policy, PowerPolicy::Timeout | PowerPolicy::ByPhase) {
            let why = format!("policy `{policy}` takes no idle time");
            self.idle("timeout", &why, "policy `timeout` or `by-phase`, or leave it out");
        }
        if power.policy != PowerPolicy::Predicted {
            let why = format!("policy `{policy}` predicts nothing");
            self.idle("margin", &why, "policy `predicted`, or leave it out");
        }
        if ![power.primaries, power.backups].contains(&RestDepth::Standby) {
            self.idle("spin-ups", "no disk may stop its motor", "`standby` as a depth, or leave it out");
        }
    }

    /// What is about backup disks, or what they hold, where there is none.
    fn idle_backups(&mut self, power: &Power) {
        if !self.disks().any(Disk::is_backup) {
            for key in ["backups", "backup-drive", "guard"] {
                let help = "`role = \"backup\"` of [[node.disk]], or leave it out";
                self.idle(key, "no disk holds further replicas alone", help);
            }
        } else if self.scenario.hdfs.replication == 1 && power.policy != PowerPolicy::AlwaysOn {
            let message = "backup disks are at rest because they hold nothing: there are no further replicas";
            self.says("hdfs.replication", message, "2 or more");
        }
    }

    /// Figures of a drive's moves out of depths that it does not have, and estimates of what is known.
    fn idle_profile(&mut self, power: &Power) {
        let Some(profile) = &power.profile else { return };
        for (depth, there, keys) in [
            ("idle-b", profile.idle_b.is_some(), &["idle-b-time"][..]),
            ("idle-c", profile.idle_c.is_some(), &["idle-c-time", "idle-c-energy"]),
            (
                "standby",
                profile.standby.is_some(),
                &["spin-up-time", "spin-up-energy", "spin-down-time", "spin-down-energy"],
            ),
        ] {
            for key in keys.iter().filter(|_| !there) {
                let why = format!("the profile has no `{depth}`");
                self.idle(&format!("profile.{key}"), &why, "what it draws there, or leave it out");
            }
        }
        if power.backup_drive.is_none() && self.disks().all(|disk| disk.drive.is_none()) {
            self.idle("start", "the profile says what a start costs", "leave it out");
        }
    }

    /// Windows in which nothing is done, logs that stand in for no disk, and work that is none.
    fn idle_chores(&mut self) {
        let storage = &self.scenario.storage;
        if storage.window.is_some() && !storage.offload && storage.background.iter().all(|work| !work.deferrable) {
            let message = "it has no effect: nothing waits for a window";
            self.says("storage.window", message, "`storage.offload`, or [[storage.background]] that is `deferrable`");
        }
        if storage.offload && !self.disks().any(Disk::is_backup) {
            let message = "it has no effect: no disk holds further replicas alone";
            self.says("storage.offload", message, "`role = \"backup\"` of [[node.disk]]");
        }
        for (number, _) in storage.background.iter().enumerate().filter(|(_, work)| work.bytes.get() == 0) {
            let message = "it has no effect: work that reads nothing asks no disk";
            self.says(&format!("storage.background.{number}.bytes"), message, "what it reads, \"1 MiB\" say");
        }
    }
}
