//! The measurement of a cell.

use super::arrival::{Arrives, receive};
use super::clients::Client;
use super::curve::Curve;
use super::figure::Figure;
use super::gateways::Gateways;
use super::office;
use super::process::{LOOK, Process, finish, fresh};
use super::record::{Ended, Measurement, Record};
use super::reports::OUTPUT;
use super::scene::Scene;
use super::servers::serve;
use super::site::Site;
use super::stock::Stock;
use super::{Cell, Tool, TrialError, Way};
use crate::link::Clock;
use std::fs::File;
use std::process::{ExitStatus, Stdio};
use std::sync::{Mutex, PoisonError};
use std::thread;
use units::Time;

/// A cell to measure, and what its measurement needs.
pub struct Trial<'a> {
    /// The cell that is measured.
    pub cell: &'a Cell,
    /// The data that servers serve.
    pub stock: &'a mut Stock,
    /// Whether the user wants to stop.
    pub stop: &'a (dyn Fn() -> bool + Sync),
}

/// Number of initial RTTs that are reported separately.
const FIRST: u64 = 12;
/// Fraction of the path's capacity at which it counts as filled.
const FILLED: f64 = 0.9;
/// Interval between two recorded points of the curve.
const KEPT: Time = Time::from_ms(250);

/// What was observed of a program while it ran.
struct Seen {
    curve: Curve,
    /// Time until it ended or was ended.
    wall: Time,
    ended: Ended,
    /// What is wrong, if anything.
    wrong: Option<String>,
    /// The figures of a benchmark.
    reported: Vec<Figure>,
}

impl Trial<'_> {
    /// Measures the cell in namespaces of its own, which are removed afterwards.
    pub fn run(self) -> Result<Record, TrialError> {
        let tool = self.cell.program.tool;
        let measured = self.measure();
        if tool == Tool::Soffice {
            office::clear()?;
        }
        measured
    }

    fn measure(self) -> Result<Record, TrialError> {
        let Self { cell, stock, stop } = self;
        stock.provide(cell, stop)?;
        let work = stock.at("cell");
        fresh(&work)?;
        let site = Site::up(cell)?;
        let scene = Scene { cell, stock, site: &site, work: &work, stop };
        let mut gateways = if cell.way.has_gateways() { Some(Gateways::start(scene)?) } else { None };
        let servers = serve(scene)?;
        let prefix = match (&gateways, cell.way) {
            (Some(gateways), Way::JetRun) => gateways.run_prefix(),
            (_, Way::Mptcp) => {
                let mptcpize = super::tool::find("mptcpize").unwrap_or_default();
                vec![mptcpize.into_os_string(), "run".into()]
            }
            _ => Vec::new(),
        };
        let mut client = Client::of(scene, &prefix)?;
        let reported = |site: &Site| site.pair.report().map_err(TrialError::system("read the emulator's report"));
        let before = reported(&site)?;
        let mut streams = None;
        let at_end = || streams = gateways.as_mut().map(|gateways| gateways.tell(scene));
        let mut seen = match client.arrives {
            Arrives::Report => benchmark(scene, &mut client, at_end)?,
            _ => observe(scene, &mut client, at_end)?,
        };
        let report = reported(&site)?.since(&before);
        if let Some(said) = gateways.as_mut().map(Gateways::ended).transpose()?.flatten() {
            seen.wrong.get_or_insert(said);
        }
        let subflows = (cell.way == Way::Mptcp).then(|| site.joined_subflows());
        client.unmount();
        drop((client, servers, gateways));
        let outcome = Measurement { streams, subflows, ..seen.outcome(cell, stock) };
        drop(site);
        fresh(&work)?;
        Ok(Record::new(cell, outcome, &report))
    }
}

impl Seen {
    fn outcome(self, cell: &Cell, stock: &Stock) -> Measurement {
        let round_trip = cell.path.round_trip();
        let (whole, first) = (stock.whole(cell), round_trip * FIRST);
        let ended = if self.wrong.is_some() { Ended::Failed } else { self.ended };
        if cell.program.tool.is_benchmark() {
            return Measurement {
                ended,
                wrong: self.wrong,
                wall_s: self.wall.as_secs_f64(),
                bytes: 0,
                goodput_bps: None,
                at_most: false,
                first_bps: None,
                later_bps: None,
                filled_after_s: None,
                reported: self.reported,
                streams: None,
                subflows: None,
                curve: Vec::new(),
            };
        }
        let known = self.curve.bytes() > 0;
        let bytes = if known { self.curve.bytes() } else { whole };
        let bps = match self.ended {
            // Bytes that arrived while it was being ended do not count.
            Ended::Cut if known => self.curve.goodput_bps(Time::ZERO, self.wall).unwrap_or(0.0),
            _ => bytes as f64 * 8.0 / self.wall.as_secs_f64(),
        };
        let filled = cell.capacity_bps().and_then(|rate| self.curve.reached(FILLED * rate, round_trip));
        Measurement {
            ended,
            wrong: self.wrong,
            wall_s: self.wall.as_secs_f64(),
            bytes,
            goodput_bps: (ended != Ended::Failed).then_some(bps),
            // Cut off with unknown progress: an upper bound.
            at_most: !known && ended == Ended::Cut,
            first_bps: self.curve.goodput_bps(Time::ZERO, first.min(self.wall)),
            later_bps: self.curve.goodput_bps(first, self.wall),
            filled_after_s: filled.map(Time::as_secs_f64),
            reported: Vec::new(),
            streams: None,
            subflows: None,
            curve: self.curve.points(KEPT),
        }
    }
}

