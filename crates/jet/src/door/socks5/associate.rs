//! UDP ASSOCIATE (RFC 1928, sections 4, 6 and 7): a socket for a client's datagrams, while the connection lasts that
//! asked for it.

use super::datagram;
use super::handshake;
use crate::Refusal;
use crate::udp::{Flows, Relay};
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpStream, UdpSocket};

/// Time to wait for a session that has just begun.
const BEGIN: Duration = Duration::from_secs(5);

/// Serves an association for datagrams from the client's `port`, or from the first port that it uses if that is 0.
pub(super) async fn serve(mut stream: TcpStream, port: u16, flows: Flows) -> io::Result<()> {
    let refusal = match flows.carried(BEGIN).await {
        None => Some(handshake::reply(Some(Refusal::NoGateway))),
        Some(false) => Some(handshake::unsupported()),
        Some(true) => None,
    };
    if let Some(refusal) = refusal {
        return stream.write_all(&refusal).await;
    }
    let bound = match flows.place() {
        Some(place) => UdpSocket::bind((stream.local_addr()?.ip(), 0)).await.map(|socket| (place, socket)),
        None => Err(io::Error::other("too many programs have a socket for datagrams")),
    };
    let (_place, socket) = match bound {
        Ok(bound) => bound,
        Err(error) => {
            flows.log.note("the socks5 door has no socket for a program's datagrams", &error.to_string());
            return stream.write_all(&handshake::reply(Some(Refusal::Failed))).await;
        }
    };
    stream.write_all(&handshake::bound(socket.local_addr()?)).await?;
    let mut client = Client { ip: stream.peer_addr()?.ip().to_canonical(), port: Some(port).filter(|port| *port > 0) };
    let relay = Relay::new(socket, flows);
    let gone = async {
        // The control connection carries nothing more.
        let mut ignored = [0; 64];
        while stream.read(&mut ignored).await.is_ok_and(|count| count > 0) {}
    };
    tokio::select! {
        () = relay.run(|from, _, bytes| if client.sends(from) { datagram::read(bytes) } else { None }) => {}
        () = gone => {}
    }
    relay.close();
    Ok(())
}

/// The client whose datagrams are taken: others that reach the socket have not authenticated.
struct Client {
    ip: IpAddr,
    port: Option<u16>,
}

impl Client {
    fn sends(&mut self, from: SocketAddr) -> bool {
        from.ip().to_canonical() == self.ip && *self.port.get_or_insert(from.port()) == from.port()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn datagrams_are_taken_from_the_client_alone() {
        let from = |text: &str| text.parse().unwrap();
        let mut client = Client { ip: "192.0.2.1".parse().unwrap(), port: None };
        assert!(!client.sends(from("192.0.2.2:1000")), "another host does not choose the port");
        assert!(client.sends(from("192.0.2.1:1000")) && client.sends(from("[::ffff:192.0.2.1]:1000")));
        assert!(!client.sends(from("192.0.2.1:1001")));
        let mut stated = Client { ip: "::1".parse().unwrap(), port: Some(7) };
        assert!(!stated.sends(from("[::1]:8")) && stated.sends(from("[::1]:7")));
    }
}
