//! What YARN copies to a node before its first container of the application starts there: Spark's own files and the
//! application's settings, from HDFS (`yarn.Client.prepareLocalResources`, `ResourceLocalizationService`). Containers
//! that start meanwhile wait for the one copy.

use crate::application::{Errand, Spark};
use crate::yarn::Step;
use hadoop::hdfs::{BlockId, ReadId};
use hadoop::rpc::Process;
use hadoop::{ContainerId, NodeId, Platform, ReadNews};
use std::collections::BTreeMap;
use units::Bytes;

/// The NodeManager, as HDFS's client. No executor has the number.
const NODE_MANAGER: u32 = u32::MAX - 1;

/// The application's files, and which nodes have them.
#[derive(Debug, Default)]
pub struct Localised {
    blocks: Vec<BlockId>,
    nodes: BTreeMap<NodeId, Copying>,
}

/// A node's copy.
#[derive(Debug, Default)]
struct Copying {
    /// The block that is next, and the containers that wait; none do once all is there.
    next: usize,
    waits: Vec<ContainerId>,
}

impl Localised {
    /// A node crashes, and with it what it has copied.
    pub fn node_goes_down(&mut self, node: NodeId) {
        self.nodes.remove(&node);
    }
}

impl Spark {
    /// The files stand in HDFS, as whoever submits has put them there.
    pub(crate) fn put_files(&mut self, platform: &mut Platform, files: Bytes) {
        if files > Bytes::ZERO {
            let (block, replication) = (platform.hdfs.config().block_size, platform.hdfs.config().replication);
            let file = platform.hdfs.add_input(platform.ctx, files, block, replication, None);
            self.yarn.files.blocks.clone_from(&platform.hdfs.namespace().file(file).blocks);
        }
    }

    /// A container is to start on a node: it waits for the files.
    pub(crate) fn localise(&mut self, platform: &mut Platform, container: ContainerId) {
        let node = platform.yarn.container(container).node;
        let files = &mut self.yarn.files;
        let is_first = !files.nodes.contains_key(&node);
        let copying = files.nodes.entry(node).or_default();
        if copying.next > files.blocks.len() || files.blocks.is_empty() {
            return self.launch_in_a_moment(platform, container);
        }
        copying.waits.push(container);
        if is_first {
            self.copy_next(platform, node);
        }
    }

    /// A node copies the next block, or has all.
    fn copy_next(&mut self, platform: &mut Platform, node: NodeId) {
        let Some(copying) = self.yarn.files.nodes.get_mut(&node) else { return };
        let block = self.yarn.files.blocks.get(copying.next).copied();
        copying.next += 1;
        if let Some(block) = block {
            let process = Process { node, id: NODE_MANAGER };
            let length = platform.hdfs.namespace().block(block).length;
            let number = self.errands.send(Errand::Localise(node));
            platform.hdfs.read(platform.ctx, process, block, Bytes::ZERO, length, hadoop::Reader::Driver(number));
            return;
        }
        for container in std::mem::take(&mut copying.waits) {
            self.launch_in_a_moment(platform, container);
        }
    }

    /// A container's process starts, if it is still wanted.
    fn launch_in_a_moment(&mut self, platform: &mut Platform, container: ContainerId) {
        if let Some(on_yarn) = self.config.yarn {
            self.step_at(platform, platform.ctx.now + on_yarn.launch_latency, Step::Launched(container));
        }
    }

    /// News of a node's copy.
    pub(crate) fn on_localise(
        &mut self,
        platform: &mut Platform,
        (number, read): (u64, ReadId),
        node: NodeId,
        news: ReadNews,
    ) {
        match news {
            ReadNews::Progress { bytes, .. } => platform.hdfs.take(platform.ctx, read, bytes),
            ReadNews::Done => {
                self.errands.answered(number);
                self.copy_next(platform, node);
            }
            ReadNews::Failed => self.fail(platform, "no replica of the application's files could be read".to_owned()),
        }
    }
}
