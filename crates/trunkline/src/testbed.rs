//! `trunkline testbed`.

use crate::failure::Failure;
use crate::testbed_args::{LinkCommand, List, PathArgs, Run, Status, Testbed, TestbedCommand, Up};
use crate::{emit, interrupt, testbed_hadoop, testbed_star, testbed_study};
use runs::Clock;
use rustix::process::{Pid, Signal, kill_process, setsid};
use serde_json::{Value, json};
use std::env;
use std::fmt::Write as _;
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::ExitStatusExt;
use std::path::Path as FilePath;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::Duration;
use testbed::link::{LinkError, Pair, Path, Paths, Record, Registry, check};
use units::Time;

/// How often a link publishes what it has done.
const PUBLISH: Duration = Duration::from_secs(1);
/// How often whoever waits looks for Ctrl-C.
const LOOK: Duration = Duration::from_millis(20);
/// How long an interrupted program has to end.
const GRACE: Duration = Duration::from_secs(5);
/// Set for the one that runs in a user namespace, which shall not try again.
const ROOTLESS: &str = "TRUNKLINE_ROOTLESS";

/// Does what is asked of the testbed.
pub fn testbed(args: Testbed) -> Result<(), Failure> {
    let command = match args.command {
        TestbedCommand::Link(link) => link.command,
        TestbedCommand::Study(study) => return testbed_study::study(&study),
        TestbedCommand::Hadoop(hadoop) => return testbed_hadoop::hadoop(hadoop),
    };
    match command {
        LinkCommand::Up(up) => bring_up(&up),
        LinkCommand::Run(run) => run_over(&run),
        LinkCommand::Star(star) => testbed_star::run(&star),
        LinkCommand::Down(down) => {
            let registry = Registry::of_user()?;
            let left =
                registry.links()?.iter().find(|link| link.name == down.name).map(Record::processes).unwrap_or_default();
            let ran = registry.down(&down.name)?;
            let mut text =
                format!("link {} is down{}\n", down.name, if ran { "" } else { ": its emulator had ended before" });
            if !left.is_empty() {
                let _ = writeln!(text, "these processes were in it, and have lost their network: {left:?}");
            }
            emit(&text)
        }
        LinkCommand::Status(args) => status(&args),
        LinkCommand::List(args) => list(&args),
    }
}

/// The paths that the arguments mean, and their seed.
fn paths(args: &PathArgs) -> Result<Paths, Failure> {
    let mut paths = match &args.file {
        Some(file) => Paths::read(file)?,
        None => Paths { paths: vec![Path::new("path", None, Time::ZERO)], seed: 1 },
    };
    let [forth, back] = args.shapes();
    for path in &mut paths.paths {
        forth.apply(&mut path.forth, FilePath::new(""))?;
        back.apply(&mut path.back, FilePath::new(""))?;
    }
    paths.seed = args.seed.unwrap_or(paths.seed);
    check(&paths.paths)?;
    Ok(paths)
}

fn bring_up(args: &Up) -> Result<(), Failure> {
    let paths = paths(&args.paths)?;
    if !args.foreground {
        return detach(args);
    }
    if args.detached {
        // Ctrl-C at the terminal is not for it. It leads no process group yet, so that this cannot fail.
        let _ = setsid();
    }
    let link = Registry::of_user()?.up(&args.name, &paths.paths, paths.seed)?;
    let record = json!(link.record);
    emit(&if args.detached {
        format!("{record}\n")
    } else if args.json {
        format!("{record:#}\n")
    } else {
        described(&link.record)
    })?;
    let clock = Clock::start();
    let mut published = Duration::ZERO;
    while !interrupt::requested() {
        if clock.elapsed() >= published {
            // A full run directory shows as a status that stands still; the link goes on.
            let _ = link.publish();
            published = clock.elapsed() + PUBLISH;
        }
        thread::sleep(LOOK);
    }
    if !args.detached {
        let report = link.pair.report().map_err(|error| Failure::Output(format!("cannot read the report: {error}")))?;
        eprint!("{report}");
    }
    Ok(())
}

