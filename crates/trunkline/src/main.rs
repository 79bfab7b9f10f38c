//! The command line.

mod advise;
mod advise_args;
mod advise_text;
mod args;
mod bench;
mod compare;
mod compare_real;
mod estimate;
mod estimates;
#[cfg(test)]
mod examples;
mod failure;
mod fit;
mod fit_args;
mod fit_load;
mod fit_text;
mod import;
mod import_check;
mod import_many;
mod import_spark;
mod interrupt;
#[cfg(feature = "jet")]
mod jet;
mod kat;
mod kat_args;
mod man;
mod mistyped;
mod number;
mod power;
mod power_daemon;
mod power_hdfs;
mod progress;
mod recorded_run;
mod run;
mod screen;
mod study;
mod study_text;
mod summary;
mod summary_jobs;
mod summary_spark;
mod sweep;
mod sweep_args;
mod sweep_dask;
mod sweep_text;
mod table;
#[cfg(feature = "testbed")]
mod testbed;
#[cfg(feature = "testbed")]
mod testbed_args;
#[cfg(feature = "testbed")]
mod testbed_hadoop;
#[cfg(feature = "testbed")]
mod testbed_hadoop_args;
#[cfg(feature = "testbed")]
mod testbed_hadoop_kat;
#[cfg(feature = "testbed")]
mod testbed_hadoop_measure;
#[cfg(feature = "testbed")]
mod testbed_hadoop_predict;
#[cfg(feature = "testbed")]
mod testbed_hadoop_recorded;
#[cfg(feature = "testbed")]
mod testbed_hadoop_result;
#[cfg(feature = "testbed")]
mod testbed_hadoop_run;
#[cfg(feature = "testbed")]
mod testbed_spark_predict;
#[cfg(feature = "testbed")]
mod testbed_star;
#[cfg(feature = "testbed")]
mod testbed_study;
mod words;

use args::{Arguments, Command};
use clap::CommandFactory;
use failure::Failure;
use runs::Error;
use std::env;
use std::io::{self, Write};
use std::panic;
use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments = match mistyped::parse(env::args_os()) {
        Ok(arguments) => arguments,
        Err(error) => {
            let code = if error.use_stderr() { 2 } else { 0 };
            return if error.print().is_ok() { ExitCode::from(code) } else { ExitCode::from(5) };
        }
    };
    interrupt::listen();
    panic::set_hook(Box::new(|panic| {
        // There it means that a file is broken, which is told as such.
        if records::in_foreign_decoder() {
            return;
        }
        let text = format!("error: {panic}\nthis is an error of trunkline: please report it with the scenario\n");
        // Not eprintln!, which panics where standard error cannot be written.
        let _ = io::stderr().lock().write_all(text.as_bytes());
    }));
    match panic::catch_unwind(|| dispatch(arguments.command)) {
        Ok(Ok(())) => ExitCode::SUCCESS,
        Ok(Err(failure)) => {
            failure.report();
            ExitCode::from(failure.code())
        }
        Err(_) => ExitCode::from(1),
    }
}

fn dispatch(command: Command) -> Result<(), Failure> {
    match command {
        Command::Run(_)
        | Command::Compare(_)
        | Command::Estimate(_)
        | Command::Fit(_)
        | Command::Import(_)
        | Command::Bench(_)
        | Command::Kat(_) => {
            interrupt::limit(300);
        }
        // Many small runs, which hear at once, and a message that says how many are kept.
        Command::Study(_) | Command::Advise(_) | Command::Sweep(_) => interrupt::limit(700),
        _ => {}
    }
    match command {
        Command::Run(run) => run::run(&run),
        Command::Compare(compare) => compare::compare(&compare),
        Command::Estimate(estimate) => estimate::estimate(&estimate),
        Command::Fit(words) => fit::fit(&words),
        Command::Import(import) => import::import(&import),
        Command::Study(study) => study::study(&study),
        Command::Advise(args) => advise::advise(&args),
        Command::Sweep(words) => sweep::sweep(&words),
        #[cfg(feature = "jet")]
        Command::Jet(command) => jet::jet(&command),
        Command::Kat(command) => kat::kat(&command),
        Command::Power(command) => power::power(&command),
        Command::Bench(bench) => bench::bench(&bench),
        #[cfg(feature = "testbed")]
        Command::Testbed(testbed) => testbed::testbed(testbed),
        Command::Schema(schema) if schema.reference => emit(&scenario::reference()),
        Command::Schema(_) => emit(&format!("{:#}\n", scenario::schema())),
        Command::Completions(completions) => {
            let mut script = Vec::new();
            clap_complete::generate(completions.shell, &mut Arguments::command(), "trunkline", &mut script);
            emit(&String::from_utf8_lossy(&script))
        }
        Command::Man(words) => man::man(&words),
    }
}

/// Writes to standard output.
pub fn emit(text: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Err(Failure::ReaderGone),
        Err(error) => Err(Error::writing(Path::new("standard output"), &error).into()),
    }
}
