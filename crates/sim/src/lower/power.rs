//! Power of disks: profiles, policies and limits as `storage::power` has them.

use scenario::{DriveProfile, Power, PowerPolicy, RestDepth, StartCost};
use storage::power::{Budget, DRIVES, Depth, Drive, Policy, Profile, Rest, Settings, StartEstimate, Transition};
use units::{Energy, Power as Watts, Time};

/// Something wrong: the key below `[power]`, what, and what would be right.
pub type Wrong = (&'static str, String, String);

/// The profiles of a primary and of a backup disk; `None` where a scenario says nothing of its drives.
pub fn profiles(power: &Power) -> Result<Option<(Profile, Profile)>, Wrong> {
    let estimate = match power.start {
        StartCost::Typical => StartEstimate::Typical,
        StartCost::Worst => StartEstimate::Worst,
    };
    let named = |key: &'static str, name: &str| {
        Drive::named(name).map(|drive| drive.profile(estimate)).ok_or_else(|| {
            let names: Vec<_> = DRIVES.iter().map(|drive| drive.name).collect();
            let help = match units::nearest(name, names.iter().copied()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("one of: {}", names.join(", ")),
            };
            (key, format!("`{name}` is not a drive here"), help)
        })
    };
    let primary = match (&power.profile, &power.drive) {
        (Some(_), Some(_)) => {
            return Err(("profile", "a drive by name and a profile are given".to_owned(), "one of them".to_owned()));
        }
        (Some(own), None) => {
            let profile = own_profile(own);
            let help = "idle at most as much as active, each deeper state at most as much as the one above";
            profile.check().map_err(|error| ("profile", error.to_string(), help.to_owned()))?;
            Some(profile)
        }
        (None, Some(name)) => Some(named("drive", name)?),
        (None, None) => None,
    };
    let backup = power.backup_drive.as_ref().map(|name| named("backup-drive", name)).transpose()?;
    match (primary, backup) {
        (Some(primary), backup) => Ok(Some((primary, backup.unwrap_or(primary)))),
        (None, None) => Ok(None),
        (None, Some(_)) => {
            let message = "backup disks have a drive, and primary disks have none";
            Err(("backup-drive", message.to_owned(), "`drive` or `profile` for the primary disks".to_owned()))
        }
    }
}

/// The policy and its limits.
pub fn settings(power: &Power) -> Settings {
    let policy = match power.policy {
        PowerPolicy::AlwaysOn => Policy::AlwaysOn,
        PowerPolicy::Timeout => Policy::Timeout(power.timeout),
        PowerPolicy::Adaptive => Policy::Adaptive,
        PowerPolicy::AsPrinted => Policy::AsPrinted,
        PowerPolicy::Predicted => Policy::Predicted { margin: power.margin },
        PowerPolicy::ByPhase => Policy::Phased { timeout: power.timeout },
        PowerPolicy::Gears => Policy::Gears,
    };
    Settings {
        policy,
        primaries: depth(power.primaries),
        backups: depth(power.backups),
        spin_ups: Budget::per_day(power.spin_ups),
        loads: Budget::per_day(power.loads),
        stagger: power.stagger,
    }
}

/// What is wrong with the keys together.
pub fn wrong(power: &Power) -> Option<Wrong> {
    if let Err(wrong) = profiles(power) {
        return Some(wrong);
    }
    let error = settings(power).check().err()?;
    let standby = [power.primaries, power.backups].contains(&RestDepth::Standby);
    let key = if standby && power.spin_ups < 2 { "spin-ups" } else { "loads" };
    Some((key, error.to_string(), "2 or more, or depths and a policy that need none".to_owned()))
}

const fn depth(depth: RestDepth) -> Option<Depth> {
    match depth {
        RestDepth::Never => None,
        RestDepth::IdleB => Some(Depth::IdleB),
        RestDepth::IdleC => Some(Depth::IdleC),
        RestDepth::Standby => Some(Depth::Standby),
    }
}

fn own_profile(own: &DriveProfile) -> Profile {
    let up = |time: Time, energy: Option<Energy>, power: Watts| Transition {
        time,
        energy: energy.unwrap_or_else(|| power.over(time)),
    };
    let light = |power: Option<Watts>, time: Time, energy: Option<Energy>| {
        Some(Rest { power: power?, down: Transition::default(), up: up(time, energy, own.read) })
    };
    let standby = own.standby.map(|power| Rest {
        power,
        down: up(own.spin_down_time, own.spin_down_energy, power),
        up: up(own.spin_up_time, own.spin_up_energy, own.read),
    });
    Profile {
        read: own.read,
        write: own.write,
        idle: own.idle,
        rests: [
            light(own.idle_b, own.idle_b_time, None),
            light(own.idle_c, own.idle_c_time, own.idle_c_energy),
            standby,
        ],
        start_limit: None,
        load_limit: None,
    }
}
