//! Doors with real gateways behind them.

use std::process::{Command, Output};
use std::sync::Arc;
use std::time::Duration;

use jet::door::{Door, Front, Preload, Redirection, preload};
use jet::far::{Far, FarOptions, listen};
use jet::handover::Inherited;
use jet::keys::{Identity, Peers};
use jet::launch;
use jet::limits::Limits;
use jet::log::Log;
use jet::near::{Near, NearOptions};
use jet::options::Options;
use tokio::time::sleep;

use crate::doors::namespace::{finish, inside, neighbour, run};
use crate::doors::peers::{FILE, NAME, servers_in};
use crate::doors::redirections::{goes_through_a_door, rules};

/// A family of addresses: this namespace's and the server's, as URLs have them.
#[derive(Clone, Copy)]
struct Family {
    own: &'static str,
    server: &'static str,
    /// A network with the server in it, and how Python names the family.
    network: &'static str,
    python: &'static str,
}

const V4: Family = Family { own: "10.1.0.1", server: "10.1.0.2", network: "10.0.0.0/8", python: "AF_INET" };
const V6: Family =
    Family { own: "[2001:db8:1::1]", server: "[2001:db8:1::2]", network: "2001:db8::/32", python: "AF_INET6" };

/// A near and a far gateway, which lets programs go to ports 80 and 9 of the server, and to port 80 of one more host by
/// its name.
async fn gateways(family: Family) -> (Near, Arc<Far>) {
    // A server's private address needs a rule of its own, besides that of its name.
    let private = ["10.1.0.2:80".to_owned(), format!("{NAME}:80")];
    let rules = [format!("{}:80", family.server), format!("{}:9", family.server)];
    let rules: Vec<String> = rules.into_iter().chain(private).collect();
    pair(family.own, &rules, Options::default()).await
}

/// A near and a far gateway, at an address, which lets programs go where the rules say.
pub async fn pair(own: &str, rules: &[String], options: Options) -> (Near, Arc<Far>) {
    let (near_key, far_key) = (Identity::generate().unwrap(), Identity::generate().unwrap());
    let listener = listen(format!("{own}:0").parse().unwrap(), &options).unwrap();
    let to = listener.local_addr().unwrap().to_string();
    let allowed = jet::allow::Allowed::new(rules.iter().map(|rule| rule.parse().unwrap()).collect());
    let (identity, peers) = (far_key.clone(), pinned(&near_key));
    let told = FarOptions { identity, peers, allowed, limits: Limits::default(), options: options.clone() };
    let far = Far::start(told, vec![listener], Log::default()).unwrap();
    let near = near_to(to, near_key, &far_key, options);
    assert!(near.ready(Duration::from_secs(10)).await);
    (near, far)
}

/// A near gateway of a far one, which may be there or not.
pub fn near_to(to: String, identity: Identity, far: &Identity, options: Options) -> Near {
    let told = NearOptions { identity, peers: pinned(far), to: vec![to], via: Vec::new(), direct: Vec::new(), options };
    Near::start(told, Log::default()).unwrap()
}

fn pinned(key: &Identity) -> Peers {
    let mut peers = Peers::default();
    peers.pin(key.fingerprint(), "peer").unwrap();
    peers
}

pub async fn open(near: &Near, front: Front) -> Door {
    front.open(near.doors(), &Log::default(), &Inherited::default()).await.unwrap()
}

async fn curl(arguments: String) -> Output {
    let mut curl = Command::new("curl");
    curl.args(["-sS", "--max-time", "20"]).args(arguments.split_whitespace());
    finish(curl).await
}

/// Every door leads to the server, over that family of addresses between program and gateway, gateways, and gateway and
/// server; and says what it can of failures.
async fn every_door(family: Family) {
    let Family { server, network, python: name, .. } = family;
    neighbour("server", 1);
    servers_in("server");
    let (near, far) = gateways(family).await;
    let carried = || far.status().sessions[0].delivered_bytes;

    let door = open(&near, Front::Forward(format!("0={server}:80").parse().unwrap())).await;
    let downloaded = curl(format!("http://{}/", door.addresses[0])).await;
    assert_eq!(downloaded.stdout.len(), FILE, "{downloaded:?}");

    let door = open(&near, Front::Socks5("0".parse().unwrap())).await;
    let through = |url: &str| curl(format!("--socks5 {} http://{url}/", door.addresses[0]));
    assert_eq!(through(server).await.stdout.len(), FILE);
    for (url, code) in
        [(format!("{server}:9"), "(5)"), (format!("{server}:7"), "(2)"), ("203.0.113.1".to_owned(), "(2)")]
    {
        let said = String::from_utf8_lossy(&through(&url).await.stderr).into_owned();
        assert!(said.contains(code), "{url}: {said}");
    }

    let socket = preload::default_socket().unwrap();
    let _door = open(&near, Front::Preload(Preload { socket: socket.clone(), direct: Vec::new() })).await;
    let mut python = Command::new("python3");
    let connect = format!(
        "import errno, socket; [print(errno.errorcode.get(socket.socket(socket.{name}).connect_ex(('{}', port)), 'connected')) for port in (80, 9, 7)]",
        server.trim_matches(['[', ']'])
    );
    python.args(["-c", &connect]).envs(launch::environment(&socket).unwrap());
    let said = finish(python).await;
    assert_eq!(String::from_utf8_lossy(&said.stdout), "connected\nECONNREFUSED\nEACCES\n", "{said:?}");

    // Both gateways are on the host that is redirected.
    let _door = open(&near, Front::Redirection(format!("local={network}").parse().unwrap())).await;
    let before = carried();
    assert_eq!(curl(format!("http://{server}/")).await.stdout.len(), FILE);
    // The last acknowledgement may be a delayed one.
    for _ in 0..20 {
        if carried() >= before + FILE as u64 {
            return;
        }
        sleep(Duration::from_millis(50)).await;
    }
    panic!("{before} {}", carried());
}

