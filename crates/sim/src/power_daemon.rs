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
    let own = &daemon.power;
    let mut found = Vec::new();
    let mut says = |key: &str, message: String, help: &str| {
        found.push((format!("power.{key}"), message, help.to_owned()));
    };
    if let Some((key, message, help)) = power::wrong(own).or_else(|| power::wrong_guard(own)) {
        says(key, message, &help);
    } else if own.policy == PowerPolicy::AlwaysOn {
    } else if own.primaries != RestDepth::Never {
        says("primaries", "the daemon puts backup disks to rest alone".to_owned(), "leave it out");
    } else if own.backups != RestDepth::Standby {
        let message = format!("the daemon puts disks into standby, not into `{}`", own.backups.word());
        says("backups", message, "\"standby\", or the policy `always-on`");
    } else if lower(daemon).is_none() {
        let help = "`drive` or `profile`: when a rest pays, and how long a start takes, depends on it";
        says("drive", "nothing is said of what the disks draw".to_owned(), help);
    } else if lower(daemon).is_some_and(|power| power.profile.rest(Depth::Standby).is_none()) {
        says("drive", "this drive has no standby".to_owned(), "another drive, or `profile.standby`");
    }
    found
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
