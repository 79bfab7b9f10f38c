//! `trunkline testbed hadoop`: clusters up and down.
//!
//! What a cluster is (daemons, tasks, mounts, networks) lives in a namespace of processes and one of mounts. The first
//! process there, the supervisor, is this program started again. When it ends, however that happens, the kernel ends
//! the rest.
//! The folder of the cluster is on record before it is made; the next call removes those whose supervisor is gone.

use crate::failure::Failure;
use crate::testbed::code;
use crate::testbed_hadoop_args::{Down, Hadoop, HadoopCommand, LinkKind, StarArgs, Status, Up};
use crate::{emit, interrupt, testbed_hadoop_run};
use runs::Error;
use rustix::fs::Mode;
use rustix::process::setsid;
use scenario::Scenario;
use serde_json::{Value, json};
use std::env;
use std::fmt::Write as _;
use std::fs;
use std::io::{self, BufRead, BufReader, Read, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;
use testbed::hadoop::faults::{self, FaultServer, slow_disks};
use testbed::hadoop::{
    self, BASE, BASE_SPARK, Cluster, Extras, HadoopError, Java, Layout, Machine, Plan, Process, Ready, Record,
    Registry, Running, SparkJars, StoreJars, check_reachable, is_worker,
};
use testbed::link::{Direction, Links, Path as LinkPath, Spoke};
use units::{Bytes, many};

/// Whoever started the supervisor is gone before it said to stay.
static LEFT_ALONE: AtomicBool = AtomicBool::new(false);
/// How often a supervisor looks after what it holds.
const LOOK: Duration = Duration::from_millis(100);
/// How long a supervisor has to end.
const GRACE: Duration = Duration::from_secs(25);
/// What a cluster's first files take, with room for a small job.
const LEAST_DISK: u64 = 2 << 30;

/// Does what is asked of clusters.
pub fn hadoop(args: Hadoop) -> Result<(), Failure> {
    match args.command {
        HadoopCommand::Up(up) if up.inside => supervise(),
        HadoopCommand::Up(up) => bring_up(&up),
        HadoopCommand::Run(args) => testbed_hadoop_run::run(&args),
        HadoopCommand::Status(args) => status(&args),
        HadoopCommand::Down(args) => down(&args),
    }
}

impl From<HadoopError> for Failure {
    fn from(error: HadoopError) -> Self {
        match error {
            HadoopError::Input(message) => Self::Input(message),
            HadoopError::Missing { .. } => Self::Missing(error.to_string()),
            HadoopError::Failed(message) => Self::RealJob(message),
            HadoopError::System { .. } => Self::Output(error.to_string()),
            HadoopError::Link(error) => error.into(),
            HadoopError::Interrupted => Self::Interrupted,
        }
    }
}

/// What is wrong for a user who is not root.
pub fn need_root() -> Result<(), Failure> {
    if rustix::process::geteuid().is_root() {
        return Ok(());
    }
    Err(Failure::Missing(
        "root is missing: a cluster makes networks and mounts, and starts daemons as a user without rights".to_owned(),
    ))
}

/// Whether a file system has room for so many bytes.
pub fn need_room(folder: &Path, bytes: u64, what: &str) -> Result<(), Failure> {
    let room = rustix::fs::statvfs(folder).map_err(|error| Error::writing(folder, &error.into()))?;
    let free = room.f_bavail.saturating_mul(room.f_frsize);
    if free >= bytes {
        return Ok(());
    }
    let (free, bytes) = (Bytes::new(free), Bytes::new(bytes));
    Err(Failure::Missing(format!(
        "disk space is missing: {} has {free:.1} free, and {what} takes {bytes:.1}; --scratch of `up` chooses another \
         place",
        folder.display()
    )))
}

fn down(args: &Down) -> Result<(), Failure> {
    need_root()?;
    let was_up = Registry::of_root().down(&args.name)?;
    let rest = if was_up { "" } else { ": it had ended before, and what it left is removed" };
    emit(&format!("cluster {} is down{rest}\n", args.name))
}

/// The scenario of a cluster: the file, or `base`, what is laid over it, and under it what suits a testbed.
pub fn scenario(args: &StarArgs, base: &str, machine: &Machine) -> Result<Scenario, Failure> {
    let (name, text) = match &args.scenario {
        None => ("testbed.toml".to_owned(), base.to_owned()),
        Some(path) => {
            let text = fs::read_to_string(path).map_err(|error| Error::reading(path, &error))?;
            (path.display().to_string(), text)
        }
    };
    let mut sets = Vec::new();
    if let Some(workers) = args.workers {
        sets.push(format!("cluster.workers={workers}"));
    }
    if let Some(rate) = args.rate {
        let rate = format!("{} bit/s", rate.as_bps());
        sets.push(format!(
            "network.shape=[{{ nodes = \"workers\", direction = \"both\", rate = \"{rate}\", burst = \"32 KB\", \
             limit = \"400 ms\" }}]"
        ));
    }
    if let Some(delay) = args.delay {
        sets.push(format!("network.delay=\"{} ns\"", delay.as_ps() / 1_000));
    }
    if let Some(loss) = args.loss {
        sets.push(format!("network.loss={:?}", loss.0));
    }
    sets.extend(args.assignments.iter().cloned());
    let mut absent = Vec::new();
    let read = Scenario::parse_with(&name, &text, &sets, |check| {
        let defaults = machine.defaults(check.scenario);
        absent.extend(defaults.into_iter().filter(|(key, _)| !check.states(key)));
    });
    if absent.is_empty() {
        read.map_err(Error::Scenario)?;
    }
    // What the file does not say holds beneath what is laid over it.
    let mut all: Vec<String> = absent.iter().map(|(key, value)| format!("{key}={value}")).collect();
    all.extend(sets);
    Scenario::parse_with(&name, &text, &all, |check| machine.check(check)).map_err(Error::Scenario)?;
    Ok(sim::parse(&name, &text, &all).map_err(Error::Scenario)?)
}

/// The links of a scenario's nodes, and how they are made.
pub fn links(scenario: &Scenario, wanted: Option<LinkKind>) -> Result<(Vec<Spoke>, Links), Failure> {
    let (mut spokes, links) = Spoke::of_topology(&sim::topology(scenario));
    match (wanted, links) {
        (Some(LinkKind::Veth), Links::Emulated) => Err(Failure::Input(
            "the kernel's links have no delay, loss or queue, and no rate below 10 Gbit/s but by network.shape: leave \
             out --links veth"
                .to_owned(),
        )),
        (Some(LinkKind::Emulated), Links::Veth) => {
            // As fast as it goes: the rate is far above what the emulator carries.
            for spoke in &mut spokes {
                let way = Direction::new(None, scenario.network.delay);
                spoke.path = LinkPath { name: spoke.path.name.clone(), forth: way.clone(), back: way };
            }
            Ok((spokes, Links::Emulated))
        }
        _ => Ok((spokes, links)),
    }
}

/// What is made from now on can be read by a user without rights, whatever this one's habits are.
fn let_others_read() {
    rustix::process::umask(Mode::from_raw_mode(0o022));
}

fn bring_up(args: &Up) -> Result<(), Failure> {
    need_root()?;
    let_others_read();
    let machine = Machine::look()?;
    let scenario = scenario(&args.star, if args.spark { BASE_SPARK } else { BASE }, &machine)?;
    // All that may be missing is named before anything is made.
    if let Some(lack) = machine.too_little(&scenario) {
        return Err(lack.into());
    }
    let (_, links) = links(&scenario, args.star.links)?;
    if let Some(lack) = testbed::link::lacking(links) {
        return Err(lack.into());
    }
    let has_slow = !slow_disks(&scenario).is_empty();
    if (has_slow || args.disk.is_some())
        && let Some(lack) = faults::lacking().or_else(|| has_slow.then(faults::lacking_for_slow)?)
    {
        return Err(lack.into());
    }
    let java = Java::find()?;
    let cache = hadoop::cache()?;
    let has_store = scenario.object_store.is_some();
    let extras = Extras { store: has_store, spark: scenario.spark.is_some() };
    if let Some(lack) = hadoop::lacking(&cache, extras) {
        return Err(lack.into());
    }
    let scratch = check_reachable(&args.scratch.clone().unwrap_or_else(env::temp_dir))?;
    if has_store {
        hadoop::check_store_folder(&scratch)?;
    }
    need_room(&scratch, LEAST_DISK, "a cluster")?;
    let mut say = |what: &str| {
        if !args.quiet {
            eprintln!("{what}");
        }
    };
    let installed = hadoop::install(&cache, &java, extras, &mut say);
    if interrupt::requested() {
        // Ctrl-C has ended Maven and pip, too: that is no fault of theirs.
        return Err(Failure::Interrupted);
    }
    let installed = installed?;
    let registry = Registry::of_root();
    let mut record = registry.enter(&args.name, Layout::folder_of(&scratch, &args.name))?;
    let plan = json!({
        "scenario": scenario.to_toml(),
        "emulated": links == Links::Emulated,
        "disk": args.disk.map(Bytes::get),
        "folder": record.folder,
        "jars": installed.jars,
        "own_jar": installed.own_jar,
        "placement_jar": installed.placement_jar,
        "store": installed.store.map(|store| json!({
            "client": store.client, "server": store.server, "front": store.front,
        })),
        "spark": installed.spark.map(|spark| json!({ "jars": spark.jars, "own_jar": spark.own_jar })),
        "java_home": java.home,
        "java": java.version,
    });
    let outcome = launch(args, &registry, &mut record, &plan);
    if outcome.is_err() || args.foreground {
        registry.remove(&record)?;
    }
    outcome
}

/// Starts the supervisor, and waits until it says that the cluster is ready.
fn launch(args: &Up, registry: &Registry, record: &mut Record, plan: &Value) -> Result<(), Failure> {
    let internal = |error: io::Error| Failure::Internal(format!("cannot start in a namespace of processes: {error}"));
    let mut command = Command::new("unshare");
    command.args(["--pid", "--mount", "--fork", "--kill-child", "--mount-proc", "--"]);
    command.arg(env::current_exe().map_err(internal)?).args(["testbed", "hadoop", "up", "--inside"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => Failure::Missing("unshare is not installed: apt-get install util-linux".to_owned()),
        _ => internal(error),
    })?;
    let (Some(mut input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
        return Err(internal(io::ErrorKind::BrokenPipe.into()));
    };
    // One that has ended already has said why.
    let _ = writeln!(input, "{plan}");
    let (tell, told) = mpsc::channel();
    thread::spawn(move || {
        for line in BufReader::new(output).lines().map_while(Result::ok) {
            if tell.send(line).is_err() {
                break;
            }
        }
    });
    let is_ready = loop {
        match told.recv_timeout(LOOK) {
            Ok(line) if line == READY => break true,
            Ok(line) if !args.quiet => eprintln!("{line}"),
            Err(RecvTimeoutError::Disconnected) => break false,
            Err(RecvTimeoutError::Timeout) if interrupt::requested() => break false,
            Ok(_) | Err(RecvTimeoutError::Timeout) => {}
        }
    };
    let supervisor = children_of(child.id()).first().copied().and_then(Process::of);
    if !is_ready || supervisor.is_none() {
        return Err(ended(child, input));
    }
    record.supervisor = supervisor;
    registry.write(record)?;
    let ready = ready(record)?;
    if !args.quiet {
        emit(&described(record, &ready))?;
    }
    if args.foreground {
        while !interrupt::requested() && record.is_alive() {
            thread::sleep(LOOK);
        }
        return match ended(child, input) {
            Failure::Interrupted => Ok(()),
            failure => Err(failure),
        };
    }
    writeln!(input, "{STAY}").map_err(|_| Failure::RealJob("the cluster has ended".to_owned()))
}

/// What the supervisor says once the cluster is ready, and what it hears for it to outlive the launcher.
const READY: &str = "ready";
const STAY: &str = "stay";

/// Ends a supervisor, unless it has ended; what it said.
fn ended(mut child: Child, input: impl io::Write) -> Failure {
    let errors = child.stderr.take();
    let wanted = interrupt::requested();
    // The end of its input is what it takes for the wish to stop.
    drop(input);
    let status = wait_for_end(&mut child);
    let mut said = String::new();
    if let Some(mut errors) = errors {
        let _ = errors.read_to_string(&mut said);
    }
    if wanted {
        return Failure::Interrupted;
    }
    eprint!("{said}");
    Failure::Program(status)
}

fn wait_for_end(child: &mut Child) -> u8 {
    let clock = runs::Clock::start();
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return code(status),
            Ok(None) if clock.elapsed() < GRACE => thread::sleep(LOOK / 5),
            _ => {
                let _ = child.kill();
                return child.wait().map_or(1, code);
            }
        }
    }
}

