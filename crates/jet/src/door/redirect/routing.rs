//! The routes that TPROXY needs: packets with a mark are delivered locally although they are for others.

use std::process::{Command, Output};

use super::DoorError;
use super::life::Life;
use super::rules::Site;

/// A rule and a route for each address family. They outlast a killed process, but are idle then, because nothing sets
/// their mark. The next installation removes them.
#[derive(Debug)]
pub struct Routing {
    instance: u16,
    #[expect(dead_code, reason = "tells others that this instance is alive")]
    life: Life,
}

const FAMILIES: [&str; 2] = ["-4", "-6"];

impl Routing {
    pub fn install(site: &Site) -> Result<Self, DoorError> {
        let instance = site.instance;
        for stale in instances() {
            // A live process holds its name, and the kernel frees the name however the process ends.
            if name(stale).is_some() {
                remove(stale);
            }
        }
        let taken =
            || DoorError::Redirection(format!("another process is instance {instance} of this host's redirections"));
        let routing = Self { instance, life: name(instance).ok_or_else(taken)? };
        // The routing table's number is the mark.
        let mark = Site::mark(instance).to_string();
        for (family, _) in FAMILIES.into_iter().zip([site.tcp.v4, site.tcp.v6]).filter(|(_, port)| port.is_some()) {
            ip(&[family, "rule", "add", "fwmark", &mark, "lookup", &mark])?;
            ip(&[family, "route", "add", "local", "default", "dev", "lo", "table", &mark])?;
        }
        Ok(routing)
    }
}

impl Drop for Routing {
    fn drop(&mut self) {
        remove(self.instance);
    }
}

/// The instance's name, unless another process holds it.
fn name(instance: u16) -> Option<Life> {
    Life::hold(&instance.to_string())
}

fn remove(instance: u16) {
    let mark = Site::mark(instance).to_string();
    for family in FAMILIES {
        let _ = ip(&[family, "rule", "del", "fwmark", &mark, "lookup", &mark]);
        let _ = ip(&[family, "route", "flush", "table", &mark]);
    }
}

/// The instances that have rules.
fn instances() -> Vec<u16> {
    // A host without IPv6 has no rules for it.
    let rules = FAMILIES.iter().filter_map(|family| ip(&[family, "rule", "list"]).ok());
    let mut instances: Vec<_> = rules.flat_map(|rules| listed(&String::from_utf8_lossy(&rules.stdout))).collect();
    instances.sort_unstable();
    instances.dedup();
    instances
}

/// The instances in what `ip rule list` prints.
fn listed(rules: &str) -> Vec<u16> {
    let instance = |rule: &str| {
        let mark = rule.split("fwmark 0x").nth(1)?.split([' ', '/']).next()?;
        let mark = u32::from_str_radix(mark, 16).ok()?;
        let instance = mark as u16;
        (instance != 0 && Site::mark(instance) == mark).then_some(instance)
    };
    rules.lines().filter_map(instance).collect()
}

fn ip(arguments: &[&str]) -> Result<Output, DoorError> {
    let lacking = |needs, cause: String| DoorError::Capability { what: "TPROXY", needs, cause };
    let output = Command::new("ip")
        .args(arguments)
        .output()
        .map_err(|cause| lacking("ip (Debian: iproute2)", cause.to_string()))?;
    if output.status.success() {
        return Ok(output);
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(lacking("CAP_NET_ADMIN and policy routing", format!("ip {}: {}", arguments.join(" "), said.trim())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instances_are_told_by_their_marks() {
        let rules = "0:\tfrom all lookup local\n32764:\tfrom all fwmark 0x4a450fa1 lookup 1246039969\n32765:\tfrom all fwmark 0x4a450000 lookup 9\n\
                     32766:\tfrom all fwmark 0x64 lookup main\n32767:\tfrom all fwmark 0x4a450001/0xffffffff lookup 7\n";
        assert_eq!(listed(rules), [4001, 1]);
    }
}
