//! The document's own cross-check (Yang 2012, 3.4.3): at the level of the application and of the system the same
//! records go to the same nodes, here as there on 500 MB.

use crate::support::Zipf;
use des::RandomStream;
use placement::{
    Bucketing, Distributor, Engine, Filled, KeyRule, KeyType, Keys, Layout, Node, Plan, Profile, node_of_record,
};

const NODES: usize = 8;
const BYTES: usize = 500_000_000;
const BLOCK: usize = 1 << 22;

/// A digest of a sequence of bytes that does not depend on where its pieces end: FNV-1a over words of lines.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Digest {
    hash: u64,
    records: u64,
    bytes: u64,
}

impl Digest {
    const NEW: Self = Self { hash: 0xcbf2_9ce4_8422_2325, records: 0, bytes: 0 };

    fn add(&mut self, record: &[u8]) {
        for word in record.chunks(8) {
            let mut padded = [0; 8];
            padded[..word.len()].copy_from_slice(word);
            self.hash = (self.hash ^ u64::from_le_bytes(padded)).wrapping_mul(0x0100_0000_01b3).rotate_left(23);
        }
        self.records += 1;
        self.bytes += record.len() as u64 + 1;
    }
}

#[test]
fn the_application_and_the_system_place_500_mb_alike() {
    let rule: KeyRule = "column:2".parse().expect("a rule");
    let bucketing = Bucketing::new(Engine::MapReduce, None, KeyType::Text, 512).expect("a bucketing");
    let (zipf, mut random) = (Zipf::new(50_000, 1.2), RandomStream::new(5, "placement/test", 0));
    let mut profile = Profile::new(rule.clone(), bucketing, Layout::Whole, None);
    let filler = "0123456789abcdefghijklmnopqrstuvwxyz".repeat(6);
    let mut chunk = Vec::new();
    // One chunk of 5 MB with all kinds of records, among them some without a key, repeated with another first column.
    let mut rest: Vec<Vec<u8>> = Vec::new();
    while chunk.len() < 5_000_000 {
        let (key, more) = (zipf.draw(&mut random), random.below(200) as usize);
        let line =
            if random.chance(0.001) { "no key here".to_owned() } else { format!("\tuser-{key}\t{}", &filler[..more]) };
        chunk.extend_from_slice(line.as_bytes());
        rest.push(line.into_bytes());
    }
    for line in &rest {
        profile.record(line, line.len() as u64 + 1).expect("text");
    }
    let nodes = (1..=NODES).map(|node| Node::named(format!("worker-{node}"))).collect();
    let plan = Plan::place(bucketing, nodes, 3, &profile.weights, &profile.heaviest()).expect("a plan").plan;
    assert!(!plan.split().is_empty(), "heavy keys are split here");

    let mut system = Distributor::new(&plan, rule.clone(), BLOCK);
    let (mut by_application, mut by_system) = ([Digest::NEW; NODES], [Digest::NEW; NODES]);
    let (mut keys, mut filled, mut unkeyed) = (Keys::new(), Filled::new(&plan), 0_u32);
    let (mut written, mut round, mut packet) = (0, 0, Vec::new());
    let mut blocks = 0;
    let mut packed = |block: &placement::Packed<'_>| {
        assert!(block.bytes.len() <= BLOCK && block.bytes.ends_with(b"\n"));
        blocks += 1;
        let digest = &mut by_system[block.node as usize];
        block.bytes[..block.bytes.len() - 1].split(|byte| *byte == b'\n').for_each(|record| digest.add(record));
    };
    while written < BYTES {
        for line in &rest {
            let begin = packet.len();
            packet.extend_from_slice(format!("{round}").as_bytes());
            packet.extend_from_slice(line);
            let record = &packet[begin..];
            let node = node_of_record(&plan, &rule, record, &mut keys, &mut filled).unwrap_or_else(|| {
                unkeyed += 1;
                unkeyed % NODES as u32
            });
            by_application[node as usize].add(record);
            packet.push(b'\n');
            written += packet.len() - begin;
            // Packets of HDFS have 64 KB and end anywhere.
            if packet.len() >= 65_536 {
                system.packet(&packet[..65_536], &mut packed).expect("lines");
                packet.drain(..65_536);
            }
        }
        round += 1;
    }
    system.packet(&packet, &mut packed).expect("lines");
    system.end(&mut packed);
    assert_eq!(by_application, by_system);
    assert!(by_system.iter().map(|digest| digest.bytes).sum::<u64>() >= BYTES as u64 && unkeyed > 0);
    assert!(blocks >= BYTES / BLOCK, "{blocks}");
}
