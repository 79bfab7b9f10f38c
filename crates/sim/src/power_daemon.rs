//! The power of real disks under `trunkline power daemon`: the same policies, as a scenario's.

use crate::lower::power;
use scenario::{Contradiction, PowerDaemon, PowerPolicy, RestDepth};
use storage::power::{Depth, GuardSpec, Profile, Settings};

/// What a daemon's policies need.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct DaemonPower {
    /// The policy and its limits.
    pub settings: Settings,
    /// The backup disks' drive. Its states above standby, which no driver of the daemon reaches, are left out.
    pub profile: Profile,
    /// When writes are many, where it matters.
    pub guard: Option<GuardSpec>,
}

/// What an engine finds wrong with a configuration: the key, what, and what would be right.
pub fn check(daemon: &PowerDaemon) -> Vec<Contradiction> {
    let found = wrong(daemon).map(|(key, message, help)| (format!("power.{key}"), message, help));
    found.into_iter().collect()
}

fn wrong(daemon: &PowerDaemon) -> Option<(&'static str, String, String)> {
    let own = &daemon.power;
    let found = power::wrong(own).or_else(|| power::wrong_guard(own));
    if found.is_some() || own.policy == PowerPolicy::AlwaysOn {
        return found;
    }
    let says = |key, message: &str, help: &str| Some((key, message.to_owned(), help.to_owned()));
    if own.primaries != RestDepth::Never {
        return says("primaries", "the daemon puts backup disks to rest alone", "leave it out");
    }
    if own.failing_rate.is_some() {
        let help = "leave it out; `trunkline power tell` says that a disk is expected to fail";
        return says("failing-rate", "the daemon knows no disk's failure rate", help);
    }
    if own.backups != RestDepth::Standby {
        let message = format!("the daemon puts disks into standby, not into `{}`", own.backups.word());
        return says("backups", &message, "\"standby\", or the policy `always-on`");
    }
    let Some(lowered) = lower(daemon) else {
        let help = "`drive` or `profile`: when a rest pays, and how long a start takes, depends on it";
        return says("drive", "nothing is said of what the disks draw", help);
    };
    if lowered.profile.rest(Depth::Standby).is_none() {
        return says("drive", "this drive has no standby", "another drive, or `profile.standby`");
    }
    None
}

/// As the daemon has it; `None` where nothing is said of the drive, which `check` refuses but of disks that never rest.
pub fn lower(daemon: &PowerDaemon) -> Option<DaemonPower> {
    let (settings, guard) = (power::settings(&daemon.power), power::guard(&daemon.power));
    let (_, mut profile) = power::profiles(&daemon.power).ok()??;
    for depth in [Depth::IdleB, Depth::IdleC] {
        profile.rests[depth.index()] = None;
    }
    Some(DaemonPower { settings, profile, guard })
}

#[cfg(test)]
mod tests {
    use super::*;
    use storage::power::Policy;

    #[test]
    fn what_the_daemon_cannot_do_is_refused() {
        let parse = |power: &str| {
            let text = format!("[power]\n{power}\n[[disk]]\nname = \"a\"\n");
            PowerDaemon::parse("d.toml", &text, check).map_err(|error| error.to_string())
        };
        let right = parse("policy = \"adaptive\"\ndrive = \"constellation-es3-4tb\"").unwrap();
        let power = lower(&right).unwrap();
        assert_eq!((power.settings.policy, power.profile.rests[0]), (Policy::Adaptive, None));
        assert!(power.profile.rest(Depth::Standby).is_some());
        for (keys, expected) in [
            ("policy = \"timeout\"", "nothing is said of what the disks draw"),
            ("policy = \"timeout\"\ndrive = \"constellation\"", "`constellation` is not a drive here"),
            ("policy = \"timeout\"\ndrive = \"as-printed\"", "this drive has no standby"),
            ("policy = \"timeout\"\ndrive = \"diamondmax-21\"\nspin-ups = 1", "the wear budget has nothing for it"),
            ("policy = \"timeout\"\ndrive = \"diamondmax-21\"\nbackups = \"idle-c\"", "not into `idle-c`"),
            ("policy = \"timeout\"\ndrive = \"diamondmax-21\"\nprimaries = \"standby\"", "backup disks to rest alone"),
            ("policy = \"timeout\"\ndrive = \"diamondmax-21\"\nfailing-rate = 0.1", "knows no disk's failure rate"),
            (
                "policy = \"timeout\"\ndrive = \"diamondmax-21\"\nguard = { on = \"1 Mbit/s\", off = \"2 Mbit/s\" }",
                "the two would alternate",
            ),
        ] {
            let error = parse(keys).unwrap_err();
            assert!(error.contains(expected), "{keys}: {error}");
        }
    }
}
