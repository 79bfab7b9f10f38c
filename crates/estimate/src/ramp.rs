//! Where an AppMaster's reducers come to run.

use crate::chance::fullest;
use crate::job::Stages;
use crate::machine::Cluster;
use hadoop::mapreduce::Generation;

impl Stages<'_> {
    /// How many of so many reducers the node and the rack have that have most, with so many places in all.
    pub(crate) fn spread(&self, reducers: f64, places: f64) -> (f64, f64) {
        let Cluster { workers, racks, map_slots, reduce_slots, .. } = *self.cluster;
        let even = (reducers / workers).ceil();
        if self.maps > places && self.config.slow_start < 1.0 {
            let cycle = self.cycle(&self.map, map_slots);
            let on_node =
                if self.config.generation == Generation::Yarn { self.ramped(reducers, places, cycle) } else { 1.0 };
            if on_node > 1.0 {
                let on_node = on_node.clamp(even, reduce_slots.max(even));
                return (on_node, (fullest((reducers / on_node).ceil(), racks) * on_node).min(reducers));
            }
            // Those that are asked for at once go to any node where a map ends.
            let free = (map_slots * self.pace / cycle).min(1.0);
            let most = (reducers / (workers * free)).min(reduce_slots).max(even);
            return (fullest(reducers, workers).clamp(even, most), fullest(reducers, racks));
        }
        // All at once: every node is given one at its heartbeat, and which racks the first nodes are in is left to
        // chance (a draw without replacement).
        let drawn = (reducers / workers).fract() * workers;
        let chance = ((workers - drawn) / (workers - 1.0).max(1.0)).min(1.0);
        (even, (fullest(drawn, racks) - drawn / racks).mul_add(libm::sqrt(chance), reducers / racks))
    }

    /// How many heartbeats one after the other an AppMaster asks for reducers in, whose maps' turn takes `cycle` seconds.
    ///
    /// While maps wait it may have reducers in that part of all places that is the part of maps done, up to a limit
    /// (`RMContainerAllocator.scheduleReduces`), so it asks for a few at each heartbeat. They go to the nodes whose
    /// heartbeats come next after its own, one to a node, second after second the same ones, if a map has ended there.
    /// A node begins a map at each heartbeat, so its maps end so too: one after the other, and then none until the next
    /// turn, when other nodes may be the first. Where maps are shorter than their places are many, they end always.
    fn ramped(&self, reducers: f64, places: f64, cycle: f64) -> f64 {
        let Cluster { workers, map_slots, .. } = *self.cluster;
        let master = &self.config.app_master;
        let beat = master.heartbeat.as_secs_f64().max(self.pace);
        let ended = workers * beat / self.pace;
        let in_burst = (map_slots * self.pace / beat).ceil().max(1.0);
        let ends_always = cycle <= map_slots * self.pace;
        // A container is free when its node has told that its map has ended, and until then it is nobody's.
        let ending = ended * (map_slots * self.pace / cycle).min(1.0);
        let room = (places - ending).max(0.0);
        let first = (self.config.slow_start * self.maps).ceil();
        // When no map waits it asks for all.
        let all_begun = self.maps - places;
        let (mut beats, mut given, mut burst, mut asked, mut longest) = (0.0_f64, 0.0, 0.0, 0.0, 0.0_f64);
        while given < reducers {
            // The next heartbeat that asks for one more.
            let for_more = (given + 1.0) / room * self.maps;
            let is_allowed = given + 1.0 <= room * master.reduce_rampup_limit;
            let needed = if is_allowed { for_more.min(all_begun) } else { all_begun };
            beats = (needed.max(first) / ended).ceil().max(beats + 1.0);
            let done = beats * ended;
            let part = (done / self.maps).min(master.reduce_rampup_limit);
            let allowed = if done >= all_begun { reducers } else { (room * part).floor() };
            let now = ((beats - 1.0) / in_burst).floor();
            if !ends_always && now > burst {
                (burst, asked) = (now, 0.0);
            }
            if allowed > given {
                (given, asked) = (allowed, asked + 1.0);
            }
            longest = longest.max(asked);
        }
        // An AppMaster that asks several times between two heartbeats of a node has several nodes that come next.
        1.0 + (longest - 1.0) * master.heartbeat.as_secs_f64() / beat
    }
}
