//! What the kernel redirects to a door.

use std::env;
use std::fs;
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::Duration;

use jet::door::{Front, Redirection};
use jet::handover::Inherited;

use crate::doors::namespace::{INSIDE, command_in, finish, forward_packets, inside, neighbour, run};
use crate::doors::peers::{FILE, listener, open, serve_http, servers_in};

/// A redirection, with `strict ` before it one with --strict.
fn front(text: &str) -> Front {
    let (text, strict) = text.strip_prefix("strict ").map_or((text, false), |text| (text, true));
    Front::Redirection(Redirection { strict, ..text.parse().unwrap() })
}

/// Nothing is named here.
const NOBODY: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::UNSPECIFIED), 0);

/// Downloads, and gives the address from which the server was asked: the program's own if nothing came between.
async fn asked_from(mut curl: Command, url: &str) -> Result<String, Output> {
    curl.args([
        "--silent",
        "--show-error",
        "--max-time",
        "20",
        "--noproxy",
        "*",
        "--output",
        "/dev/stdout",
        "--dump-header",
        "/dev/stderr",
        url,
    ]);
    let output = finish(curl).await;
    if !output.status.success() || output.stdout.len() != FILE {
        return Err(output);
    }
    let head = String::from_utf8_lossy(&output.stderr).into_owned();
    let peer = head.lines().find_map(|line| line.strip_prefix("X-Peer: ")).expect("the server says it");
    Ok(peer.parse::<SocketAddr>().unwrap().ip().to_string())
}

/// The rules of all doors in this namespace.
pub fn rules() -> String {
    run("nft list ruleset")
}

/// Downloads, and tells whether the server was asked by another connection than curl's own.
pub async fn goes_through_a_door(url: &str) -> bool {
    let mut curl = Command::new("curl");
    curl.args([
        "-sS",
        "--max-time",
        "20",
        "-o",
        "/dev/stdout",
        "-D",
        "/dev/stderr",
        "-w",
        "%{stderr}%{local_port}\n",
        url,
    ]);
    let output = finish(curl).await;
    assert!(output.status.success(), "{url}: {}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.stdout.len(), FILE);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let peer: SocketAddr = said.lines().find_map(|line| line.strip_prefix("X-Peer: ")).unwrap().parse().unwrap();
    peer.port() != said.lines().last().unwrap().parse::<u16>().unwrap()
}

#[test]
fn programs_of_this_host_are_redirected_and_the_gateway_is_not() {
    inside("doors::redirections::programs_of_this_host_are_redirected_and_the_gateway_is_not", async || {
        neighbour("server", 1);
        neighbour("spared", 2);
        servers_in("server");
        servers_in("spared");
        let urls = ["http://10.1.0.2/", "http://[2001:db8:1::2]/"];
        assert!(!goes_through_a_door(urls[0]).await);
        let mut redirection: Redirection = "local=10.0.0.0/8,2001:db8::/32".parse().unwrap();
        redirection.direct = vec!["10.2.0.0/24".parse().unwrap()];
        let door = open(Front::Redirection(redirection), NOBODY).await;
        for url in urls {
            assert!(goes_through_a_door(url).await, "{url}\n{}", rules());
        }
        assert!(!goes_through_a_door("http://10.2.0.2/").await, "excluded");
        let reset = asked_from(Command::new("curl"), "http://10.1.0.2:9/").await.unwrap_err();
        assert!(matches!(reset.status.code(), Some(7 | 56)), "refused or reset: {reset:?}");
        // Who comes to the door by itself wants to go nowhere.
        let stranger = asked_from(Command::new("curl"), &format!("http://{}/", door.addresses[0])).await.unwrap_err();
        assert!(!stranger.status.success());
        drop(door);
        assert_eq!(rules(), "", "no trace");
        assert!(!goes_through_a_door(urls[0]).await);
    });
}

#[test]
fn programs_of_a_control_group_are_redirected() {
    /// A control group, which goes with this.
    struct Group(PathBuf);
    impl Drop for Group {
        fn drop(&mut self) {
            fs::remove_dir(&self.0).unwrap();
        }
    }
    inside("doors::redirections::programs_of_a_control_group_are_redirected", async || {
        neighbour("server", 1);
        servers_in("server");
        let name = format!("trunkline-test-{:x}", rand());
        let group = Group(Path::new(&control_groups()).join(&name));
        fs::create_dir(&group.0).unwrap();
        let _door = open(front(&format!("cgroup:/{name}=any")), NOBODY).await;
        assert!(!goes_through_a_door("http://10.1.0.2/").await);
        let mut member = Command::new("sh");
        member.args(["-c", "echo $$ > $0/cgroup.procs && exec curl -sS --max-time 20 -w '\\n%{local_port} ' -D - -o /dev/null http://10.1.0.2/"]).arg(&group.0);
        let output = String::from_utf8(finish(member).await.stdout).unwrap();
        let own = output.lines().last().unwrap().trim().to_owned();
        let peer = output.lines().find_map(|line| line.strip_prefix("X-Peer: ")).unwrap();
        assert!(!peer.ends_with(&format!(":{own}")), "{output}\n{}", rules());
    });
}

/// Asks the server at 10.1.0.2, and prints what it says, and the own port: like any program that is linked statically.
const STATIC: &str = r#"
#include <arpa/inet.h>
#include <stdio.h>
#include <unistd.h>
int main(void)
{
    struct sockaddr_in server = {.sin_family = AF_INET, .sin_port = htons(80)}, own;
    socklen_t length = sizeof own;
    char head[512];
    inet_pton(AF_INET, "10.1.0.2", &server.sin_addr);
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(fd, (void *)&server, sizeof server) || write(fd, "GET / HTTP/1.0\r\n\r\n", 18) != 18 || getsockname(fd, (void *)&own, &length))
        return 1;
    ssize_t got = read(fd, head, sizeof head - 1);
    head[got > 0 ? got : 0] = 0;
    printf("%s\nown port %d\n", head, ntohs(own.sin_port));
    return 0;
}
"#;