/// The children of a process.
fn children_of(pid: u32) -> Vec<u32> {
    let text = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
    text.split_ascii_whitespace().filter_map(|pid| pid.parse().ok()).collect()
}

/// Inside: starts the cluster, and holds it until somebody wants it to end.
fn supervise() -> Result<(), Failure> {
    // Ctrl-C at the terminal is for whoever started it.
    let _ = setsid();
    let_others_read();
    let mut line = String::new();
    let mut input = BufReader::new(io::stdin());
    input.read_line(&mut line).map_err(|error| Failure::Input(format!("no plan: {error}")))?;
    let plan: Value = serde_json::from_str(&line).map_err(|error| Failure::Input(format!("no plan: {error}")))?;
    let text = |key: &str| plan[key].as_str().unwrap_or_default().to_owned();
    let scenario = Scenario::parse("scenario.toml", &text("scenario"), &[]).map_err(Error::Scenario)?;
    let wanted = plan["emulated"].as_bool().unwrap_or(false).then_some(LinkKind::Emulated);
    let (spokes, links) = links(&scenario, wanted)?;
    let control = Machine::look()?.control(scenario.tcp.control);
    let plan = Plan {
        spokes,
        links,
        control,
        folder: text("folder").into(),
        jars: text("jars").into(),
        own_jar: text("own_jar").into(),
        placement_jar: text("placement_jar").into(),
        store: (!plan["store"].is_null()).then(|| {
            let part = |key: &str| plan["store"][key].as_str().unwrap_or_default().into();
            StoreJars { client: part("client"), server: part("server"), front: part("front") }
        }),
        spark: (!plan["spark"].is_null()).then(|| {
            let part = |key: &str| plan["spark"][key].as_str().unwrap_or_default().into();
            SparkJars { jars: part("jars"), own_jar: part("own_jar") }
        }),
        java: Java { home: text("java_home").into(), version: text("java") },
        disk: plan["disk"].as_u64().map(Bytes::new),
        disk_rates: sim::machines(&scenario).first().map_or([0.0; 2], |machine| [machine.read, machine.write]),
        scenario,
    };
    thread::spawn(move || {
        let mut stays = false;
        for line in input.lines().map_while(Result::ok) {
            stays |= line == STAY;
        }
        LEFT_ALONE.store(!stays, Ordering::Relaxed);
    });
    let stop = || interrupt::requested() || LEFT_ALONE.load(Ordering::Relaxed);
    let mut say = |what: &str| {
        // The launcher may have gone meanwhile; then this one hears of it.
        let _ = emit(&format!("{what}\n"));
    };
    let mut cluster = Cluster::up(&plan, &stop, &mut say)?;
    let planned = faults::planned(&plan.scenario);
    let layout = Layout::new(plan.folder.clone(), "");
    let mut server = if planned.is_empty() { None } else { Some(FaultServer::listen(planned, &layout)?) };
    emit(&format!("{READY}\n"))?;
    let (clock, mut next) = (runs::Clock::start(), Duration::ZERO);
    while !stop() {
        thread::sleep(server.as_ref().map_or(LOOK, |server| server.next(LOOK)));
        if let Some(server) = &mut server {
            server.tick(&mut cluster);
        }
        if clock.elapsed() >= next {
            next = clock.elapsed() + Duration::from_secs(1);
            cluster.reap();
            publish(&cluster, &plan.folder);
        }
    }
    if let Some(server) = &mut server {
        server.end(&mut cluster);
    }
    Ok(())
}

