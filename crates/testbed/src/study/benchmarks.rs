//! Benchmarks: servers and clients that measure themselves, with the loads that they put on a path.

use super::cell::Cell;
use super::process::finish;
use super::reports::LOG;
use super::scene::Scene;
use super::site::SERVER;
use super::stock::{Stock, clean, program};
use super::tool::postgres;
use super::{Tool, TrialError};
use std::fs;
use std::process::Command;

/// Connections, or requests at a time where each has a connection of its own.
const CONNECTIONS: u32 = 16;
/// Commands of redis in flight on each connection, with pipelining.
const PIPELINED: u32 = 16;
/// Connections of HTTP/2, and requests at a time on each.
const HTTP2_CONNECTIONS: u32 = 4;
const HTTP2_STREAMS: u32 = 4;
/// Questions per second to the name server, and how many may wait: more than come before one is given up.
const QUESTIONS: u32 = 1_000;
const QUESTIONS_WAITING: u32 = 4_000;
/// After so many seconds a question is lost.
const QUESTION_GIVEN_UP_S: u32 = 2;
/// The name server answers all names alike. Its client asks for these in turn.
const NAMES: u32 = 100;
/// The key that redis-benchmark asks for.
const REDIS_KEY: &str = "key:__rand_int__";
/// What a round of requests and answers takes at least, on any path.
const ROUND_S: f64 = 1e-3;

/// Ports of the servers.
const REDIS: u16 = 6_379;
const HTTP2: u16 = 80;
const IPERF3: u16 = 5_201;
const DNS: u16 = 53;
const OWN: u16 = 7_000;

/// The server of a benchmark, and its port.
pub fn server(scene: Scene<'_>) -> Result<(Command, u16), TrialError> {
    let Scene { cell, stock, work, .. } = scene;
    let host = SERVER.to_string();
    Ok(match cell.program.tool {
        Tool::Redis | Tool::RedisPipelined => {
            let mut redis = program("redis-server")?;
            redis.args(["--bind", &host, "--port", &REDIS.to_string(), "--protected-mode", "no"]);
            redis.args(["--save", "", "--appendonly", "no", "--dir"]).arg(work);
            (redis, REDIS)
        }
        Tool::Http2 => {
            let mut nghttpd = program("nghttpd")?;
            nghttpd.args(["--no-tls", "-a", &host, "-d"]).arg(stock.at("www")).arg(HTTP2.to_string());
            (nghttpd, HTTP2)
        }
        Tool::Iperf3 | Tool::Iperf3Both => {
            let mut iperf3 = program("iperf3")?;
            iperf3.args(["-s", "-B", &host, "-p", &IPERF3.to_string()]);
            (iperf3, IPERF3)
        }
        Tool::Dns => {
            let mut dnsmasq = program("dnsmasq")?;
            dnsmasq.args(["--keep-in-foreground", "--conf-file=/dev/null", "--pid-file=", "--user=root"]);
            dnsmasq.args(["--no-resolv", "--no-hosts", "--bind-interfaces", "--address=/#/192.0.2.1"]);
            dnsmasq.arg(format!("--listen-address={host}")).arg(format!("--port={DNS}"));
            (dnsmasq, DNS)
        }
        tool if tool.is_pgbench() => {
            let mut postgres = stock.postgres()?;
            // A vacuum in the middle of a cell would be taken for the way's fault.
            postgres.args(["-h", &host, "-p", "5432", "-c", "autovacuum=off"]);
            (postgres, 5_432)
        }
        tool => {
            let mut own = own(tool, stock)?;
            own.args(["serve", &host, &OWN.to_string()]);
            (own, OWN)
        }
    })
}

/// What a server needs after it listens: redis the value that is asked for.
pub fn load(scene: Scene<'_>) -> Result<(), TrialError> {
    let Scene { cell, site, .. } = scene;
    if !matches!(cell.program.tool, Tool::Redis | Tool::RedisPipelined) {
        return Ok(());
    }
    let mut set = program("redis-cli")?;
    set.args(["-h", &SERVER.to_string(), "-p", &REDIS.to_string(), "set", REDIS_KEY]);
    set.arg("x".repeat(cell.program.size.get() as usize));
    let set = site.srv.within(move || finish(&mut set)).map_err(TrialError::system("enter the server's namespace"))?;
    set.map(|_| ())
}