/// Puts this process back where it was, also when the test fails.
struct Return(String);
impl Drop for Return {
    fn drop(&mut self) {
        fs::write(format!("{}/cgroup.procs", self.0), "0").unwrap();
    }
}

/// Where control groups of version 2 are mounted.
fn control_groups() -> String {
    let mounts = fs::read_to_string("/proc/self/mounts").unwrap();
    mounts.lines().map(|line| line.split(' ').collect::<Vec<_>>()).find(|fields| fields[2] == "cgroup2").unwrap()[1]
        .to_owned()
}

#[test]
fn what_jet_run_starts_is_redirected_even_if_it_is_static() {
    inside("doors::redirections::what_jet_run_starts_is_redirected_even_if_it_is_static", async || {
        neighbour("server", 1);
        servers_in("server");
        fs::write("/run/client.c", STATIC).unwrap();
        run("cc -static -o /run/client /run/client.c");
        let through_a_door = async || {
            let said = String::from_utf8(finish(Command::new("/run/client")).await.stdout).unwrap();
            let after = |start: &str| {
                said.lines().find_map(|line| line.strip_prefix(start)).unwrap_or_else(|| panic!("{said}")).to_owned()
            };
            after("X-Peer: ").parse::<SocketAddr>().unwrap().port() != after("own port ").parse::<u16>().unwrap()
        };
        assert!(!jet::launch::join_launched(), "no gateway has made the group");
        assert!(!through_a_door().await);
        let group = Path::new(&control_groups()).join("trunkline-jet");
        let before = fs::read_to_string("/proc/self/cgroup").unwrap();
        let before = before.lines().find_map(|line| line.strip_prefix("0::")).unwrap().to_owned();
        let door = open(front("run=10.0.0.0/8"), NOBODY).await;
        {
            let _return = Return(format!("{}{before}", control_groups()));
            assert!(!through_a_door().await, "not in the group yet");
            assert!(jet::launch::join_launched());
            assert!(through_a_door().await, "{}", rules());
        }
        assert!(group.is_dir());
        drop(door);
        assert!(!group.exists() && rules().is_empty());
        assert!(!jet::launch::join_launched());
    });
}

/// A number that no other test has at the moment.
fn rand() -> u64 {
    use std::hash::{BuildHasher, RandomState};
    RandomState::new().hash_one(0)
}

