//! Requests to the world that have no answer yet: work, disk requests and timers.
//!
//! An entry leaves the table when its answer comes, when it is cancelled, or when the node that it was asked of
//! crashes: the world forgets a crashed node's work and disk requests. Timers belong to no node and always fire. An
//! answer that comes after its request was cancelled finds another serial number in its place and counts for nothing.

use crate::ids::{NodeId, Tag};
use crate::request::Request;
use des::{Slab, define_index};

define_index! {
    /// A place in the table.
    Place
}

#[derive(Debug)]
struct Entry {
    request: Request,
    /// Of which node it is asked; none for a timer.
    node: Option<NodeId>,
    serial: u32,
}

/// The table of requests without an answer.
#[derive(Debug, Default)]
pub(crate) struct Pending {
    table: Slab<Place, Entry>,
    serial: u32,
}

impl Pending {
    pub fn insert(&mut self, request: Request, node: Option<NodeId>) -> Tag {
        self.serial = self.serial.wrapping_add(1);
        let serial = self.serial;
        let place = self.table.insert(Entry { request, node, serial });
        Tag(u64::from(serial) << 32 | u64::from(place.0))
    }
    /// What has been answered, or is cancelled; none if it was before.
    pub fn remove(&mut self, tag: Tag) -> Option<Request> {
        let (serial, place) = (tag.0 >> 32, Place::try_from(tag).ok()?);
        if u64::from(self.table.get(place)?.serial) != serial {
            return None;
        }
        self.table.remove(place).map(|entry| entry.request)
    }
    /// The node's work and disk requests are gone.
    pub fn node_down(&mut self, node: NodeId) {
        let gone: Vec<Place> =
            self.table.iter().filter(|(_, entry)| entry.node == Some(node)).map(|(place, _)| place).collect();
        for place in gone {
            self.table.remove(place);
        }
    }
    pub fn len(&self) -> usize {
        self.table.len()
    }
}

impl TryFrom<Tag> for Place {
    type Error = std::num::TryFromIntError;
    fn try_from(tag: Tag) -> Result<Self, Self::Error> {
        u32::try_from(tag.0 & u64::from(u32::MAX)).map(Self)
    }
}
