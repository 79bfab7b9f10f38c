//! Both sides of a door: servers to be reached, and a gateway that reaches them at once, on its own.

use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::thread;
use std::time::Duration;

use jet::door::{Accepted, Door, Front, redirect};
use jet::handover::Inherited;
use jet::log::Log;
use jet::{Destination, Refusal};
use socket2::{Domain, Socket, Type};
use tokio::io::{AsyncReadExt, AsyncWriteExt, copy_bidirectional};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::mpsc;

use crate::doors::namespace;

/// The name that the gateway resolves; to the server of the test.
pub const NAME: &str = "server.test";
/// A destination that the gateway says is unreachable.
pub const UNREACHABLE: &str = "198.51.100.9:80";
/// A destination that the gateway gives up after a while.
pub const SILENT: &str = "198.51.100.10:80";

/// A door, and a gateway behind it that connects to destinations itself.
pub async fn open(front: Front, named: SocketAddr) -> Door {
    let (out, accepted) = mpsc::channel(16);
    tokio::spawn(relay(accepted, named));
    front.open(out, &Log::default(), &Inherited::default()).await.unwrap()
}

async fn relay(mut accepted: mpsc::Receiver<Accepted>, named: SocketAddr) {
    while let Some(accepted) = accepted.recv().await {
        tokio::spawn(async move {
            match reach(&accepted.to, named).await {
                Err(refusal) => accepted.refused(refusal).await,
                Ok(mut far) => {
                    let mut near = accepted.opened().await.unwrap();
                    let _ = copy_bidirectional(&mut near, &mut far).await;
                }
            }
        });
    }
}

async fn reach(to: &Destination, named: SocketAddr) -> Result<TcpStream, Refusal> {
    let address = match to {
        Destination::Name(name, _) if name != NAME => return Err(Refusal::UnknownName),
        Destination::Name(..) => named,
        Destination::Address(address) if *address == UNREACHABLE.parse().unwrap() => {
            return Err(Refusal::HostUnreachable);
        }
        Destination::Address(address) if *address == SILENT.parse().unwrap() => {
            tokio::time::sleep(Duration::from_secs(3)).await;
            return Err(Refusal::TimedOut);
        }
        Destination::Address(address) => *address,
    };
    let connect = async || -> io::Result<TcpStream> {
        let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
        redirect::exempt(&socket)?;
        socket.connect(address).await
    };
    connect().await.map_err(|error| Refusal::from(&error))
}

/// What the HTTP server's file has in it.
pub const FILE: usize = 3_000_000;

/// Serves, at every path, [`FILE`] bytes; who asked is in a header.
pub fn serve_http(listener: Socket) {
    serve(listener, async |mut stream| {
        let peer = stream.peer_addr()?;
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            head.push(stream.read_u8().await?);
        }
        let answer =
            format!("HTTP/1.1 200 OK\r\nContent-Length: {FILE}\r\nX-Peer: {peer}\r\nConnection: close\r\n\r\n");
        stream.write_all(answer.as_bytes()).await?;
        stream.write_all(&vec![b'x'; FILE]).await
    });
}

/// Sends back what comes, and ends when the other side has.
pub fn serve_echo(listener: Socket) {
    serve(listener, async |mut stream| {
        let (mut read, mut write) = stream.split();
        tokio::io::copy(&mut read, &mut write).await?;
        write.shutdown().await
    });
}

fn serve(listener: Socket, each: impl AsyncFn(TcpStream) -> io::Result<()> + Copy + Send + 'static) {
    listener.set_nonblocking(true).unwrap();
    thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        tokio::task::LocalSet::new().block_on(&runtime, async move {
            let listener = TcpListener::from_std(listener.into()).unwrap();
            loop {
                let Ok((stream, _)) = listener.accept().await else {
                    tokio::time::sleep(Duration::from_millis(10)).await;
                    continue;
                };
                // What becomes of one connection is for the client to judge.
                tokio::task::spawn_local(async move { each(stream).await });
            }
        });
    });
}

/// Sends back each datagram, after who sent it: an address and a blank.
pub fn serve_datagrams(socket: Socket) {
    let socket = UdpSocket::from(socket);
    thread::spawn(move || {
        let mut buffer = vec![0; 1 << 16];
        while let Ok((count, from)) = socket.recv_from(&mut buffer) {
            let answer = [format!("{} ", from.ip()).as_bytes(), &buffer[..count]].concat();
            let _ = socket.send_to(&answer, from);
        }
    });
}

/// A socket at an address, at IPv6 addresses for IPv6 alone.
fn bound(address: &str, kind: Type) -> Socket {
    let address: SocketAddr = address.parse().unwrap();
    let socket = Socket::new(Domain::for_address(address), kind, None).unwrap();
    if address.is_ipv6() {
        socket.set_only_v6(true).unwrap();
    }
    socket.bind(&address.into()).unwrap();
    socket
}

/// One that listens.
pub fn listener(address: &str) -> Socket {
    let socket = bound(address, Type::STREAM);
    socket.listen(256).unwrap();
    socket
}

/// All servers in a neighbour, at all its addresses: HTTP at port 80, echo of connections and of datagrams at port 7.
pub fn servers_in(neighbour: &str) {
    for host in ["0.0.0.0", "[::]"] {
        let (http, echo, datagrams) = namespace::enter(neighbour, move || {
            let at = |port: u16| format!("{host}:{port}");
            (listener(&at(80)), listener(&at(7)), bound(&at(7), Type::DGRAM))
        });
        serve_http(http);
        serve_echo(echo);
        serve_datagrams(datagrams);
    }
}