#[test]
fn a_containers_connections_are_redirected_in_its_namespace() {
    inside("doors::redirections::a_containers_connections_are_redirected_in_its_namespace", async || {
        neighbour("container", 1);
        neighbour("server", 2);
        servers_in("server");
        // Nothing forwards packets here: only the gateway reaches the server.
        let mut curl = command_in("container", "curl");
        curl.args(["--max-time", "1", "http://10.2.0.2/"]);
        assert_eq!(finish(curl).await.status.code(), Some(28), "it would wait for ever");
        let door = open(front("netns:container=10.2.0.0/24,2001:db8:2::/64"), NOBODY).await;
        for (url, gateway) in [("http://10.2.0.2/", "10.2.0.1"), ("http://[2001:db8:2::2]/", "2001:db8:2::1")] {
            assert_eq!(asked_from(command_in("container", "curl"), url).await.unwrap(), gateway);
        }
        assert_eq!(rules(), "", "none on the host");
        drop(door);
        assert_eq!(run("ip netns exec container nft list ruleset"), "");
    });
}

#[test]
fn a_routers_door_takes_what_it_forwards() {
    inside("doors::redirections::a_routers_door_takes_what_it_forwards", async || {
        neighbour("client", 1);
        neighbour("server", 2);
        servers_in("server");
        forward_packets();
        let urls = [
            ("http://10.2.0.2/", "10.1.0.2", "10.2.0.1"),
            ("http://[2001:db8:2::2]/", "2001:db8:1::2", "2001:db8:2::1"),
        ];
        for kind in ["interface", "tproxy"] {
            for (url, client, _) in urls {
                assert_eq!(asked_from(command_in("client", "curl"), url).await.unwrap(), client, "routed before");
            }
            let door = open(front(&format!("{kind}:to-client=10.2.0.0/16,2001:db8:2::/48")), NOBODY).await;
            for (url, _, gateway) in urls {
                assert_eq!(
                    asked_from(command_in("client", "curl"), url).await.unwrap(),
                    gateway,
                    "{kind}\n{}",
                    rules()
                );
            }
            // Nobody comes in at the door itself, whichever way.
            let port = door.addresses[0].port();
            for address in ["10.1.0.1", "127.0.0.1"] {
                let mut stranger =
                    if address == "10.1.0.1" { command_in("client", "curl") } else { Command::new("curl") };
                stranger.args(["-sS", "--max-time", "2", &format!("http://{address}:{port}/")]);
                assert!(!finish(stranger).await.status.success(), "{kind} {address}");
            }
            drop(door);
            assert_eq!(rules(), "");
            assert!(!run("ip rule list").contains("fwmark") && !run("ip -6 rule list").contains("fwmark"));
        }
        for (url, client, _) in urls {
            assert_eq!(asked_from(command_in("client", "curl"), url).await.unwrap(), client, "and after");
        }
    });
}

/// Says to a process that it is to open a door, and wait for its end.
pub const HOLDER: &str = "TRUNKLINE_TEST_HOLDER";

/// Another process of this test that has a door open.
pub fn holder(test: &str, redirection: &str) -> Child {
    let mut command = Command::new(env::current_exe().unwrap());
    command.args(["--exact", test, "--nocapture"]).env(INSIDE, test).env(HOLDER, redirection);
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.as_mut().unwrap()).lines();
    assert!(lines.any(|line| line.unwrap().ends_with("open")), "it opens its door");
    child
}