/// Runs the program and watches its progress. `at_end` is called when it has ended, or just before it is ended.
fn observe(scene: Scene<'_>, client: &mut Client, at_end: impl FnOnce()) -> Result<Seen, TrialError> {
    let Scene { cell, stock, site, stop, .. } = scene;
    let original = File::open(stock.original(cell)).map_err(TrialError::system("open what is served"))?;
    let limit = match cell.program.cut() {
        Some(time) => time + cell.path.round_trip() * FIRST,
        None => cell.program.limit,
    };
    let piped = matches!(client.arrives, Arrives::Stdout | Arrives::Answer);
    let mut command = std::mem::replace(&mut client.command, std::process::Command::new(""));
    if piped {
        command.stdout(Stdio::piped());
    }
    let curve = Mutex::new(Curve::default());
    let clock = Clock::start();
    let mut process = scene.start(&site.app, command, "program")?;
    let output = process.take_stdout();
    let counts = client.arrives != Arrives::Answer;
    thread::scope(|scope| {
        let received = output.map(|output| {
            let record = |bytes| {
                if counts {
                    curve.lock().unwrap_or_else(PoisonError::into_inner).record(clock.now(), bytes);
                }
            };
            let original = &original;
            scope.spawn(move || receive(output, original, record))
        });
        let look = |now| {
            if let Some(bytes) = client.arrives.on_disk() {
                curve.lock().unwrap_or_else(PoisonError::into_inner).record(now, bytes);
            }
        };
        let Finish { wall, status } = wait(&mut process, clock, limit, stop, look)?;
        at_end();
        process.end();
        let mut ended = if status.is_some() { Ended::Whole } else { Ended::Cut };
        let failed = status.filter(|status| !status.success());
        let mut wrong = failed.map(|status| format!("the program ended with {status}: {}", process.said()));
        if let Some(opens) = client.opens.as_mut().filter(|_| ended == Ended::Whole && wrong.is_none()) {
            wrong = finish(opens).err().map(|error| error.to_string());
        }
        let mut compared = match received {
            Some(thread) => thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
            None => client.arrives.compare(&original),
        }
        .map_err(TrialError::system("compare what arrived with what was sent"))?;
        if client.arrives == Arrives::Answer && ended == Ended::Cut {
            compared.same = true;
        }
        let length = original.metadata().map_err(TrialError::system("look at what is served"))?.len();
        if wrong.is_none() && !compared.same {
            wrong = Some(format!("what arrived differs from what was sent, after {} bytes", compared.bytes));
        } else if wrong.is_none() && ended == Ended::Whole && compared.bytes != length {
            wrong = Some(format!("{} of {length} bytes arrived: {}", compared.bytes, process.said()));
        }
        if cell.program.cut().is_some() && ended == Ended::Whole {
            // The download was to be cut off, but reached the end of its file first.
            ended = Ended::Cut;
        }
        let mut curve = std::mem::take(&mut *curve.lock().unwrap_or_else(PoisonError::into_inner));
        if matches!(client.arrives, Arrives::Parts(_)) {
            curve.record(wall, compared.bytes);
        }
        // The program's last bytes may be read after its end.
        let wall = if ended == Ended::Whole { wall.max(curve.end()) } else { wall };
        Ok(Seen { curve, wall, ended, wrong, reported: Vec::new() })
    })
}

/// Runs a benchmark and reads its report. `at_end` is called when it has ended, or just before it is ended.
fn benchmark(scene: Scene<'_>, client: &mut Client, at_end: impl FnOnce()) -> Result<Seen, TrialError> {
    let Scene { cell, site, work, stop, .. } = scene;
    let output = File::create(work.join(OUTPUT)).map_err(TrialError::system("write a benchmark's output"))?;
    let mut command = std::mem::replace(&mut client.command, std::process::Command::new(""));
    command.stdout(output);
    let clock = Clock::start();
    let mut process = scene.start(&site.app, command, "program")?;
    let Finish { wall, status } = wait(&mut process, clock, cell.program.limit, stop, |_| {})?;
    at_end();
    process.end();
    let mut seen = Seen { curve: Curve::default(), wall, ended: Ended::Whole, wrong: None, reported: Vec::new() };
    match status {
        None => seen.wrong = Some(format!("it did not end within {}: {}", cell.program.limit, process.said())),
        Some(status) if !status.success() => {
            seen.wrong = Some(format!("the program ended with {status}: {}", process.said()));
        }
        Some(_) => match cell.program.tool.figures(work) {
            Ok(figures) => seen.reported = figures,
            Err(error) => seen.wrong = Some(format!("{error}; {}", process.said())),
        },
    }
    Ok(seen)
}

/// How the wait for a program came to its end.
struct Finish {
    /// Time since the start.
    wall: Time,
    /// How it ended; `None` if it runs on.
    status: Option<ExitStatus>,
}

/// Waits until the program ends, at most until `limit`. `look` is called meanwhile.
fn wait(
    process: &mut Process,
    clock: Clock,
    limit: Time,
    stop: &(dyn Fn() -> bool + Sync),
    look: impl Fn(Time),
) -> Result<Finish, TrialError> {
    loop {
        // It is ended first, because the reader of its output is waited for next.
        if stop() {
            process.end();
            return Err(TrialError::Interrupted);
        }
        let status = process.status().inspect_err(|_| process.end())?;
        let wall = clock.now();
        look(wall);
        if status.is_some() || wall >= limit {
            return Ok(Finish { wall, status });
        }
        thread::sleep(LOOK);
    }
}
