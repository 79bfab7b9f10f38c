//! Gateways at both ends of the path, started as users start them.

use super::TrialError;
use super::cell::Way;
use super::process::{Process, finish};
use super::scene::Scene;
use super::site::{FAR, SERVER};
use crate::link::{Clock, Namespace};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use units::Time;

/// A near gateway and a far one, with a session between them.
pub struct Gateways {
    near: Process,
    far: Process,
    /// The near gateway's Unix socket, for `jet run`.
    socket: PathBuf,
    /// The `trunkline` program that they run.
    program: PathBuf,
    /// CPU time that they had used when they were ready.
    cpu_s: f64,
}

/// What the gateways report of a measurement.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Streams {
    /// Streams that sent the payload, at its end.
    pub count: usize,
    /// The number of streams wanted.
    pub target: u64,
    /// The reason for that number.
    pub reason: String,
    /// CPU time of both gateways.
    pub cpu_s: f64,
}

/// Where both gateways answer `jet status`: the loopback of their own namespaces.
const MONITOR: &str = "127.0.0.1:7609";
const PORT: u16 = 7608;
/// Streams in the paper's table.
const PAPER_STREAMS: &str = "16";

/// Makes keys for both gateways; each gets the other's.
pub fn make_keys(program: &Path, folder: &Path) -> Result<(), TrialError> {
    let keys = |side: &str| {
        let mut command = Command::new(program);
        command.args(["jet", "keys", "--keys"]).arg(folder.join(side));
        command
    };
    let fingerprint = |side: &str| -> Result<String, TrialError> {
        let shown = finish(&mut keys(side))?;
        let shown = String::from_utf8_lossy(&shown).into_owned();
        let key = shown.split_ascii_whitespace().find(|word| word.len() == 64).map(str::to_owned);
        key.ok_or_else(|| TrialError::Failed(format!("jet keys shows no key: {shown}")))
    };
    let (near, far) = (fingerprint("near")?, fingerprint("far")?);
    finish(keys("near").args(["--pin", &far, "--name", "far"]))?;
    finish(keys("far").args(["--pin", &near, "--name", "near"]))?;
    Ok(())
}

impl Gateways {
    /// Starts both gateways and waits for their session.
    pub fn start(scene: Scene<'_>) -> Result<Self, TrialError> {
        let Scene { cell, stock, site, work, stop } = scene;
        let (program, keys) = (stock.program.as_path(), stock.at("keys"));
        let common = |role: &str, side: &str| {
            let mut command = Command::new(program);
            command.args(["jet", role, "--keys"]).arg(keys.join(side));
            command.args(["--congestion", &cell.control, "--monitor", MONITOR, "--grace", "0"]);
            if cell.way == Way::Paper {
                command.args(["--paper", "--streams", PAPER_STREAMS]);
            }
            command.stdout(Stdio::null());
            command
        };
        let (listen, socket) = (format!("{FAR}:{PORT}"), work.join("run.sock"));
        let mut serve = common("serve", "far");
        serve.args(["--listen", &listen, "--allow", &format!("{SERVER}:*")]);
        let mut far = scene.start(site.pair.far(), serve, "far-gateway")?;
        // A gateway's own address is reachable in its namespace, whatever the path.
        far.until("take sessions", Time::from_secs(10), stop, || status(program, site.pair.far()).is_some())?;
        let mut keep = common("gateway", "near");
        keep.args(["--to", &listen, "--run-socket"]).arg(&socket);
        let at = if cell.way == Way::JetRun { &site.app } else { site.pair.near() };
        if cell.way != Way::JetRun {
            keep.arg("--redirect").arg(format!("netns:{}={SERVER}", site.app.path().display()));
        }
        let mut near = scene.start(at, keep, "near-gateway")?;
        near.until("find the far gateway", Time::from_secs(30), stop, || {
            let streams = |status: &Value| status["sessions"][0]["streams"].as_array().map_or(0, Vec::len);
            status(program, at).is_some_and(|status| streams(&status) > 0)
        })?;
        // In use, a gateway has run long before a program needs it, and its warm streams exist. So wait for them.
        let clock = Clock::start();
        while clock.now() < cell.path.round_trip() * 4 + Time::from_ms(200) && !stop() {
            std::thread::sleep(super::process::LOOK);
        }
        let cpu_s = near.cpu_s() + far.cpu_s();
        Ok(Self { near, far, socket, program: program.to_owned(), cpu_s })
    }

    /// The words that precede a command so that its connections go through `jet run`.
    pub fn run_prefix(&self) -> Vec<OsString> {
        let words = [self.program.as_os_str(), "jet".as_ref(), "run".as_ref(), "--gateway".as_ref()];
        words.into_iter().chain([self.socket.as_os_str(), "--".as_ref()]).map(OsString::from).collect()
    }

    /// The report of the gateway that sent the payload.
    pub fn tell(&mut self, Scene { cell, site, .. }: Scene<'_>) -> Streams {
        let near = if cell.way == Way::JetRun { &site.app } else { site.pair.near() };
        let sender = if cell.program.tool.uploads() { near } else { site.pair.far() };
        let told = status(&self.program, sender).unwrap_or_default();
        let session = &told["sessions"][0];
        Streams {
            count: session["streams"].as_array().map_or(0, Vec::len),
            target: session["target"].as_u64().unwrap_or(0),
            reason: session["reason"].as_str().unwrap_or_default().to_owned(),
            cpu_s: self.near.cpu_s() + self.far.cpu_s() - self.cpu_s,
        }
    }

    /// A gateway that has ended, and its output.
    pub fn ended(&mut self) -> Result<Option<String>, TrialError> {
        for (side, gateway) in [("near", &mut self.near), ("far", &mut self.far)] {
            if let Some(status) = gateway.status()? {
                return Ok(Some(format!("the {side} gateway ended ({status}): {}", gateway.said())));
            }
        }
        Ok(None)
    }
}

fn status(program: &Path, at: &Namespace) -> Option<Value> {
    let mut command = Command::new(program);
    command.args(["jet", "status", "--monitor", MONITOR, "--json"]);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let output = at.spawn(&mut command).ok()?.wait_with_output().ok()?;
    serde_json::from_slice(&output.stdout).ok()
}
