//! Connections past the far gateway where the path has nothing to gain.

use crate::support::until;
use crate::{FIRST, Gateways, alone};
use jet::options::Options;
use jet::status::DirectStatus;
use std::io::ErrorKind;
use std::sync::Arc;
use testbed::link::Path;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use units::{BitRate, Time};

fn gateways(path: Path, rule: &str) -> Gateways {
    Gateways::serving("198.18.0.2:9000", &[rule], &Options::default(), &[path], &[], &[FIRST])
}
fn path(round_trip: Time) -> Path {
    Path::new("lan", BitRate::from_mbps(200), round_trip)
}
fn status(gateways: &Gateways) -> DirectStatus {
    gateways.near.status().direct.expect("rules")
}
fn carried(gateways: &Gateways) -> u64 {
    gateways.near.status().sessions.iter().map(|session| session.received_bytes).sum()
}

#[test]
fn a_short_path_is_taken_directly_and_a_longer_one_is_not() {
    let _alone = alone();
    for (round_trip, direct) in [(Time::from_us(200), true), (Time::from_ms(3), false)] {
        let gateways = gateways(path(round_trip), "198.18.0.0/24:9000");
        gateways.download(3_000_000);
        let status = status(&gateways);
        assert_eq!((status.direct, status.begun), (direct, u64::from(direct)), "{status:?}");
        assert_eq!(carried(&gateways) < 1_000_000, direct);
    }
}

/// What no rule names is carried, whatever the path.
#[test]
fn only_what_a_rule_names_goes_directly() {
    let _alone = alone();
    let gateways = gateways(path(Time::from_us(200)), "198.18.0.2:9001-9999");
    gateways.download(3_000_000);
    assert_eq!((status(&gateways).begun, carried(&gateways) > 3_000_000), (0, true));
}

/// Ends of a direction and resets pass through, both ways.
#[test]
fn ends_and_resets_are_the_servers() {
    let _alone = alone();
    let gateways = gateways(path(Time::from_us(200)), "198.18.0.2:9000");
    let (door, near) = (gateways.door, Arc::clone(&gateways.near));
    gateways.run(async move {
        // A program that ends before it has asked: the server ends too, and the program is told.
        let mut program = TcpStream::connect(door).await.expect("open");
        program.shutdown().await.expect("open");
        assert_eq!(program.read(&mut [0]).await.expect("an end"), 0);
        // A server whose answer nobody reads, and a program that is killed: the server's connection is reset.
        let mut program = TcpStream::connect(door).await.expect("open");
        program.write_u64(u64::MAX).await.expect("open");
        program.read_u8().await.expect("an answer");
        assert_eq!(near.status().direct.expect("rules").connections, 1);
        program.set_zero_linger().expect("open");
        drop(program);
        until(|| near.status().direct.expect("rules").connections == 0).await;
        assert_eq!(near.status().direct.expect("rules").begun, 2);
    });
    // A server that is away: nobody answers directly, and the far gateway says why.
    let near = Arc::clone(&gateways.near);
    gateways.run(async move {
        let away = jet::parse_destination("198.18.0.2:9").expect("a destination");
        let door = crate::door(&near, away, || jet::door::Answer::Established).await;
        let mut program = TcpStream::connect(door).await.expect("open");
        let error = program.read_u8().await.expect_err("nobody is there");
        assert_eq!(error.kind(), ErrorKind::ConnectionReset);
    });
}
