//! Gateways as processes of their own, and a server to go to.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::thread::{self, sleep};
use std::time::Duration;

pub fn trunkline(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_trunkline"));
    command.arg("jet").args(arguments).output().expect("the program is built")
}
pub fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
/// Until something is so, ten seconds at most.
pub fn until(what: &str, is: impl FnMut() -> bool) {
    assert!(within(10, is), "{what}: not within 10 s");
}
pub fn within(seconds: u64, mut is: impl FnMut() -> bool) -> bool {
    (0..seconds * 50).any(|_| {
        let done = is();
        if !done {
            sleep(Duration::from_millis(20));
        }
        done
    })
}

/// A folder of its own for a test, gone at its end.
pub struct Scratch(PathBuf);

impl Scratch {
    pub fn new(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("trunkline-jet-{}-{name}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        Self(folder)
    }
    pub fn of(&self, name: &str) -> String {
        self.0.join(name).display().to_string()
    }
}
impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A gateway that runs until the test is done with it.
pub struct Gateway(pub Child);

impl Gateway {
    pub fn start(arguments: &[&str]) -> Self {
        Self::logging(arguments, Stdio::null())
    }
    pub fn logging(arguments: &[&str], log: Stdio) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_trunkline"));
        Self(
            command.arg("jet").args(arguments).stdout(Stdio::null()).stderr(log).spawn().expect("the program is built"),
        )
    }
    pub fn signal(&self, name: &str) {
        signal(self.0.id(), name);
    }
    /// How it has ended, if it does within ten seconds.
    pub fn ended(&mut self) -> Option<ExitStatus> {
        let mut status = None;
        within(10, || {
            status = self.0.try_wait().expect("a child");
            status.is_some()
        });
        status
    }
    /// Tells it to go, and says with which code it went.
    pub fn stop(mut self) -> Option<i32> {
        self.signal("TERM");
        self.ended().and_then(|status| status.code())
    }
}
impl Drop for Gateway {
    fn drop(&mut self) {
        // It may have been stopped.
        let _ = (self.0.kill(), self.0.wait());
    }
}

pub fn signal(process: u32, name: &str) {
    let done = Command::new("kill").args([&format!("-{name}"), &process.to_string()]).status();
    assert!(done.expect("kill is there").success(), "kill -{name} {process}");
}
/// Whether a process is there, and is not the mere memory of one.
pub fn is_alive(process: u32) -> bool {
    let state = |stat: String| stat.rsplit(')').next().and_then(|rest| rest.trim().chars().next());
    fs::read_to_string(format!("/proc/{process}/stat")).ok().and_then(state).is_some_and(|state| state != 'Z')
}

/// The fingerprint that `jet keys` shows first.
pub fn fingerprint(folder: &str) -> String {
    let shown = trunkline(&["keys", "--keys", folder]);
    assert!(shown.status.success(), "{}", text(&shown.stderr));
    text(&shown.stdout).split_whitespace().nth(2).expect("this host, and its key").to_owned()
}
/// Addresses of a host of its own for a test, all of 127.0.0.0/8 being loopback (RFC 1122, 3.2.1.3): a port of
/// 127.0.0.1 that is free when it is looked for may be somebody else's by the time that a gateway listens.
pub fn own_addresses<const COUNT: usize>() -> [SocketAddr; COUNT] {
    static HOSTS: AtomicU8 = AtomicU8::new(1);
    let [_, _, high, low] = std::process::id().to_be_bytes();
    let host = Ipv4Addr::new(127, high | 0x80, low, HOSTS.fetch_add(1, Ordering::Relaxed));
    std::array::from_fn(|port| SocketAddr::from((host, 7001 + port as u16)))
}