#[test]
fn a_gateway_that_is_killed_leaves_nothing_in_the_way() {
    let test = "doors::redirections::a_gateway_that_is_killed_leaves_nothing_in_the_way";
    inside(test, async || {
        if let Ok(redirection) = env::var(HOLDER) {
            let _door = open(front(&redirection), NOBODY).await;
            println!("open");
            return tokio::time::sleep(Duration::from_mins(1)).await;
        }
        neighbour("client", 1);
        neighbour("server", 2);
        servers_in("server");
        forward_packets();
        let redirected = "tproxy:to-client=10.2.0.0/16";
        let (mut first, mut second) = (holder(test, redirected), holder(test, redirected));
        assert_eq!(rules().matches("tproxy ip to").count(), 2);
        first.kill().unwrap();
        first.wait().unwrap();
        for _ in 0..100 {
            if rules().matches("tproxy ip to").count() == 1 {
                break;
            }
            thread::sleep(Duration::from_millis(20));
        }
        assert_eq!(
            rules().matches("tproxy ip to").count(),
            1,
            "the kernel has removed the rules of the dead, and of the dead alone"
        );
        let routes = || run("ip rule list").matches("fwmark").count();
        assert_eq!(routes(), 2, "its routes are still there, and idle");
        let third = open(front(redirected), NOBODY).await;
        assert_eq!(routes(), 2, "the next one has cleared them away, and left those of the living");
        assert_eq!(asked_from(command_in("client", "curl"), "http://10.2.0.2/").await.unwrap(), "10.2.0.1");
        second.kill().unwrap();
        second.wait().unwrap();
        drop(third);
        // The neighbours' way is free again.
        assert_eq!(asked_from(command_in("client", "curl"), "http://10.2.0.2/").await.unwrap(), "10.1.0.2");
    });
}

/// Counts the SYNs that arrive in a neighbour.
fn count_syns(neighbour: &str) {
    let rules = [
        "add table inet count",
        "add chain inet count input { type filter hook input priority 0; }",
        "add rule inet count input tcp flags & (syn | ack) == syn counter",
    ];
    for rule in rules {
        assert!(command_in(neighbour, "nft").arg(rule).status().unwrap().success());
    }
}

fn syns(neighbour: &str) -> u64 {
    let listed = run(&format!("ip netns exec {neighbour} nft list table inet count"));
    listed.split("packets ").nth(1).unwrap().split(' ').next().unwrap().parse().unwrap()
}