#[test]
fn every_door_leads_to_the_server_and_says_what_it_can_of_failures() {
    inside("doors::gateways::every_door_leads_to_the_server_and_says_what_it_can_of_failures", || every_door(V4));
}

#[test]
fn every_door_leads_to_the_server_over_ipv6() {
    inside("doors::gateways::every_door_leads_to_the_server_over_ipv6", || every_door(V6));
}

#[test]
fn a_name_whose_ipv6_address_is_silent_is_reached_by_its_other_one() {
    inside("doors::gateways::a_name_whose_ipv6_address_is_silent_is_reached_by_its_other_one", async || {
        neighbour("server", 1);
        servers_in("server");
        // Nobody answers for the first one: the kernel would look for it for three seconds.
        std::fs::write("/run/hosts", format!("2001:db8:1::99 {NAME}\n10.1.0.2 {NAME}\n")).unwrap();
        run("mount --bind /run/hosts /etc/hosts");
        let (near, _far) = gateways(V6).await;
        let door = open(&near, Front::Forward(format!("0={NAME}:80").parse().unwrap())).await;
        let began = tokio::time::Instant::now();
        let downloaded = curl(format!("http://{}/", door.addresses[0])).await;
        assert_eq!(downloaded.stdout.len(), FILE, "{downloaded:?}");
        assert!(began.elapsed() < Duration::from_secs(2), "{:?}", began.elapsed());
    });
}

/// Once a server has answered directly, the kernel leaves connections to it alone, until the path is gone.
#[test]
fn programs_reach_servers_on_a_short_path_without_the_gateway() {
    inside("doors::gateways::programs_reach_servers_on_a_short_path_without_the_gateway", async || {
        neighbour("server", 1);
        neighbour("other", 2);
        servers_in("server");
        servers_in("other");
        for url in ["http://10.1.0.2/", "http://[2001:db8:1::2]/"] {
            assert!(!goes_through_a_door(url).await, "a new link answers IPv6 after a second");
        }
        let (near_key, far_key) = (Identity::generate().unwrap(), Identity::generate().unwrap());
        let options = Options::default();
        let listener = listen("10.1.0.1:0".parse().unwrap(), &options).unwrap();
        let to = vec![listener.local_addr().unwrap().to_string()];
        let told = FarOptions {
            identity: far_key.clone(),
            peers: pinned(&near_key),
            allowed: jet::allow::Allowed::new(vec!["0.0.0.0/0:80".parse().unwrap(), "[::]/0:80".parse().unwrap()]),
            limits: Limits::default(),
            options: options.clone(),
        };
        let far = Far::start(told, vec![listener], Log::default()).unwrap();
        let direct = ["10.1.0.0/16:80", "[2001:db8:1::]/48:80"].map(|rule| rule.parse().unwrap()).to_vec();
        let told = NearOptions { identity: near_key, peers: pinned(&far_key), to, via: Vec::new(), direct, options };
        let near = Near::start(told, Log::default()).unwrap();
        assert!(near.ready(Duration::from_secs(10)).await);
        let redirection = Redirection { bypass: near.reached(), .."local=10.0.0.0/8,2001:db8::/32".parse().unwrap() };
        let door = open(&near, Front::Redirection(redirection)).await;
        let servers = || near.status().direct.unwrap().servers;
        for (count, url) in [(1, "http://10.1.0.2/"), (2, "http://[2001:db8:1::2]/")] {
            assert!(goes_through_a_door(url).await, "the first one shows that the server answers");
            assert_eq!(servers(), count);
            let mut free = false;
            for _ in 0..100 {
                free = free || !goes_through_a_door(url).await;
            }
            assert!(free && !goes_through_a_door(url).await, "{url}\n{}", rules());
        }
        for _ in 0..2 {
            assert!(goes_through_a_door("http://10.2.0.2/").await, "no rule has it");
        }
        // Without the far gateway there is no path that could be short: what is redirected finds no session.
        drop(far);
        near.trust(Peers::default());
        for _ in 0..500 {
            if servers() == 0 && !rules().contains(" . 80") {
                break;
            }
            sleep(Duration::from_millis(10)).await;
        }
        assert!(servers() == 0 && !rules().contains(" . 80"), "{}", rules());
        drop(door);
        assert_eq!(rules(), "", "no trace");
    });
}
