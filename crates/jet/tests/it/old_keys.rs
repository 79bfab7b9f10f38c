//! P-2: streams whose keys are old are replaced while programs' bytes go on. The age is lowered, so that many are
//! replaced one after another.

use crate::support::{Rig, byte, processor, server, write_pattern};
use jet::door::Answer;
use jet::options::{Options, Streams};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::Instant;

const LENGTH: u64 = 50_000_000;
/// Streams are replaced at an age between half of this and all of it.
const KEYS_LAST: Duration = Duration::from_millis(200);

/// Writes the pattern and reads the peer's, each byte of it; gives the longest wait between two reads.
async fn both_ways(mut stream: TcpStream) -> Duration {
    let (mut read, mut write) = stream.split();
    let writing = async {
        write_pattern(&mut write, LENGTH).await.expect("wanted");
        write.shutdown().await.expect("open");
    };
    let reading = async {
        let (mut at, mut buffer, mut heard, mut longest) = (0, vec![0; 256 << 10], Instant::now(), Duration::ZERO);
        loop {
            let count = read.read(&mut buffer).await.expect("open");
            longest = longest.max(heard.elapsed());
            heard = Instant::now();
            if count == 0 {
                assert_eq!(at, LENGTH);
                return longest;
            }
            let wrong = (at..).zip(&buffer[..count]).find(|(place, got)| **got != byte(*place));
            assert_eq!(wrong, None, "the first wrong byte");
            at += count as u64;
            // The peer waits for what is written here: for gateways, not for 32 MB that are read before
            // (`write_pattern`).
            tokio::task::yield_now().await;
        }
    };
    tokio::join!(reading, writing).0
}

/// Transfers until so many streams have been opened: how many transfers, and the longest wait of either program.
async fn transfers(streams: Streams, wanted: u32) -> (u32, Duration) {
    let (told, mut heard) = tokio::sync::mpsc::channel(1);
    let server = server(move |stream| {
        let told = told.clone();
        async move {
            let _ = told.send(both_ways(stream).await).await;
        }
    })
    .await;
    let options = Options { streams, keys_last: KEYS_LAST, ..Options::default() };
    let rig = Rig::with(server, [options.clone(), options], || Answer::Established).await;
    let began = rig.near.status().sessions[0].session.clone();
    let (mut count, mut longest) = (0, Duration::ZERO);
    let last = |rig: &Rig| rig.near.status().sessions[0].streams.iter().map(|stream| stream.stream).max().unwrap_or(0);
    while last(&rig) < wanted {
        let here = both_ways(rig.program().await).await;
        let there = heard.recv().await.expect("the server has read it");
        rig.idle().await;
        count += 1;
        longest = longest.max(here).max(there);
        assert!(count < 20, "{streams:?}: after {count} transfers the last stream has number {}", last(&rig));
    }
    for (status, log) in [rig.near.status(), rig.far.status()].into_iter().zip(&rig.logs) {
        assert_eq!(status.sessions.iter().map(|session| &session.session).collect::<Vec<_>>(), [&began]);
        // They were closed properly (P-26), and none was refused (P-9): of either a gateway writes a line.
        assert_eq!(log.lines(), Vec::<String>::new());
    }
    (count, longest)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn streams_with_old_keys_are_replaced_without_loss_of_a_byte_and_without_a_stall() {
    let _alone = processor().await;
    for (streams, first) in [(Options::default().streams, 4), (Streams::Fixed(1), 1)] {
        // Each of the first has been replaced, and so have those in their place.
        let (count, wait) = transfers(streams, 3 * first).await;
        println!("{streams:?}: {count} transfers, nothing read for {wait:?} at most");
        assert!(wait < Duration::from_secs(1), "{streams:?}: {wait:?}");
    }
}
