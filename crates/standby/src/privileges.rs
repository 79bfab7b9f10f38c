//! Gives up the rights that no driver needs.

use nix::unistd::{Gid, Uid, User, geteuid, setgid, setgroups, setuid};
use rustix::thread::{
    CapabilitySet, CapabilitySets, capability_is_in_bounding_set, configure_capability_in_ambient_set,
    remove_capability_from_bounding_set, set_capabilities, set_keep_capabilities, set_no_new_privs,
};
use std::fmt::Display;

/// What stays.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(crate) struct Needs {
    /// CAP_SYS_RAWIO, without which the kernel passes on no ATA command.
    pub(crate) raw: bool,
    /// Groups that the disks' nodes belong to.
    pub(crate) groups: Vec<u32>,
    /// The user's own programs, which may need anything of what the daemon was started with.
    pub(crate) unknown: bool,
}

/// The user that a name or a number stands for.
pub(crate) fn user(name: &str) -> Result<(Uid, Option<Gid>), String> {
    if let Ok(number) = name.parse::<u32>() {
        let uid = Uid::from_raw(number);
        return Ok((uid, User::from_uid(uid).ok().flatten().map(|user| user.gid)));
    }
    match User::from_name(name) {
        Ok(Some(user)) => Ok((user.uid, Some(user.gid))),
        Ok(None) => Err(format!("there is no user `{name}` on this machine")),
        Err(error) => Err(format!("the user `{name}` cannot be looked up: {error}")),
    }
}

/// Gives up what is not needed; as another user, where one is given and this is root.
pub(crate) fn drop(to: Option<(Uid, Option<Gid>)>, needs: &Needs) -> Result<(), String> {
    if geteuid().is_root() {
        let kept = if needs.raw { CapabilitySet::SYS_RAWIO } else { CapabilitySet::empty() };
        // A root that runs programs which nobody knows keeps what they may need.
        if to.is_some() || !needs.unknown {
            limit(kept)?;
        }
        if let Some((uid, gid)) = to {
            become_user(uid, gid, needs, kept)?;
        } else if !needs.unknown {
            set_capabilities(None, CapabilitySets { effective: kept, permitted: kept, inheritable: kept })
                .map_err(failed("capset"))?;
        }
    }
    // No program that is run from here has more rights than this one.
    set_no_new_privs(true).map_err(failed("PR_SET_NO_NEW_PRIVS"))
}

/// What no program that is started from here can have.
fn limit(kept: CapabilitySet) -> Result<(), String> {
    for number in 0..u64::BITS {
        let one = CapabilitySet::from_bits_retain(1 << number);
        // The kernel knows fewer; it says so of the first that it does not.
        let Ok(there) = capability_is_in_bounding_set(one) else { break };
        if there && !kept.contains(one) {
            remove_capability_from_bounding_set(one).map_err(failed("PR_CAPBSET_DROP"))?;
        }
    }
    Ok(())
}

fn become_user(uid: Uid, gid: Option<Gid>, needs: &Needs, kept: CapabilitySet) -> Result<(), String> {
    let Some(gid) = gid else { return Err(format!("user {uid} is not in the list of users: it has no group")) };
    set_keep_capabilities(true).map_err(failed("PR_SET_KEEPCAPS"))?;
    let groups: Vec<Gid> = needs.groups.iter().map(|group| Gid::from_raw(*group)).collect();
    setgroups(&groups).map_err(failed("setgroups"))?;
    setgid(gid).map_err(failed("setgid"))?;
    setuid(uid).map_err(failed("setuid"))?;
    set_capabilities(None, CapabilitySets { effective: kept, permitted: kept, inheritable: kept })
        .map_err(failed("capset"))?;
    if needs.raw {
        configure_capability_in_ambient_set(CapabilitySet::SYS_RAWIO, true).map_err(failed("PR_CAP_AMBIENT"))?;
    }
    Ok(())
}

fn failed<E: Display>(what: &'static str) -> impl Fn(E) -> String {
    move |error| format!("rights cannot be given up: {what}: {error}")
}
