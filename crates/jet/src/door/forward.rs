//! The plain port forward: a port here stands for a destination there.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::os::fd::AsFd;
use std::str::FromStr;

use tokio::task::JoinSet;

use super::listen::Recognised;
use super::{Accepted, Answer, DoorError, Hall, Open, listen};
use crate::handover::Inherited;
use crate::udp::{Flows, Relay};
use crate::{Destination, parse_destination};

/// `[ADDRESS:]PORT=HOST:PORT`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Forward {
    /// The address and port here.
    pub listen: SocketAddr,
    /// What the port stands for.
    pub to: Destination,
}

impl FromStr for Forward {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (listen, to) = text.split_once('=').ok_or("a forward is [ADDRESS:]PORT=HOST:PORT, such as 3306=db:3306")?;
        Ok(Self {
            listen: listen_address(listen)?,
            to: parse_destination(to).map_err(|error| format!("{to}: {error}"))?,
        })
    }
}

/// `[ADDRESS:]PORT`, on loopback where no address is given.
pub fn listen_address(text: &str) -> Result<SocketAddr, String> {
    if let Ok(port) = text.parse() {
        return Ok(SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port));
    }
    text.parse()
        .map_err(|_| format!("{text}: where to listen is PORT, ADDRESS:PORT or [IPV6]:PORT, an address of this host"))
}

/// A forward of datagrams: what comes to the port goes to the destination, and answers go back to their askers.
#[derive(Clone, Debug)]
pub struct ForwardUdp {
    /// The port here, and what it stands for.
    pub forward: Forward,
    /// The gateway's way in for datagrams, if it carries them.
    pub flows: Flows,
}

impl ForwardUdp {
    pub(super) async fn open(self, hall: Hall, inherited: &Inherited) -> Result<Open, DoorError> {
        let Forward { listen, to } = self.forward;
        require_loopback(listen)?;
        let socket = listen::bind_udp(listen, inherited).await?;
        let addresses = socket.local_addr().into_iter().collect();
        let listeners = socket.as_fd().try_clone_to_owned().into_iter().collect();
        let relay = Relay::new(socket, self.flows);
        let mut tasks = JoinSet::new();
        tasks.spawn(listen::relay(relay, hall.closing, move |_, _, _| Some((to.clone(), 0))));
        Ok(Open { addresses, listeners, tasks, trace: None })
    }
}

/// A forward cannot authenticate its users.
fn require_loopback(listen: SocketAddr) -> Result<(), DoorError> {
    if listen.ip().is_loopback() {
        return Ok(());
    }
    let remedy = "forward on a loopback address, or use SOCKS5 with users";
    Err(DoorError::Exposed { door: "a forward", address: listen, remedy })
}

impl Forward {
    pub(super) async fn open(self, hall: Hall, inherited: &Inherited) -> Result<Open, DoorError> {
        require_loopback(self.listen)?;
        let listener = listen::bind(self.listen, inherited).await?;
        let addresses = listener.local_addr().into_iter().collect();
        let listeners = listener.as_fd().try_clone_to_owned().into_iter().collect();
        let mut tasks = JoinSet::new();
        tasks.spawn(listen::serve(listener, "forward", hall, move |stream| {
            let to = self.to.clone();
            async { Recognised::Accepted(Accepted { stream, to, answer: Answer::Established }) }
        }));
        Ok(Open { addresses, listeners, tasks, trace: None })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forwards_are_read() {
        let forward: Forward = "3307=db.example:3306".parse().unwrap();
        assert_eq!(forward.listen, "127.0.0.1:3307".parse().unwrap());
        assert_eq!(forward.to, Destination::Name("db.example".to_owned(), 3306));
        let forward: Forward = "[::1]:80=[2001:db8::1]:8080".parse().unwrap();
        assert_eq!(forward.listen, "[::1]:80".parse().unwrap());
        assert_eq!(forward.to, Destination::Address("[2001:db8::1]:8080".parse().unwrap()));
        for wrong in ["3306", "db:3306=db:3306", "3306=db", "=db:1", "70000=db:1", "1=db:0"] {
            assert!(wrong.parse::<Forward>().is_err(), "{wrong}");
        }
    }
}
