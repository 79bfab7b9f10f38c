//! Doors with real gateways behind them.

use std::process::{Command, Output};
use std::sync::Arc;
use std::time::Duration;

use jet::door::{Door, Front, Preload, preload};
use jet::far::{Far, FarOptions, listen};
use jet::handover::Inherited;
use jet::keys::{Identity, Peers};
use jet::launch;
use jet::log::Log;
use jet::near::{Near, NearOptions};
use jet::options::Options;

use crate::namespace::{finish, inside, neighbour};
use crate::peers::{FILE, servers_in};

/// A near and a far gateway, which lets programs go to port 80 of 10.1.0.2 alone.
async fn gateways() -> (Near, Arc<Far>) {
    let (near_key, far_key) = (Identity::generate().unwrap(), Identity::generate().unwrap());
    let pinned = |key: &Identity| {
        let mut peers = Peers::default();
        peers.pin(key.fingerprint(), "peer").unwrap();
        peers
    };
    let listener = listen("10.1.0.1:0".parse().unwrap(), &Options::default()).unwrap();
    let to = listener.local_addr().unwrap().to_string();
    let allowed = jet::allow::Allowed::new(vec!["10.1.0.2:80".parse().unwrap(), "10.1.0.2:9".parse().unwrap()]);
    let told = FarOptions { identity: far_key.clone(), peers: pinned(&near_key), allowed, options: Options::default() };
    let far = Far::start(told, vec![listener], Log::default()).unwrap();
    let peers = pinned(&far_key);
    let told = NearOptions { identity: near_key, peers, to, via: Vec::new(), options: Options::default() };
    let near = Near::start(told, Log::default()).unwrap();
    assert!(near.ready(Duration::from_secs(10)).await);
    (near, far)
}

async fn open(near: &Near, front: Front) -> Door {
    front.open(near.doors(), &Log::default(), &Inherited::default()).await.unwrap()
}

async fn curl(arguments: String) -> Output {
    let mut curl = Command::new("curl");
    curl.args(["-sS", "--max-time", "20"]).args(arguments.split_whitespace());
    finish(curl).await
}

#[test]
fn every_door_leads_to_the_server_and_says_what_it_can_of_failures() {
    inside("gateways::every_door_leads_to_the_server_and_says_what_it_can_of_failures", async || {
        neighbour("server", 1);
        servers_in("server");
        let (near, far) = gateways().await;
        let carried = || far.status().sessions[0].delivered_bytes;

        let door = open(&near, Front::Forward("0=10.1.0.2:80".parse().unwrap())).await;
        let downloaded = curl(format!("http://{}/", door.addresses[0])).await;
        assert_eq!(downloaded.stdout.len(), FILE, "{downloaded:?}");

        let door = open(&near, Front::Socks5("0".parse().unwrap())).await;
        let through = |url: &str| curl(format!("--socks5 {} http://{url}/", door.addresses[0]));
        assert_eq!(through("10.1.0.2").await.stdout.len(), FILE);
        for (url, code) in [("10.1.0.2:9", "(5)"), ("10.1.0.2:7", "(2)"), ("203.0.113.1", "(2)")] {
            let said = String::from_utf8_lossy(&through(url).await.stderr).into_owned();
            assert!(said.contains(code), "{url}: {said}");
        }

        let socket = preload::default_socket().unwrap();
        let _door = open(&near, Front::Preload(Preload { socket: socket.clone(), direct: Vec::new() })).await;
        let mut python = Command::new("python3");
        let connect = "import errno, socket; [print(errno.errorcode.get(socket.socket().connect_ex(('10.1.0.2', port)), 'connected')) for port in (80, 9, 7)]";
        python.args(["-c", connect]).envs(launch::environment(&socket).unwrap());
        let said = finish(python).await;
        assert_eq!(String::from_utf8_lossy(&said.stdout), "connected\nECONNREFUSED\nEACCES\n", "{said:?}");

        // Both gateways are on the host that is redirected.
        let _door = open(&near, Front::Redirection("local=10.0.0.0/8".parse().unwrap())).await;
        let before = carried();
        assert_eq!(curl("http://10.1.0.2/".to_owned()).await.stdout.len(), FILE);
        assert!(carried() >= before + FILE as u64, "{} {}", before, carried());
    });
}