/// Writes what the links have done, for `status` and for jobs.
fn publish(cluster: &Cluster, folder: &Path) {
    let Ok(Some(report)) = cluster.star.report() else { return };
    let (file, partial) = (links_file(folder), folder.join("links.partial"));
    // A full disk shows as a report that stands still; the cluster goes on.
    let _ = fs::write(&partial, format!("{:#}\n", report.to_json())).and_then(|()| fs::rename(&partial, file));
}

/// The report of a cluster's emulated links.
pub fn links_file(folder: &Path) -> PathBuf {
    folder.join("links.json")
}

/// What a cluster says of itself.
fn ready(record: &Record) -> Result<Ready, Failure> {
    let file = Layout::new(record.folder.clone(), "").ready();
    let text = fs::read(&file).map_err(|error| Error::reading(&file, &error))?;
    serde_json::from_slice(&text).map_err(|error| Failure::Input(format!("{}: {error}", file.display())))
}

/// A running cluster by its name.
pub fn running(name: &str) -> Result<(Record, Running), Failure> {
    let record = Registry::of_root().find(name)?;
    match record.supervisor {
        Some(supervisor) if supervisor.is_running() => {
            let running = Running::open(record.folder.clone(), supervisor.pid)?;
            Ok((record, running))
        }
        Some(_) => Err(Failure::Input(format!(
            "cluster {name} has ended: `trunkline testbed hadoop down {name}` removes what it left"
        ))),
        None => Err(Failure::Input(format!("cluster {name} is being started"))),
    }
}