/// The byte at a position: a pattern that repeats nowhere near.
fn byte(position: u64) -> u8 {
    (position.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8
}
/// Writes so many bytes of the pattern.
pub fn write_pattern(stream: &mut TcpStream, length: u64) -> io::Result<()> {
    let mut at = 0;
    while at < length {
        let piece: Vec<u8> = (at..length.min(at + (1 << 18))).map(byte).collect();
        stream.write_all(&piece)?;
        at += piece.len() as u64;
    }
    Ok(())
}
/// Reads to the end, or the error; each byte has to be the pattern's. Tells `at` how many there are so far.
pub fn read_pattern(stream: &mut TcpStream, mut told: impl FnMut(u64)) -> (u64, io::Result<()>) {
    let (mut at, mut buffer) = (0, vec![0; 1 << 18]);
    loop {
        match stream.read(&mut buffer) {
            Ok(0) => return (at, Ok(())),
            Ok(count) => {
                assert!(buffer[..count].iter().zip(at..).all(|(got, at)| *got == byte(at)), "a wrong byte after {at}");
                at += count as u64;
                told(at);
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return (at, Err(error)),
        }
    }
}

/// What a server is asked for, as the first 8 bytes of a connection: so many bytes, of which so many come at once and
/// the rest never; or to read.
pub const READ: u64 = u64::MAX;
pub const HALF: u64 = 1 << 62;

/// A server, and how its connections have ended that were to be read, or of which half was sent.
pub struct Server {
    pub address: SocketAddr,
    pub ends: Receiver<(u64, io::Result<()>)>,
}

impl Server {
    pub fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("loopback");
        let address = listener.local_addr().expect("bound");
        let (ended, ends) = channel();
        thread::spawn(move || {
            for stream in listener.incoming() {
                let (mut stream, ended) = (stream.expect("loopback"), ended.clone());
                thread::spawn(move || {
                    let mut asked = [0; 8];
                    if stream.read_exact(&mut asked).is_err() {
                        return;
                    }
                    let asked = u64::from_be_bytes(asked);
                    if asked == READ {
                        let _ = ended.send(read_pattern(&mut stream, |_| {}));
                    } else if asked & HALF != 0 {
                        let _ = write_pattern(&mut stream, (asked & !HALF) / 2);
                        let _ = ended.send(read_pattern(&mut stream, |_| {}));
                    } else {
                        let _ = write_pattern(&mut stream, asked);
                    }
                });
            }
        });
        Self { address, ends }
    }
}

/// Two gateways that know each other, and what they are told.
pub struct Pair {
    pub scratch: Scratch,
    pub door: SocketAddr,
    near_monitor: String,
    far_monitor: String,
    serving: Vec<String>,
    keeping: Vec<String>,
}

impl Pair {
    pub fn new(name: &str, server: SocketAddr, more: &[&str]) -> Self {
        let scratch = Scratch::new(name);
        let (near, far) = (scratch.of("near"), scratch.of("far"));
        let (near_key, far_key) = (fingerprint(&near), fingerprint(&far));
        for (folder, key) in [(&near, &far_key), (&far, &near_key)] {
            assert!(trunkline(&["keys", "--keys", folder, "--pin", key]).status.success());
        }
        let [door, monitors @ .., port] = own_addresses::<4>();
        let [near_monitor, far_monitor] = monitors.map(|address| address.to_string());
        let port = port.to_string();
        let forward = format!("{door}={server}");
        let socket = scratch.of("run.sock");
        let words = |words: &[&str]| words.iter().chain(more).map(|word| (*word).to_owned()).collect();
        let serving =
            words(&["serve", "--keys", &far, "--listen", &port, "--allow", "127.0.0.1:*", "--monitor", &far_monitor]);
        let gateway = ["gateway", "--keys", &near, "--to", &port, "--forward", &forward, "--run-socket", &socket];
        let keeping = words(&[&gateway[..], &["--monitor", &near_monitor]].concat());
        Self { scratch, door, near_monitor, far_monitor, serving, keeping }
    }
    /// The near gateway is told this, too.
    pub fn near_too(mut self, words: &[&str]) -> Self {
        self.keeping.extend(words.iter().map(|word| (*word).to_owned()));
        self
    }
    fn start(&self, words: &[String], log: &str) -> Gateway {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let file = File::options().create(true).append(true).open(self.scratch.of(log)).expect("a scratch folder");
        Gateway::logging(&words, file.into())
    }
    pub fn far(&self) -> Gateway {
        self.start(&self.serving, "far.log")
    }
    pub fn near(&self) -> Gateway {
        self.start(&self.keeping, "near.log")
    }
    pub fn arguments(&self) -> [Vec<&str>; 2] {
        [&self.serving, &self.keeping].map(|words| words.iter().map(String::as_str).collect())
    }
    /// Both, and a session between them.
    pub fn both(&self) -> (Gateway, Gateway) {
        let both = (self.far(), self.near());
        self.wait_for_session();
        both
    }
    pub fn wait_for_session(&self) {
        let is = || self.status(true).is_some_and(|status| !status["sessions"][0].is_null());
        assert!(within(10, is), "no session within 10 s: {:?}", ["near.log", "far.log"].map(|name| self.text(name)));
    }
    /// What a gateway says of itself.
    pub fn status(&self, near: bool) -> Option<serde_json::Value> {
        let monitor = if near { &self.near_monitor } else { &self.far_monitor };
        let said = trunkline(&["status", "--monitor", monitor, "--json"]);
        said.status.success().then(|| serde_json::from_slice(&said.stdout).expect("JSON"))
    }
    fn text(&self, log: &str) -> String {
        fs::read_to_string(self.scratch.of(log)).unwrap_or_default()
    }
    /// The lines of a log that are whole by now, each of which is JSON.
    pub fn log(&self, name: &str) -> Vec<serde_json::Value> {
        let text = self.text(name);
        let whole = text.rfind('\n').map_or("", |end| &text[..end]);
        whole.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|_| panic!("{line:?} is no JSON"))).collect()
    }
    /// The process to which a gateway has handed over, when it has.
    pub fn successor(&self, log: &str) -> u32 {
        let mut process = None;
        until("a handover", || {
            let lines = self.log(log);
            process =
                lines.iter().rfind(|line| line["event"] == "handed over").and_then(|line| line["process"].as_u64());
            process.is_some()
        });
        process.expect("just found") as u32
    }
    /// A connection through the gateways that has asked the server for this.
    pub fn ask(&self, what: u64) -> io::Result<TcpStream> {
        let mut stream = TcpStream::connect(self.door)?;
        stream.set_read_timeout(Some(Duration::from_secs(40)))?;
        stream.write_all(&what.to_be_bytes())?;
        Ok(stream)
    }
    /// Downloads a little: the way is open.
    pub fn works(&self) -> bool {
        self.ask(100_000).is_ok_and(|mut stream| matches!(read_pattern(&mut stream, |_| {}), (100_000, Ok(()))))
    }
}

impl Drop for Pair {
    fn drop(&mut self) {
        // Successors are nobody's children: a test that fails leaves none of them.
        for log in ["near.log", "far.log"] {
            let text = self.text(log);
            let lines = text.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
            for process in lines.filter_map(|line| line["process"].as_u64()) {
                // By now the number may be another process's; one that has ended has no command line.
                let is_gateway = fs::read(format!("/proc/{process}/cmdline"))
                    .is_ok_and(|line| line.split(|byte| *byte == 0).nth(1) == Some(b"jet"));
                if is_gateway {
                    signal(process as u32, "KILL");
                }
            }
        }
    }
}

/// Ends a process that is not a child of this one, and waits until it has ended.
pub fn end(process: u32) {
    signal(process, "TERM");
    until("its end", || !is_alive(process));
}