/// The client of a benchmark. Its output and its logs are what `reports` reads.
pub fn client(scene: Scene<'_>) -> Result<Command, TrialError> {
    let Scene { cell, stock, work, .. } = scene;
    let (host, seconds) = (SERVER.to_string(), duration_s(cell).to_string());
    let size = cell.program.size;
    let log = work.join(LOG);
    let tool = cell.program.tool;
    Ok(match tool {
        Tool::Redis | Tool::RedisPipelined => {
            let pipelined = if tool == Tool::RedisPipelined { PIPELINED } else { 1 };
            let mut redis = program("redis-benchmark")?;
            redis.args(["-h", &host, "-p", &REDIS.to_string(), "--csv", "-t", "get"]);
            redis.args(["-c", &CONNECTIONS.to_string(), "-P", &pipelined.to_string()]);
            redis.args(["-n", &rounds(cell, CONNECTIONS * pipelined).to_string()]);
            redis
        }
        Tool::Http2 => {
            let mut h2load = program("h2load")?;
            h2load.args(["-D", &seconds, "-c", &HTTP2_CONNECTIONS.to_string(), "-m", &HTTP2_STREAMS.to_string()]);
            h2load.arg(format!("--log-file={}", log.display()));
            h2load.arg(format!("http://{host}:{HTTP2}/{}", stock.served(cell)));
            h2load
        }
        Tool::Iperf3 | Tool::Iperf3Both => {
            let mut iperf3 = program("iperf3")?;
            iperf3.args(["-c", &host, "-p", &IPERF3.to_string(), "-t", &seconds, "--json"]);
            if tool == Tool::Iperf3Both {
                iperf3.arg("--bidir");
            }
            iperf3
        }
        Tool::Dns => {
            let names: Vec<String> = (0..NAMES).map(|index| format!("host{index}.example A\n")).collect();
            let file = work.join("names");
            fs::write(&file, names.concat()).map_err(TrialError::system("write names to ask for"))?;
            let mut dnsperf = program("dnsperf")?;
            dnsperf.args(["-v", "-s", &host, "-p", &DNS.to_string(), "-l", &seconds]).arg("-d").arg(file);
            dnsperf.args(["-Q", &QUESTIONS.to_string(), "-q", &QUESTIONS_WAITING.to_string()]);
            dnsperf.args(["-t", &QUESTION_GIVEN_UP_S.to_string()]);
            dnsperf
        }
        tool if tool.is_pgbench() => {
            let mut pgbench = Command::new(postgres("pgbench").unwrap_or_default());
            clean(&mut pgbench);
            pgbench.args(["-h", &host, "-p", "5432", "-U", "postgres", "-T", &seconds, "-l"]);
            // A thread makes its connections one after the other, and that takes from the time.
            pgbench
                .args(["-c", &CONNECTIONS.to_string(), "-j", &CONNECTIONS.to_string()])
                .arg(format!("--log-prefix={}", log.display()));
            if matches!(tool, Tool::PgbenchSelect | Tool::PgbenchSelectNew) {
                pgbench.arg("-S");
            }
            if matches!(tool, Tool::PgbenchSelectNew | Tool::PgbenchTpcbNew) {
                pgbench.arg("-C");
            }
            pgbench.arg("postgres");
            pgbench
        }
        tool => {
            let mut own = own(tool, stock)?;
            let connections = CONNECTIONS.to_string();
            own.args(["ask", &host, &OWN.to_string(), &connections, &size.get().to_string(), &seconds]);
            own
        }
    })
}

/// How long a benchmark runs. Most take whole seconds, of which none means for ever.
fn duration_s(cell: &Cell) -> u64 {
    (cell.expected_run_s().round() as u64).max(1)
}

/// Requests that take about as long as the cell is to run, with so many at a time. redis-benchmark takes no duration.
fn rounds(cell: &Cell, at_a_time: u32) -> u64 {
    let rate_bps = cell.path.back.tcp_goodput().map_or(1e9, |rate| rate.as_bps() as f64);
    let answers_s = f64::from(at_a_time) * cell.program.size.get() as f64 * 8.0 / rate_bps;
    let round_s = cell.path.round_trip().as_secs_f64().max(ROUND_S) + answers_s;
    (cell.expected_run_s() / round_s).ceil() as u64 * u64::from(at_a_time)
}

/// The sources of the study's own clients and servers, by the names of their files.
const SOURCES: [(&str, &str); 5] = [
    ("Echo.java", include_str!("../../../../studies/jet-strangers/programs/Echo.java")),
    ("echo.go", include_str!("../../../../studies/jet-strangers/programs/echo.go")),
    ("echo_asyncio.py", include_str!("../../../../studies/jet-strangers/programs/echo_asyncio.py")),
    ("http.js", include_str!("../../../../studies/jet-strangers/programs/http.js")),
    ("websocket.py", include_str!("../../../../studies/jet-strangers/programs/websocket.py")),
];
/// Where they and what is compiled of them lie in the stock.
const PROGRAMS: &str = "programs";

impl Stock {
    /// Writes the study's own programs, and compiles the one of a tool.
    pub(super) fn build(&mut self, tool: Tool) -> Result<(), TrialError> {
        let folder = self.at(PROGRAMS);
        let written = fs::create_dir_all(&folder)
            .and_then(|()| SOURCES.iter().try_for_each(|(name, text)| fs::write(folder.join(name), text)));
        written.map_err(TrialError::system("write programs"))?;
        match tool {
            Tool::JavaNio => {
                finish(program("javac")?.arg("-d").arg(&folder).arg(folder.join("Echo.java")))?;
            }
            Tool::Go => {
                let mut go = program("go")?;
                go.env("GOCACHE", folder.join("cache")).env("GOTOOLCHAIN", "local").env("CGO_ENABLED", "0");
                go.env("GOPATH", folder.join("path")).current_dir(&folder);
                finish(go.args(["build", "-o", "echo-go", "echo.go"]))?;
            }
            _ => {}
        }
        Ok(())
    }
}

/// The command that starts one of the study's own programs.
fn own(tool: Tool, stock: &Stock) -> Result<Command, TrialError> {
    let folder = stock.at(PROGRAMS);
    let script = |interpreter: &'static str, name: &str| {
        let mut command = program(interpreter)?;
        command.arg(folder.join(name));
        Ok(command)
    };
    match tool {
        Tool::JavaNio => {
            let mut java = program("java")?;
            java.args(["-XX:+UseSerialGC", "-cp"]).arg(&folder).arg("Echo");
            Ok(java)
        }
        Tool::Go => {
            let mut own = Command::new(folder.join("echo-go"));
            clean(&mut own);
            Ok(own)
        }
        Tool::Node => script("node", "http.js"),
        Tool::Websocket => script("python3", "websocket.py"),
        _ => script("python3", "echo_asyncio.py"),
    }
}