/// A cluster as its user needs it.
fn described(record: &Record, ready: &Ready) -> String {
    let workers = ready.hosts.iter().enumerate().filter(|(index, host)| is_worker(*index, &host.name)).count();
    let mut text = format!(
        "cluster {} is up after {:.1} s: {} on {} links, Hadoop {}, {}Java {}\nits files: {}\n",
        record.name,
        ready.ready_s,
        many(workers, "worker"),
        ready.links,
        hadoop::VERSION,
        ready.spark.as_ref().map_or_else(String::new, |version| format!("Spark {version}, ")),
        ready.java,
        record.folder.display()
    );
    for host in &ready.hosts {
        let daemons: Vec<&str> =
            ready.daemons.iter().filter(|daemon| daemon.host == host.name).map(|daemon| daemon.kind.as_str()).collect();
        let _ = writeln!(text, "  {:<12} {:<14} {}", host.name, host.address.to_string(), daemons.join(", "));
    }
    text
}

fn status(args: &Status) -> Result<(), Failure> {
    let registry = Registry::of_root();
    let records = match &args.name {
        Some(name) => vec![registry.find(name)?],
        None => registry.records()?,
    };
    let (mut text, mut values) = (String::new(), Vec::new());
    for record in &records {
        let state = match (record.is_alive(), record.supervisor.is_some()) {
            (true, true) => "up",
            (true, false) => "starting",
            (false, _) => "ended",
        };
        if state != "up" {
            let _ = writeln!(text, "cluster {} is {state}; its files: {}", record.name, record.folder.display());
            values.push(json!({ "name": record.name, "state": state, "folder": record.folder }));
            continue;
        }
        let ready = ready(record)?;
        let (_, running) = running(&record.name)?;
        let alive = running.processes().map_err(|error| Failure::Output(error.to_string()))?;
        let gone: Vec<String> = ready
            .daemons
            .iter()
            .filter(|daemon| !alive.iter().any(|(_, place)| place.host == daemon.host && place.role == daemon.kind))
            .map(|daemon| format!("{} of {}", daemon.kind, daemon.host))
            .collect();
        text.push_str(&described(record, &ready));
        for daemon in &gone {
            let _ = writeln!(text, "the {daemon} has ended");
        }
        let links: Option<Value> =
            fs::read(links_file(&record.folder)).ok().and_then(|text| serde_json::from_slice(&text).ok());
        if let Some(late) = links.as_ref().and_then(|links| links["late"].as_str()) {
            let _ = writeln!(text, "{late}");
        }
        values.push(json!({
            "name": record.name, "state": state, "folder": record.folder,
            "cluster": ready, "gone": gone, "links": links,
        }));
    }
    if args.json {
        return emit(&format!("{:#}\n", json!(values)));
    }
    emit(if text.is_empty() { "no cluster is up\n" } else { &text })
}
