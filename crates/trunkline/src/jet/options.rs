//! What both gateways are told.

use crate::failure::Failure;
use crate::number::whole;
use clap::ValueHint;
use jet::handover::Inherited;
use jet::options::{Options, PATIENCE, Streams, Udp};
use std::net::SocketAddr;
use std::os::fd::{AsFd, OwnedFd};
use std::path::PathBuf;
use std::time::Duration;
use stripe::optimizer::Policy;
use tokio::net::TcpListener;
use tokio::task::JoinSet;
use units::{Bytes, Time};

/// How many streams there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Number {
    Auto,
    Fixed(u32),
}

fn number(text: &str) -> Result<Number, String> {
    match text.parse() {
        _ if text == "auto" => Ok(Number::Auto),
        Ok(count) if (1..=128).contains(&count) => Ok(Number::Fixed(count)),
        _ => Err("\"auto\", or a number from 1 to 128".to_owned()),
    }
}
fn memory(text: &str) -> Result<Bytes, String> {
    let bytes: Bytes = text.parse().map_err(|error: units::ParseError| error.to_string())?;
    if bytes >= Bytes::from_mib(1) { Ok(bytes) } else { Err("at least 1 MiB".to_owned()) }
}
fn deadline(text: &str) -> Result<Time, String> {
    let time: Time = text.parse().map_err(|error: units::ParseError| error.to_string())?;
    let sensible = Time::from_ms(1)..=Time::from_secs(10);
    if sensible.contains(&time) { Ok(time) } else { Err("from 1 ms to 10 s".to_owned()) }
}
/// An address by numbers with its port.
pub fn address(text: &str) -> Result<SocketAddr, String> {
    text.parse().map_err(|_| "an address by numbers and a port, as 127.0.0.1:7609".to_owned())
}
/// A loopback address: nobody is asked who he is there.
pub fn loopback(text: &str) -> Result<SocketAddr, String> {
    let address = address(text)?;
    if address.ip().is_loopback() {
        Ok(address)
    } else {
        Err("not a loopback address, and who asks there is not asked who he is".to_owned())
    }
}

/// What more streams are used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum PolicyName {
    /// Lift the limits of windows and buffers, and nothing else
    Polite,
    /// Fill what others leave
    Fill,
    /// As long as it gains anything
    Greedy,
}

#[derive(Debug, clap::Args)]
pub struct Common {
    /// The folder of this host's key and its peers' [default: ~/.config/trunkline/jet]
    #[arg(long, value_name = "FOLDER", value_hint = ValueHint::DirPath)]
    pub keys: Option<PathBuf>,
    /// TCP connections between the gateways: a number, or by what is measured
    #[arg(long, value_name = "N", default_value = "auto", value_parser = number)]
    pub streams: Number,
    /// What more streams are used for
    #[arg(long, value_name = "POLICY", default_value = "fill")]
    pub policy: PolicyName,
    /// As Wang et al. 2014 have it: --streams N, segments of 64 KB in turn, 64 KB of socket buffer for each
    #[arg(long)]
    pub paper: bool,
    /// The most streams
    #[arg(long, value_name = "N", default_value_t = 128, value_parser = whole::<u32>(1..=128))]
    pub most_streams: u32,
    /// The congestion control of streams, by the kernel's name [default: the system's]
    #[arg(long, value_name = "NAME")]
    pub congestion: Option<String>,
    /// The most connections of a session at once, and of all sessions of a peer
    #[arg(long, value_name = "N", default_value_t = 16384, value_parser = whole::<u32>(1..=1_000_000))]
    pub connections: u32,
    /// Memory for one connection, each way
    #[arg(long, value_name = "BYTES", default_value = "64 MiB", value_parser = memory)]
    pub connection_memory: Bytes,
    /// Memory for one peer, each way
    #[arg(long, value_name = "BYTES", default_value = "256 MiB", value_parser = memory)]
    pub peer_memory: Bytes,
    /// Memory in all
    #[arg(long, value_name = "BYTES", default_value = "1 GiB", value_parser = memory)]
    pub memory: Bytes,
    /// Carry datagrams of UDP too, if the other gateway does: over streams of TCP, each dropped that no stream takes in
    /// time [default: UDP passes by]
    #[arg(long)]
    pub udp: bool,
    /// How long a datagram may wait here for a stream, as "100 ms"
    #[arg(long, value_name = "TIME", default_value = "100 ms", requires = "udp", value_parser = deadline)]
    pub udp_deadline: Time,
    /// Where `trunkline jet status` and Prometheus (/metrics) may ask, on loopback [default: nowhere]
    #[arg(long, value_name = "ADDRESS", value_parser = loopback)]
    pub monitor: Option<SocketAddr>,
    /// How long connections outlive an outage of all paths, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = PATIENCE.as_secs(),
          value_parser = whole::<u64>(1..=86_400))]
    pub patience: u64,
    /// How long connections may take to end when the gateway is told to go, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 30, value_parser = whole::<u64>(0..=86_400))]
    pub grace: u64,
    /// Write why there are as many streams as there are, whenever that changes, and what becomes of datagrams, every 10
    /// s at most
    #[arg(long)]
    pub explain: bool,
}

impl Common {
    /// As the gateway takes it.
    pub fn options(&self) -> Result<Options, Failure> {
        let streams = match (self.streams, self.paper) {
            (Number::Auto, true) => {
                return Err(Failure::Input("--paper has a fixed number of streams: say --streams N".to_owned()));
            }
            (Number::Fixed(count), true) => Streams::Paper(count),
            (Number::Fixed(count), false) => Streams::Fixed(count),
            (Number::Auto, false) => Streams::Tuned(match self.policy {
                PolicyName::Polite => Policy::Polite,
                PolicyName::Fill => Policy::Fill,
                PolicyName::Greedy => Policy::Greedy,
            }),
        };
        Ok(Options {
            streams,
            most_streams: self.most_streams,
            connections: self.connections as usize,
            connection_memory: self.connection_memory.get(),
            peer_memory: self.peer_memory.get(),
            memory: self.memory.get(),
            patience: Duration::from_secs(self.patience),
            congestion: self.congestion.clone(),
            udp: self.udp.then(|| Udp { deadline: Duration::from_micros(self.udp_deadline.as_us()), ..Udp::default() }),
            ..Options::default()
        })
    }
    pub fn grace(&self) -> Duration {
        Duration::from_secs(self.grace)
    }
    /// Answers whoever asks how the gateway stands, as long as what this returns is there.
    pub async fn answer(
        &self,
        inherited: &Inherited,
        status: impl Fn() -> jet::status::Status + Send + Sync + 'static,
    ) -> Result<Option<Monitor>, Failure> {
        let Some(address) = self.monitor else { return Ok(None) };
        let listening = |error| Failure::Input(format!("cannot listen on {address}: {error}"));
        let listener = match inherited.tcp(address) {
            Some(listener) => TcpListener::from_std(listener),
            None => TcpListener::bind(address).await,
        };
        let listener = listener.map_err(listening)?;
        let kept = listener.as_fd().try_clone_to_owned().map_err(listening)?;
        let mut task = JoinSet::new();
        task.spawn(jet::monitor::serve(listener, status));
        Ok(Some(Monitor { listener: kept, task }))
    }
}

/// Answers whoever asks how a gateway stands.
pub struct Monitor {
    /// For a process that takes this one's place.
    pub listener: OwnedFd,
    #[expect(dead_code, reason = "held for its drop")]
    task: JoinSet<std::io::Result<()>>,
}