/// Starts the same in the background, and waits until its link is up.
fn detach(args: &Up) -> Result<(), Failure> {
    let internal = |error: std::io::Error| Failure::Internal(format!("cannot start in the background: {error}"));
    let mut child = Command::new(env::current_exe().map_err(internal)?)
        .args(env::args_os().skip(1))
        .args(["--foreground", "--detached"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(internal)?;
    let mut line = String::new();
    if let Some(output) = child.stdout.take() {
        BufReader::new(output).read_line(&mut line).map_err(internal)?;
    }
    if let Ok(record) = serde_json::from_str::<Record>(&line) {
        let text = if args.json { format!("{:#}\n", json!(record)) } else { described(&record) };
        return emit(&text);
    }
    let mut said = String::new();
    if let Some(mut errors) = child.stderr.take() {
        errors.read_to_string(&mut said).map_err(internal)?;
    }
    eprint!("{said}");
    let status = child.wait().map_err(internal)?;
    Err(Failure::Program(code(status)))
}

fn run_over(args: &Run) -> Result<(), Failure> {
    let paths = paths(&args.paths)?;
    let pair = match Pair::up(&paths.paths, paths.seed) {
        Err(LinkError::Missing { capability: "CAP_SYS_ADMIN", .. }) if may_be_rootless() => return rootless(),
        pair => pair?,
    };
    let (inside, addresses) = (if args.far { pair.far() } else { pair.near() }, pair.addresses());
    let all: Vec<Value> =
        pair.paths().iter().zip(&addresses).map(|(path, at)| json!({ "name": path.name, "addresses": at })).collect();
    let mut command = Command::new(&args.program[0]);
    command
        .args(&args.program[1..])
        .env("TRUNKLINE_FAR", addresses[0].far.to_string())
        .env("TRUNKLINE_FAR_NAMESPACE", pair.far().path())
        .env("TRUNKLINE_PATHS", json!(all).to_string());
    let spawned = inside.spawn(&mut command);
    let child = spawned.map_err(|error| Failure::Input(format!("cannot run {}: {error}", args.program[0])))?;
    let ended = wait(child);
    let report = pair.report().map_err(|error| Failure::Output(format!("cannot read the report: {error}")))?;
    drop(pair);
    if !args.quiet {
        eprint!("{report}");
    }
    if let Some(file) = &args.report {
        fs::write(file, format!("{:#}\n", report.to_json())).map_err(|error| Failure::writing(file, &error))?;
    }
    match code(ended?) {
        0 => Ok(()),
        code => Err(Failure::Program(code)),
    }
}

/// Waits for a program. When the user wants to stop it is asked to end, and in the end not asked.
pub fn wait(child: Child) -> Result<ExitStatus, Failure> {
    let pid = Pid::from_raw(child.id() as i32);
    // One that has just ended needs no signal.
    let ask = || {
        let _ = pid.map(|pid| kill_process(pid, Signal::TERM));
    };
    wait_for(child, GRACE, ask)
}

/// Waits for a program. After an interrupt `ask` asks it to end; it is killed when `grace` has passed.
pub fn wait_for(mut child: Child, grace: Duration, ask: impl FnOnce()) -> Result<ExitStatus, Failure> {
    let waiting = |error: std::io::Error| Failure::Internal(format!("cannot wait for the program: {error}"));
    while !interrupt::requested() {
        if let Some(status) = child.try_wait().map_err(waiting)? {
            return Ok(status);
        }
        thread::sleep(LOOK);
    }
    ask();
    let clock = Clock::start();
    while clock.elapsed() < grace {
        if child.try_wait().map_err(waiting)?.is_some() {
            return Err(Failure::Interrupted);
        }
        thread::sleep(LOOK);
    }
    child.kill().and_then(|()| child.wait()).map_err(waiting)?;
    Err(Failure::Interrupted)
}

/// As shells have it: a program that a signal ended has 128 and the signal's number.
pub fn code(status: ExitStatus) -> u8 {
    let code = status.code().or(status.signal().map(|signal| 128 + signal)).unwrap_or(1);
    u8::try_from(code).unwrap_or(1)
}

/// The system lets this user make user namespaces, in which there are all capabilities that a link needs, and this is
/// not in one.
pub fn may_be_rootless() -> bool {
    env::var_os(ROOTLESS).is_none() && in_user_namespace("true").status().is_ok_and(|status| status.success())
}

/// Does the same as root of a new user namespace. Real-time priority is not to be had there.
pub fn rootless() -> Result<(), Failure> {
    let internal = |error: std::io::Error| Failure::Internal(format!("cannot start in a user namespace: {error}"));
    eprintln!("not root: the link is made in a user namespace, where the program runs as its root");
    let mut command = in_user_namespace(env::current_exe().map_err(internal)?);
    command.args(env::args_os().skip(1)).env(ROOTLESS, "1").stdin(Stdio::inherit());
    let child = command.stdout(Stdio::inherit()).stderr(Stdio::inherit()).spawn().map_err(internal)?;
    match code(wait(child)?) {
        0 => Ok(()),
        code => Err(Failure::Program(code)),
    }
}

fn in_user_namespace(program: impl AsRef<std::ffi::OsStr>) -> Command {
    let mut command = Command::new("unshare");
    command.args(["--user", "--map-root-user", "--net", "--"]).arg(program);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

fn status(args: &Status) -> Result<(), Failure> {
    let registry = Registry::of_user()?;
    let links = registry.links()?;
    let links: Vec<&Record> =
        links.iter().filter(|link| args.name.as_ref().is_none_or(|name| *name == link.name)).collect();
    if let (Some(name), []) = (&args.name, links.as_slice()) {
        return Err(Failure::Input(format!("no link named {name} is up")));
    }
    let with_report = || links.iter().map(|link| (*link, registry.report(&link.name)));
    if args.json {
        let all: Vec<Value> = with_report().map(|(link, report)| json!({ "link": link, "report": report })).collect();
        return emit(&format!("{:#}\n", json!(all)));
    }
    let mut text = String::new();
    for (link, report) in with_report() {
        text.push_str(&described(link));
        text.push_str(&report.as_ref().map_or_else(|| "no report yet\n".to_owned(), reported));
    }
    emit(if text.is_empty() { "no link is up\n" } else { &text })
}

fn list(args: &List) -> Result<(), Failure> {
    let links = Registry::of_user()?.links()?;
    if args.json {
        return emit(&format!("{:#}\n", json!(links)));
    }
    let mut text = String::new();
    for link in &links {
        let paths: Vec<&str> = link.paths.iter().map(|path| path.name.as_str()).collect();
        let _ = writeln!(text, "{}\tprocess {}\tpaths {}", link.name, link.pid, paths.join(", "));
    }
    emit(&text)
}

/// A link as its user needs it: how to enter, and the addresses.
fn described(link: &Record) -> String {
    let mut text = format!("link {} is up, process {}; enter by\n", link.name, link.pid);
    for namespace in link.namespaces() {
        let _ = writeln!(text, "  ip netns exec {namespace} COMMAND");
    }
    for path in &link.paths {
        let at = &path.addresses;
        let v6 =
            |address: Option<std::net::Ipv6Addr>| address.map_or_else(String::new, |address| format!(" {address}"));
        let _ =
            writeln!(text, "path {}: near {}{}, far {}{}", path.name, at.near, v6(at.near_v6), at.far, v6(at.far_v6));
    }
    text
}

/// A published report in words.
fn reported(report: &Value) -> String {
    let mut text = String::new();
    for path in report["paths"].as_array().into_iter().flatten() {
        for (way, lane) in [("there", &path["forth"]), ("back", &path["back"])] {
            let (frames, late) = (&lane["frames"], &lane["lateness"]);
            let us = |key: &str| late[key].as_f64().unwrap_or_default();
            let _ = writeln!(
                text,
                "{} {way}: {} frames offered, {} dropped, {} lost, {} arrived; left late by {:.0} us (median), {:.0} \
                 us (99 %), {:.0} us (worst)",
                path["name"].as_str().unwrap_or_default(),
                frames["offered"],
                frames["dropped"],
                frames["lost"],
                frames["arrived"],
                us("p50_us"),
                us("p99_us"),
                us("worst_us"),
            );
        }
    }
    if report["real_time_priority"] == Value::Bool(false) {
        text.push_str("without real-time priority\n");
    }
    if let Some(late) = report["late"].as_str() {
        let _ = writeln!(text, "{late}");
    }
    text
}
