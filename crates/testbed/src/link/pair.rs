//! Two namespaces with paths between them.

use super::clock::Clock;
use super::engine::Runner;
use super::lane::Lane;
use super::namespace::Namespace;
use super::report::{LaneReport, PathReport, Report};
use super::setup::{self, MOST_PATHS, Side};
use super::{Direction, LinkError, Path};
use serde::{Deserialize, Serialize};
use std::io;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::sync::Arc;
use tun_rs::SyncDevice;

/// Two namespaces with emulated paths between them. Dropping it ends what still runs in the two and takes everything down.
#[derive(Debug)]
pub struct Pair {
    near: Namespace,
    far: Namespace,
    paths: Vec<Path>,
    /// Of each path there and back.
    runners: Vec<[Runner; 2]>,
}

/// The addresses of a path's ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Addresses {
    /// Of the near end.
    pub near: Ipv4Addr,
    /// Of the far end.
    pub far: Ipv4Addr,
    /// Of the near end; none on a kernel without IPv6.
    pub near_v6: Option<Ipv6Addr>,
    /// Of the far end; none on a kernel without IPv6.
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
    /// Two new namespaces without names, and these paths between them. With the same seed and the same frames at the same times, the same ones are lost.
    pub fn up(paths: &[Path], seed: u64) -> Result<Self, LinkError> {
        check(paths)?;
        Self::between(Namespace::create()?, Namespace::create()?, paths, seed)
    }

    /// The same between namespaces that are there.
    pub(super) fn between(near: Namespace, far: Namespace, paths: &[Path], seed: u64) -> Result<Self, LinkError> {
        let names: Vec<&str> = paths.iter().map(|path| path.name.as_str()).collect();
        let ends =
            setup::interfaces(&near, Side::Near, &names)?.into_iter().zip(setup::interfaces(&far, Side::Far, &names)?);
        let clock = Clock::start();
        let mut runners = Vec::new();
        for (index, (path, (near_end, far_end))) in paths.iter().zip(ends).enumerate() {
            let pair = start(path, index as u64, seed, clock, Arc::new(near_end), Arc::new(far_end));
            runners.push(pair.map_err(LinkError::system("start a thread for a path"))?);
        }
        Ok(Self { near, far, paths: paths.to_vec(), runners })
    }

    /// The namespace where programs run.
    pub fn near(&self) -> &Namespace {
        &self.near
    }
    /// The namespace where their servers do.
    pub fn far(&self) -> &Namespace {
        &self.far
    }
    /// The paths, as they were asked for.
    pub fn paths(&self) -> &[Path] {
        &self.paths
    }
    /// The addresses of each path, in order.
    pub fn addresses(&self) -> Vec<Addresses> {
        (0..self.paths.len()).map(Addresses::of).collect()
    }

    /// What the paths have done so far. Of a measurement, keep one from its beginning and ask the one from its end for [`Report::since`] and [`Report::late`].
    pub fn report(&self) -> io::Result<Report> {
        let names: Vec<&str> = self.paths.iter().map(|path| path.name.as_str()).collect();
        let [near, far] = [setup::overflows(&self.near, &names)?, setup::overflows(&self.far, &names)?];
        let lane = |runner: &Runner, overflowed| LaneReport { overflowed, ..runner.report() };
        let paths = self.runners.iter().zip(names).zip(near.into_iter().zip(far));
        let paths = paths.map(|(([forth, back], name), (near, far))| PathReport {
            name: name.to_owned(),
            forth: lane(forth, near),
            back: lane(back, far),
        });
        let ordinary_priority = self.runners.iter().flatten().find_map(|runner| runner.ordinary_priority.clone());
        Ok(Report { paths: paths.collect(), ordinary_priority })
    }
}

impl Drop for Pair {
    fn drop(&mut self) {
        // What is named outlives its links: others may be in there, and `ip netns` owns it.
        for namespace in [&self.near, &self.far].into_iter().filter(|namespace| namespace.name().is_none()) {
            namespace.end_processes();
        }
    }
}

/// Whether these paths can be, side by side.
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

fn start(
    path: &Path,
    index: u64,
    seed: u64,
    clock: Clock,
    near: Arc<SyncDevice>,
    far: Arc<SyncDevice>,
) -> io::Result<[Runner; 2]> {
    // As the two directions of cable number `index` in a simulated network.
    let lane = |direction: &Direction, number| {
        let (direction, round_trip) = (direction.clone(), path.round_trip());
        move || Lane::new(&direction, round_trip, seed, number)
    };
    let forth = Runner::start(lane(&path.forth, 2 * index), clock, near.clone(), far.clone())?;
    let back = Runner::start(lane(&path.back, 2 * index + 1), clock, far, near)?;
    Ok([forth, back])
}
