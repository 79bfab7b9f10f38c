//! Datagrams that the kernel brings to a router's door.

use std::env;
use std::net::{SocketAddr, UdpSocket};
use std::time::Duration;

use jet::door::{Front, Redirection};
use jet::keys::Identity;
use jet::options::{Options, Udp};
use jet::udp::Flows;
use tokio::time::sleep;

use crate::doors::gateways::{near_to, open, pair};
use crate::doors::namespace::{command_in, finish, forward_packets, inside, neighbour, run};
use crate::doors::peers::servers_in;
use crate::doors::redirections::{HOLDER, holder, rules};

/// A program that knows nothing of all this: asks from several sockets, each once more if need be, and says of each
/// answer from where it came, and whom the server took for the asker.
const PROGRAM: &str = r#"
import socket, sys
host, sockets, lengths = sys.argv[1], int(sys.argv[2]), [int(length) for length in sys.argv[3:]]
family = socket.AF_INET6 if ":" in host else socket.AF_INET
programs = [socket.socket(family, socket.SOCK_DGRAM) for _ in range(sockets)]
for number, program in enumerate(programs):
    program.settimeout(0.5)
    for length in lengths:
        question = bytes([number % 256]) * length
        for _ in range(5):
            program.sendto(question, (host, 7))
            try:
                answer, source = program.recvfrom(70000)
            except TimeoutError:
                continue
            asker, payload = answer.split(b" ", 1)
            assert payload == question, (len(payload), length)
            print(source[0], source[1], asker.decode())
            break
        else:
            print("silence")
"#;

/// What the program in the client's namespace says, each different line once.
async fn heard(host: &str, sockets: u32, lengths: &[u32]) -> Vec<String> {
    let mut python = command_in("client", "python3");
    python.args(["-c", PROGRAM, host, &sockets.to_string()]).args(lengths.iter().map(ToString::to_string));
    let output = finish(python).await;
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let said = String::from_utf8(output.stdout).unwrap();
    let mut lines: Vec<_> = said.lines().map(str::to_owned).collect();
    assert_eq!(lines.len(), sockets as usize * lengths.len());
    lines.dedup();
    lines
}

/// A family of addresses: the server's, and what it takes for the asker without a door and with one.
const FAMILIES: [(&str, &str, &str); 2] =
    [("10.2.0.2", "10.1.0.2", "10.2.0.1"), ("2001:db8:2::2", "2001:db8:1::2", "2001:db8:2::1")];

/// A client and a server, which this namespace is the router between.
fn network() {
    neighbour("client", 1);
    neighbour("server", 2);
    servers_in("server");
    forward_packets();
}

fn carrying(udp: Udp) -> Options {
    Options { udp: Some(udp), ..Options::default() }
}

/// To the echo, over both families of addresses.
fn allowed() -> [String; 2] {
    FAMILIES.map(|(server, _, _)| SocketAddr::new(server.parse().unwrap(), 7).to_string())
}

const TAKEN: &str = "tproxy:to-client=10.2.0.0/16,2001:db8:2::/48";

fn front(flows: Option<Flows>) -> Front {
    Front::Redirection(Redirection { flows, ..TAKEN.parse().unwrap() })
}

/// The server hears of every program from this host.
async fn assert_direct(when: &str) {
    for (server, client, _) in FAMILIES {
        assert_eq!(heard(server, 1, &[10]).await, [format!("{server} 7 {client}")], "{when}");
    }
}

fn assert_no_trace() {
    assert_eq!(rules(), "");
    assert!(!run("ip rule list").contains("fwmark") && !run("ip -6 rule list").contains("fwmark"));
}

/// The sockets here that speak as a server.
fn voices(server: &str) -> usize {
    run(&format!("ss -Huna src {}", SocketAddr::new(server.parse().unwrap(), 7))).lines().count()
}

#[test]
fn a_routers_door_takes_datagrams_and_answers_as_whom_they_were_sent_to() {
    inside("doors::datagrams::a_routers_door_takes_datagrams_and_answers_as_whom_they_were_sent_to", async || {
        network();
        assert_direct("before").await;
        let (near, far) = pair("10.1.0.1", &allowed(), carrying(Udp::default())).await;
        let door = open(&near, front(near.flows())).await;
        for (server, _, gateway) in FAMILIES {
            // What is longer than a packet comes in fragments, both ways.
            let lengths = [1, 0, 1200, 1472, 1473, 4000, 65_000];
            assert_eq!(heard(server, 3, &lengths).await, [format!("{server} 7 {gateway}")], "{}", rules());
            assert_eq!(voices(server), 3, "one for each program");
        }
        let flows = || (near.status().sessions[0].flows, far.status().sessions[0].flows);
        assert_eq!(flows(), (6, 6), "one for each program and destination");
        // Who comes to the door by itself wants to go nowhere.
        let stranger = UdpSocket::bind("127.0.0.1:0").unwrap();
        for address in door.addresses.iter().filter(|address| address.is_ipv4()) {
            stranger.send_to(b"?", address).unwrap();
        }
        // Connections are taken as ever.
        let mut curl = command_in("client", "curl");
        curl.args(["-sS", "--max-time", "5", "http://10.2.0.2/"]);
        assert!(!finish(curl).await.status.success(), "the far gateway does not allow it");
        assert_eq!(flows(), (6, 6));
        door.close(false).await;
        assert_no_trace();
        assert_direct("after").await;
    });
}

