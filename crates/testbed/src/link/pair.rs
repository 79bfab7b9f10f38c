//! Two namespaces and the paths between them.

use super::clock::Clock;
use super::engine::Runner;
use super::forwarder::Forwarder;
use super::namespace::Namespace;
use super::pipe::Pipe;
use super::report::Report;
use super::setup::{self, MOST_PATHS, Side};
use super::{LinkError, Path};
use serde::{Deserialize, Serialize};
use std::io;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::sync::Arc;
use tun_rs::SyncDevice;

/// Two namespaces with emulated paths between them. Dropping it ends the processes in both and takes everything down.
#[derive(Debug)]
pub struct Pair {
    near: Namespace,
    far: Namespace,
    paths: Vec<Path>,
    /// The runner of each path.
    runners: Vec<Runner>,
}

/// The addresses of a path's ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Addresses {
    /// IPv4 address of the near end.
    pub near: Ipv4Addr,
    /// IPv4 address of the far end.
    pub far: Ipv4Addr,
    /// IPv6 address of the near end; `None` on a kernel without IPv6.
    pub near_v6: Option<Ipv6Addr>,
    /// IPv6 address of the far end; `None` on a kernel without IPv6.
    pub far_v6: Option<Ipv6Addr>,
}

impl Addresses {
    pub(super) fn of(path: usize) -> Self {
        let v6 = |side| setup::has_ipv6().then(|| setup::ipv6(path, side));
        let (near, far) = (setup::ipv4(path, Side::Near), setup::ipv4(path, Side::Far));
        Self { near, far, near_v6: v6(Side::Near), far_v6: v6(Side::Far) }
    }
}

impl Pair {
    /// Makes two unnamed namespaces and these paths between them. With the same seed, the same frames at the same times
    /// suffer the same losses.
    pub fn up(paths: &[Path], seed: u64) -> Result<Self, LinkError> {
        check(paths)?;
        Self::between(Namespace::create()?, Namespace::create()?, paths, seed)
    }

    /// The pair of two existing namespaces.
    pub(super) fn between(near: Namespace, far: Namespace, paths: &[Path], seed: u64) -> Result<Self, LinkError> {
        let names: Vec<&str> = paths.iter().map(|path| path.name.as_str()).collect();
        let ends =
            setup::interfaces(&near, Side::Near, &names)?.into_iter().zip(setup::interfaces(&far, Side::Far, &names)?);
        let clock = Clock::start();
        let mut runners = Vec::new();
        for (index, (path, (near_end, far_end))) in paths.iter().zip(ends).enumerate() {
            let runner = start(path, index as u64, seed, clock, near_end, far_end);
            runners.push(runner.map_err(LinkError::system("start a thread for a path"))?);
        }
        Ok(Self { near, far, paths: paths.to_vec(), runners })
    }

    /// The namespace where programs run.
    pub fn near(&self) -> &Namespace {
        &self.near
    }
    /// The namespace where their servers run.
    pub fn far(&self) -> &Namespace {
        &self.far
    }
    /// The settings of the paths.
    pub fn paths(&self) -> &[Path] {
        &self.paths
    }
    /// The addresses of each path, in order.
    pub fn addresses(&self) -> Vec<Addresses> {
        (0..self.paths.len()).map(Addresses::of).collect()
    }

    /// The report of all paths so far. For one measurement, take a report before and after it, then call
    /// [`Report::since`] and [`Report::late`].
    pub fn report(&self) -> io::Result<Report> {
        let names: Vec<&str> = self.paths.iter().map(|path| path.name.as_str()).collect();
        let [near, far] = [setup::overflows(&self.near, &names)?, setup::overflows(&self.far, &names)?];
        let paths = self.runners.iter().zip(near.into_iter().zip(far)).map(|(runner, (near, far))| {
            let mut report = runner.report();
            (report.forth.overflowed, report.back.overflowed) = (near, far);
            report
        });
        let ordinary_priority = self.runners.iter().find_map(|runner| runner.ordinary_priority.clone());
        Ok(Report { paths: paths.collect(), ordinary_priority })
    }
}

impl Drop for Pair {
    fn drop(&mut self) {
        // A named namespace outlives its links: others may use it, and `ip netns` owns it.
        for namespace in [&self.near, &self.far].into_iter().filter(|namespace| namespace.name().is_none()) {
            namespace.end_processes();
        }
    }
}

/// Checks that these paths can exist side by side.
pub fn check(paths: &[Path]) -> Result<(), LinkError> {
    if paths.is_empty() || paths.len() > MOST_PATHS {
        return Err(LinkError::Input(format!("{} paths were asked for: there can be 1 to {MOST_PATHS}", paths.len())));
    }
    for (index, path) in paths.iter().enumerate() {
        path.check()?;
        if paths[..index].iter().any(|other| other.name == path.name) {
            return Err(LinkError::Input(format!("two paths are named {}", path.name)));
        }
    }
    Ok(())
}

/// Starts to carry the frames of a path between two interfaces.
pub(super) fn start(
    path: &Path,
    index: u64,
    seed: u64,
    clock: Clock,
    near: SyncDevice,
    far: SyncDevice,
) -> io::Result<Runner> {
    let (near, far, owned) = (Arc::new(near), Arc::new(far), path.clone());
    let forwarders = move || {
        // The two pipes stand for the directions of cable number `index` in a simulated network.
        let pipe = |direction, number| Pipe::new(direction, owned.round_trip(), seed, number);
        [
            Forwarder::new(pipe(&owned.forth, 2 * index), near.clone(), far.clone()),
            Forwarder::new(pipe(&owned.back, 2 * index + 1), far, near),
        ]
    };
    Runner::start(&path.name, forwarders, clock)
}
