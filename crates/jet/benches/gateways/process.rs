//! Server, gateways and relays, each in a process of its own, which ends with its handle.

use crate::load;
use jet::Destination;
use jet::allow::Allowed;
use jet::door::{Accepted, Answer};
use jet::far::{Far, FarOptions, listen};
use jet::host;
use jet::keys::{Identity, KeyError, Peers};
use jet::limits::Limits;
use jet::log::Log;
use jet::near::{Near, NearOptions};
use jet::options::Options;
use std::error::Error;
use std::fs;
use std::io::{self, BufRead, BufReader, Read};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use tokio::net::TcpListener;

pub type Failure = Box<dyn Error + Send + Sync>;

/// A process, and where it listens.
pub struct Process {
    child: Child,
    pub address: SocketAddr,
}

impl Process {
    /// This program in another role, which says on its first line where it listens.
    pub fn start(role: &[&str]) -> Result<Self, Failure> {
        let mut command = Command::new(std::env::current_exe()?);
        // It lives as long as its standard input: nothing is left behind, however this ends.
        let mut child = command.arg("--role").args(role).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let mut line = String::new();
        if let Some(output) = child.stdout.take() {
            BufReader::new(output).read_line(&mut line)?;
        }
        let address = line.trim().parse().map_err(|_| format!("{}: no address", role.join(" ")))?;
        Ok(Self { child, address })
    }
    /// CPU time so far, user and system, in seconds.
    pub fn cpu_s(&self) -> f64 {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.child.id())).unwrap_or_default();
        // The fields behind the name, which may have spaces (proc(5)), in hundredths of a second.
        let fields: Vec<&str> = stat.rsplit(") ").next().unwrap_or_default().split(' ').collect();
        fields.iter().skip(11).take(2).filter_map(|ticks| ticks.parse::<f64>().ok()).sum::<f64>() / 100.0
    }
    /// Resident memory in bytes.
    pub fn resident(&self) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        line.and_then(|line| line.trim_end_matches("kB").trim().parse::<u64>().ok()).map_or(0, |kib| kib * 1024)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Runs this process's role, if it is not the one that measures.
pub fn role(arguments: &[String]) -> Option<Result<(), Failure>> {
    let at = arguments.iter().position(|argument| argument == "--role")?;
    let role: Vec<&str> = arguments[at + 1..].iter().map(String::as_str).collect();
    Some(host::runtime().map_err(Failure::from).and_then(|runtime| {
        runtime.block_on(async {
            match role[..] {
                ["server"] => server().await,
                ["far", keys, server] => far(Path::new(keys), server.parse()?).await,
                ["near", keys, far, server] => near(Path::new(keys), far, server.parse()?).await,
                _ => Err(format!("no such role: {}", role.join(" ")).into()),
            }
        })
    }))
}

/// Prints where it listens, and waits for the end of standard input.
async fn until_left(address: SocketAddr) -> Result<(), Failure> {
    println!("{address}");
    tokio::task::spawn_blocking(|| io::stdin().read_to_end(&mut Vec::new())).await??;
    Ok(())
}
async fn server() -> Result<(), Failure> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    tokio::spawn(load::serve(listener));
    until_left(address).await
}
async fn far(keys: &Path, server: SocketAddr) -> Result<(), Failure> {
    let options = Options::default();
    let listener = listen("127.0.0.1:0".parse()?, &options)?;
    let address = listener.local_addr()?;
    let (identity, peers) = (Identity::load_or_create(keys)?, Peers::load(keys)?);
    let told = FarOptions {
        identity,
        peers,
        allowed: Allowed::new(vec![server.to_string().parse()?]),
        limits: Limits::default(),
        options,
    };
    let _far = Far::start(told, vec![listener], Log::default())?;
    until_left(address).await
}
async fn near(keys: &Path, far: &str, server: SocketAddr) -> Result<(), Failure> {
    let (identity, peers) = (Identity::load_or_create(keys)?, Peers::load(keys)?);
    let told = NearOptions {
        identity,
        peers,
        to: vec![far.to_owned()],
        via: Vec::new(),
        direct: Vec::new(),
        options: Options::default(),
    };
    let near = Near::start(told, Log::default())?;
    if !near.ready(Duration::from_secs(10)).await {
        return Err("no session".into());
    }
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    let doors = near.doors();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let accepted = Accepted { stream, to: Destination::Address(server), answer: Answer::Established };
            if doors.send(accepted).await.is_err() {
                return;
            }
        }
    });
    until_left(address).await
}

/// Both gateways on the way to a server, with keys in a folder: near, far.
pub fn gateways(folder: &Path, server: SocketAddr) -> Result<[Process; 2], Failure> {
    let keys = ["near", "far"].map(|name| folder.join(name));
    let identities = [Identity::load_or_create(&keys[0])?, Identity::load_or_create(&keys[1])?];
    let pin = |of: usize, whom: usize| -> Result<(), KeyError> {
        let mut peers = Peers::default();
        peers.pin(identities[whom].fingerprint(), "peer")?;
        peers.save(&keys[of])
    };
    pin(0, 1)?;
    pin(1, 0)?;
    let [near, far] = keys.map(|keys| keys.to_string_lossy().into_owned());
    let far = Process::start(&["far", &far, &server.to_string()])?;
    let near = Process::start(&["near", &near, &far.address.to_string(), &server.to_string()])?;
    Ok([near, far])
}

/// A plain relay with the same TLS and one stream for each connection: stunnel, if it is installed. The end beside the
/// program comes first.
pub fn stunnel(folder: &Path, server: SocketAddr) -> Result<Option<[Process; 2]>, Failure> {
    let secrets = folder.join("secrets");
    fs::write(&secrets, "bench:f1a7c0de5eed0123456789abcdef0123456789abcdef0123456789abcdef0123\n")?;
    let start = |name: &str, role: &str, connect: SocketAddr| -> Result<Option<Process>, Failure> {
        let address = std::net::TcpListener::bind("127.0.0.1:0")?.local_addr()?;
        let file = folder.join(name);
        let text = format!(
            "foreground = yes\npid =\nsocket = l:TCP_NODELAY=1\nsocket = r:TCP_NODELAY=1\n[bench]\n{role}accept = {address}\n\
             connect = {connect}\nPSKsecrets = {}\nsslVersionMin = TLSv1.3\nciphersuites = TLS_AES_128_GCM_SHA256\n",
            secrets.display()
        );
        fs::write(&file, text)?;
        let mut command = Command::new("stunnel");
        let started = command.arg(&file).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        let child = match started {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            started => started?,
        };
        let process = Process { child, address };
        for _ in 0..100 {
            if TcpStream::connect(address).is_ok() {
                return Ok(Some(process));
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        Err("stunnel does not listen".into())
    };
    let Some(far) = start("far.conf", "", server)? else { return Ok(None) };
    let near = start("near.conf", "client = yes\n", far.address)?;
    Ok(near.map(|near| [near, far]))
}