#[test]
fn datagrams_pass_by_unless_asked_for() {
    inside("doors::datagrams::datagrams_pass_by_unless_asked_for", async || {
        network();
        let (near, _far) = pair("10.1.0.1", &allowed(), Options::default()).await;
        assert!(near.flows().is_none());
        let _door = open(&near, front(near.flows())).await;
        assert!(rules().contains("tproxy ip to") && !rules().contains("udp"), "{}", rules());
        assert_direct("without --udp").await;
    });
}

#[test]
fn many_programs_hold_no_more_sockets_than_there_may_be_flows() {
    inside("doors::datagrams::many_programs_hold_no_more_sockets_than_there_may_be_flows", async || {
        network();
        let (near, far) = pair("10.1.0.1", &allowed(), carrying(Udp { flows: 5, ..Udp::default() })).await;
        let _door = open(&near, front(near.flows())).await;
        for (server, _, gateway) in FAMILIES {
            assert_eq!(heard(server, 50, &[10]).await, [format!("{server} 7 {gateway}")]);
        }
        // Those of flows that are over go when their owners have seen it.
        let mut held = 0;
        for _ in 0..100 {
            held = FAMILIES.iter().map(|(server, _, _)| voices(server)).sum();
            if held <= 5 {
                break;
            }
            sleep(Duration::from_millis(20)).await;
        }
        assert!((1..=5).contains(&held), "{held}");
        assert!(near.status().sessions[0].flows <= 5 && far.status().sessions[0].flows <= 5);
    });
}

#[test]
fn a_gateway_that_is_killed_lets_datagrams_pass_again() {
    let test = "doors::datagrams::a_gateway_that_is_killed_lets_datagrams_pass_again";
    inside(test, async || {
        // Nobody is at the other end: for rules that matters not.
        let idle = || {
            let key = || Identity::generate().unwrap();
            near_to("127.0.0.1:9".to_owned(), key(), &key(), carrying(Udp::default()))
        };
        if env::var(HOLDER).is_ok() {
            let near = idle();
            let _door = open(&near, front(near.flows())).await;
            println!("open");
            return sleep(Duration::from_mins(1)).await;
        }
        network();
        let mut killed = holder(test, TAKEN);
        assert_eq!(rules().matches("meta l4proto udp").count(), 2, "{}", rules());
        assert_eq!(heard("10.2.0.2", 1, &[10]).await, ["silence"], "they wait for a session");
        killed.kill().unwrap();
        killed.wait().unwrap();
        for _ in 0..100 {
            if rules().is_empty() {
                break;
            }
            sleep(Duration::from_millis(20)).await;
        }
        assert_eq!(rules(), "", "the kernel has removed them");
        assert_direct("after the kill").await;
        assert_eq!(run("ip rule list").matches("fwmark").count(), 1, "its routes are still there, and idle");
        let near = idle();
        let next = open(&near, front(near.flows())).await;
        assert_eq!(run("ip rule list").matches("fwmark").count(), 1, "the next one has cleared them away");
        next.close(false).await;
        assert_no_trace();
        assert_direct("after the next one").await;
    });
}

#[test]
fn a_port_that_is_held_here_is_named_and_costs_nobody_else_answers() {
    inside("doors::datagrams::a_port_that_is_held_here_is_named_and_costs_nobody_else_answers", async || {
        network();
        let (near, _far) = pair("10.1.0.1", &allowed(), carrying(Udp::default())).await;
        let _door = open(&near, front(near.flows())).await;
        // As a resolver of the router's own, which takes all its addresses.
        let held = UdpSocket::bind("0.0.0.0:7").unwrap();
        assert_eq!(heard("10.2.0.2", 1, &[10]).await, ["silence"]);
        assert_eq!(heard("2001:db8:2::2", 1, &[10]).await, ["2001:db8:2::2 7 2001:db8:2::1"]);
        drop(held);
        assert_eq!(heard("10.2.0.2", 1, &[10]).await, ["10.2.0.2 7 10.2.0.1"]);
    });
}