/// Kills a gateway and waits until the kernel has removed the rules that it owned.
fn kill_gateway(mut gateway: Child, rules: impl Fn() -> String) {
    gateway.kill().unwrap();
    gateway.wait().unwrap();
    while rules().contains("flags owner") {
        thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn strict_refuses_what_a_killed_gateway_redirected() {
    let test = "doors::redirections::strict_refuses_what_a_killed_gateway_redirected";
    inside(test, async || {
        if let Ok(redirection) = env::var(HOLDER) {
            let _door = open(front(&redirection), NOBODY).await;
            println!("open");
            return tokio::time::sleep(Duration::from_mins(1)).await;
        }
        neighbour("client", 1);
        neighbour("server", 2);
        servers_in("client");
        servers_in("server");
        forward_packets();
        count_syns("server");
        for from in ["local", "interface:to-client", "tproxy:to-client", "netns:client"] {
            let program = || if from == "local" { Command::new("curl") } else { command_in("client", "curl") };
            let here = || {
                let place = if from == "netns:client" { "ip netns exec client " } else { "" };
                run(&format!("{place}nft list ruleset"))
            };
            let redirection = format!("strict {from}=10.2.0.0/16,2001:db8:2::/48");
            let urls = ["http://10.2.0.2/", "http://[2001:db8:2::2]/"];
            let works = async || {
                for url in urls {
                    asked_from(program(), url).await.unwrap_or_else(|output| panic!("{from} {url} {output:?}"));
                }
            };
            let refused = async || {
                let before = syns("server");
                for url in urls {
                    let output = asked_from(program(), url).await.unwrap_err();
                    assert_eq!(output.status.code(), Some(7), "refused, not silent: {from} {output:?}");
                }
                assert_eq!(syns("server"), before, "{from}\n{}", here());
            };
            let gateway = holder(test, &redirection);
            works().await;
            kill_gateway(gateway, here);
            refused().await;
            if from == "local" {
                assert!(!goes_through_a_door("http://10.1.0.2/").await, "others go as ever");
            }
            // One that ends before it serves leaves everything as it was.
            drop(open(front(&redirection), NOBODY).await);
            refused().await;
            // The next one takes over, and is the only one.
            let door = open(front(&redirection), NOBODY).await;
            works().await;
            let (out, _accepted) = tokio::sync::mpsc::channel(1);
            let other = front(&redirection).open(out, &jet::log::Log::default(), &Inherited::default()).await;
            assert!(other.unwrap_err().to_string().contains("another gateway redirects"));
            assert_eq!(here().matches("table inet trunkline_jet_strict_").count(), 1, "{}", here());
            works().await;
            door.close(false).await;
            assert_eq!(here(), "", "{from}");
            if from != "netns:client" {
                works().await;
            }
        }
    });
}

#[test]
fn strict_leaves_nothing_when_it_ends_as_it_should() {
    inside("doors::redirections::strict_leaves_nothing_when_it_ends_as_it_should", async || {
        neighbour("server", 1);
        servers_in("server");
        serve_http(listener("127.0.0.1:8080"));
        for closes in [true, false] {
            let door = open(front("strict local=any"), NOBODY).await;
            assert!(goes_through_a_door("http://10.1.0.2/").await, "{}", rules());
            assert!(!goes_through_a_door("http://127.0.0.1:8080/").await, "this host is left alone");
            if closes {
                door.close(false).await;
            } else {
                drop(door);
            }
            assert_eq!(rules(), "");
        }
    });
}

#[test]
fn what_a_killed_gateway_refuses_is_said() {
    let test = "doors::redirections::what_a_killed_gateway_refuses_is_said";
    inside(test, async || {
        if let Ok(redirection) = env::var(HOLDER) {
            let _door = open(front(&redirection), NOBODY).await;
            println!("open");
            return tokio::time::sleep(Duration::from_mins(1)).await;
        }
        kill_gateway(holder(test, "strict local=10.2.0.0/16"), rules);
        // Another redirection is another gateway's, perhaps: what was refused stays refused.
        let log = jet::log::Log::default();
        let door = open(front("strict local=10.3.0.0/16"), NOBODY).await;
        jet::door::redirect::note_left_behind(&log);
        let said = log.lines().concat();
        let table = said.split("nft delete table inet ").nth(1).unwrap_or_else(|| panic!("{said}"));
        let table = table.split(')').next().unwrap();
        run(&format!("nft delete table inet {table}"));
        door.close(false).await;
        assert_eq!(rules(), "");
    });
}

#[test]
fn a_successors_rules_take_over_without_a_gap() {
    inside("doors::redirections::a_successors_rules_take_over_without_a_gap", async || {
        neighbour("server", 1);
        servers_in("server");
        let url = "http://10.1.0.2/";
        let first = open(front("local=10.0.0.0/8"), NOBODY).await;
        let second = open(front("local=10.0.0.0/8"), NOBODY).await;
        let closing = tokio::spawn(first.close(true));
        while !closing.is_finished() {
            assert!(goes_through_a_door(url).await, "{}", rules());
        }
        assert!(goes_through_a_door(url).await, "{}", rules());
        second.close(false).await;
        assert_eq!(rules(), "");
        assert!(!goes_through_a_door(url).await);
    });
}

#[test]
fn a_host_without_ipv6_does_without() {
    inside("doors::redirections::a_host_without_ipv6_does_without", async || {
        neighbour("client", 1);
        neighbour("server", 2);
        servers_in("server");
        forward_packets();
        fs::write("/proc/sys/net/ipv6/conf/all/disable_ipv6", "1").unwrap();
        for redirection in ["local=any", "tproxy:to-client=any"] {
            let door = open(front(redirection), NOBODY).await;
            assert_eq!(door.addresses.len(), 1, "{redirection}");
            let from = asked_from(command_in("client", "curl"), "http://10.2.0.2/").await.unwrap();
            // The host's own programs are redirected, and what it forwards is not; or the other way round.
            assert_eq!(from, if redirection.starts_with("local") { "10.1.0.2" } else { "10.2.0.1" });
        }
    });
}

#[test]
fn what_is_missing_is_named() {
    inside("doors::redirections::what_is_missing_is_named", async || {
        let error = async |text: &str| {
            let (out, _accepted) = tokio::sync::mpsc::channel(1);
            front(text).open(out, &jet::log::Log::default(), &Inherited::default()).await.unwrap_err().to_string()
        };
        let said = error("netns:nowhere=any").await;
        assert!(said.contains("cannot enter the network namespace /run/netns/nowhere"), "{said}");
        let said = error("cgroup:/no/such/group=any").await;
        assert!(said.contains("there is no control group /no/such/group"), "{said}");
        let said = error("cgroup:/=any").await;
        assert!(said.contains("say local"), "{said}");
    });
}
