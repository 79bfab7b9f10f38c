//! An advice for a person.

use crate::estimates::{number, plus_minus};
use crate::screen::Screen;
use crate::table::Table;
use advise::{Advice, Hurt, RemedyAdvice, SetAdvice, Spread, Verdict};
use std::fmt::Write;
use units::many;

/// All of it.
pub fn of(advice: &Advice, screen: &Screen) -> String {
    let mut text = format!("{}\n", screen.heading(&screen.wrapped(&heading(advice), 0)));
    if let Some(failure) = &advice.base_failure {
        let seeds = match advice.seeds - advice.ended {
            failed if failed < advice.seeds => format!("in {failed} of {} seeds ", advice.seeds),
            _ => String::new(),
        };
        let line = format!("{seeds}a job fails as it is: {failure}");
        let _ = writeln!(text, "{}", screen.bad(&screen.wrapped(&line, 0)));
    }
    let of = |verdict: Verdict, yardstick: bool| {
        advice.remedies.iter().filter(move |remedy| remedy.verdict == verdict && remedy.yardstick == yardstick)
    };
    let helps: Vec<&RemedyAdvice> = of(Verdict::Helps, false).collect();
    if helps.is_empty() {
        let tried = |remedy: &RemedyAdvice| !matches!(remedy.verdict, Verdict::Untried | Verdict::Unfit);
        let line = if advice.complete {
            screen.good("nothing to gain is shown: leave it as it is")
        } else if advice.remedies.iter().any(tried) {
            screen.doubtful("nothing to gain is shown so far: the time was up")
        } else {
            screen.doubtful("no remedy was tried to its end: the time was up")
        };
        let _ = writeln!(text, "\n{line}");
    } else {
        let _ = write!(text, "\n{}", table("what helps, on its own", &helps, advice, screen));
    }
    if let Some(best) = advice.best.as_ref().filter(|_| !helps.is_empty()) {
        text.push_str(&together(best, advice, screen));
        text.push_str(&to_type(best, advice, screen));
    }
    let yardsticks: Vec<&RemedyAdvice> = of(Verdict::Helps, true).collect();
    if !yardsticks.is_empty() {
        let _ = write!(text, "\n{}", table("to compare with: hardware", &yardsticks, advice, screen));
    }
    let hurts: Vec<&RemedyAdvice> = of(Verdict::Hurts, false).chain(of(Verdict::Hurts, true)).collect();
    if !hurts.is_empty() {
        let _ = write!(text, "\n{}", table("what makes it worse", &hurts, advice, screen));
    }
    text.push_str(&rest(advice, screen));
    text
}

fn heading(advice: &Advice) -> String {
    let seeds = many(advice.seeds, "seed");
    let Some(base) = advice.base else { return format!("{} ends in none of {seeds}", advice.scenario) };
    let base = spread(base, &advice.unit);
    let over = match (advice.ended, advice.seeds) {
        (1, 1) => "(one seed: no interval)".to_owned(),
        (ended, all) if ended < all => format!("where it ends, in {ended} of {seeds}"),
        _ => format!("(mean and 95 % interval over {seeds})"),
    };
    let what = match advice.objective.as_str() {
        "time" => "takes",
        "energy" => "draws",
        "cost" => "costs",
        _ => return format!("{}: {} over {seeds}", advice.scenario, advice.objective),
    };
    format!("{} {what} {base} {over}", advice.scenario)
}

fn table(title: &str, remedies: &[&RemedyAdvice], advice: &Advice, screen: &Screen) -> String {
    // A race gives the best more seeds than the others; where a job fails, on how many they end says more than times.
    let raced = remedies.iter().any(|remedy| remedy.seeds != advice.seeds);
    let fails = remedies.iter().any(|remedy| remedy.ended.min(remedy.base_ended) < remedy.seeds);
    let more = if fails { Some("ends in") } else { raced.then_some("seeds") };
    let unlike = remedies.iter().any(|remedy| completes(remedy.completed, advice).is_some());
    let completed = unlike.then_some("completes");
    let mut table = Table::new([title, "saves", "of it"].into_iter().chain(more).chain(completed));
    for remedy in remedies {
        let x = if remedy.x.is_empty() { String::new() } else { format!(" ({})", remedy.x) };
        let name = format!("{}: {}{x}", remedy.id, remedy.name);
        let (saving, part) = saving(remedy.saving, remedy.part, &advice.unit);
        let seeds = match (fails, remedy.seeds) {
            (true, seeds) => format!("{} of {seeds}, not {}", remedy.ended, remedy.base_ended),
            (false, seeds) => seeds.to_string(),
        };
        let row = [name, saving.unwrap_or_else(|| "-".to_owned()), part];
        let of_traffic = completed.map(|_| completes(remedy.completed, advice).unwrap_or_else(|| "as many".to_owned()));
        table.row(row.into_iter().chain(more.map(|_| seeds)).chain(of_traffic));
    }
    table.shown(screen)
}

/// How many flows are complete with something, and how many as it is, where these are unlike numbers: what completes
/// more of them is better, whatever their mean time.
fn completes(with: Option<f64>, advice: &Advice) -> Option<String> {
    let (with, base) = with.zip(advice.base_completed)?;
    ((with - base).abs() >= advise::NEGLIGIBLE * with.max(base) && with != base)
        .then(|| format!("{with:.0}, not {base:.0}"))
}

fn saving(saving: Option<Spread>, part: Option<f64>, unit: &str) -> (Option<String>, String) {
    let percent = part.map_or_else(String::new, |part| format!("{:.1} %", 100.0 * part));
    (saving.map(|saving| spread(saving, unit)), percent)
}

fn spread(spread: Spread, unit: &str) -> String {
    let blank = if unit.is_empty() { "" } else { " " };
    let number = plus_minus(spread.mean, spread.half_width.unwrap_or(0.0));
    // One value has no interval.
    let number = if spread.half_width.is_none() { format!("{:.2}", spread.mean) } else { number };
    format!("{number}{blank}{unit}")
}

fn together(best: &SetAdvice, advice: &Advice, screen: &Screen) -> String {
    let mut text = String::new();
    let (saved, part) = saving(best.saving, best.part, &advice.unit);
    let title = format!("the best together: {}", best.ids.join(" + "));
    let _ = writeln!(text, "\n{}", screen.heading(&screen.wrapped(&title, 0)));
    if best.ended.min(best.base_ended) < best.seeds {
        let line = format!("ends in {} of {}, as it is in {}", best.ended, many(best.seeds, "seed"), best.base_ended);
        let _ = writeln!(text, "{}", screen.wrapped(&line, 2));
    }
    if let Some(flows) = completes(best.completed, advice) {
        let _ = writeln!(text, "{}", screen.wrapped(&format!("completes {flows}, in the mean"), 2));
    }
    let line = match (saved, advice.base_time_s, best.time_s) {
        // Means over unlike seeds do not differ by what is saved.
        (Some(saved), Some(_), Some(after)) if best.ended.min(best.base_ended) < best.seeds => {
            format!("saves {saved} ({part}) where both end; with it the jobs finish in {} s", figure(after))
        }
        (Some(saved), Some(before), Some(after)) => {
            let seeds = if best.seeds == advice.seeds { String::new() } else { format!(" over {} seeds", best.seeds) };
            format!("saves {saved} ({part}){seeds}: {} s -> {} s", figure(before), figure(after))
        }
        (_, _, Some(after)) => format!("the jobs finish: {} s", figure(after)),
        _ => String::new(),
    };
    let _ = writeln!(text, "{}", screen.wrapped(&line, 2));
    if let (Some(before), Some(after)) = (advice.base_energy_j, best.energy_j) {
        let _ = writeln!(text, "  energy {before:.0} J -> {after:.0} J");
    }
    if let (Some(before), Some(after), "cost") = (advice.base_cost, best.cost, advice.objective.as_str()) {
        let _ = writeln!(text, "  cost {} {unit} -> {} {unit}", figure(before), figure(after), unit = advice.unit);
    }
    for hurt in &best.hurts {
        let _ = writeln!(text, "{}", screen.bad(&screen.wrapped(&hurts(hurt, &advice.unit), 2)));
    }
    if best.hurts.is_empty() && !best.tried.is_empty() {
        let tried = format!("it hurts on none of the other days that were tried: {}", best.tried.join("; "));
        let _ = writeln!(text, "{}", screen.wrapped(&tried, 2));
    }
    if !best.rates.is_empty() {
        let number = |value: Option<f64>| value.map_or_else(|| "fails".to_owned(), figure);
        let unit = if advice.unit.is_empty() { String::new() } else { format!(", {}", advice.unit) };
        let heads =
            ["network's rates".to_owned(), format!("as it is{unit}"), format!("with it{unit}"), "saves".to_owned()];
        let mut table = Table::new(heads).indented(2);
        let mut rates = best.rates.clone();
        rates.sort_by(|a, b| a.factor.total_cmp(&b.factor));
        for row in rates {
            let part = row
                .saving
                .zip(row.base)
                .map_or_else(String::new, |(saving, base)| format!("{:.1} %", 100.0 * saving.mean / base));
            table.row([format!("x {}", row.factor), number(row.base), number(row.with), part]);
        }
        text.push_str(&table.shown(screen));
    }
    text
}

/// A value with a tenth, or so many digits that what is below one does not vanish.
fn figure(value: f64) -> String {
    if value.abs() >= 1.0 { format!("{value:.1}") } else { number(value) }
}

fn hurts(hurt: &Hurt, unit: &str) -> String {
    match hurt.more {
        Some(more) => format!("it hurts {}: {} more", hurt.at, spread(more, unit)),
        None => format!("it hurts {}: more runs fail", hurt.at),
    }
}

fn to_type(best: &SetAdvice, advice: &Advice, screen: &Screen) -> String {
    let mut text = format!("\n{}\n", screen.heading("what to type"));
    for id in &best.ids {
        let Some(remedy) = advice.remedies.iter().find(|remedy| remedy.id == *id) else { continue };
        for line in &remedy.apply {
            let _ = writeln!(text, "{}", screen.wrapped(line, 2));
        }
        let _ = writeln!(text, "{}", screen.aside(&screen.wrapped(&format!("costs: {}", remedy.costs), 4)));
    }
    // What is pasted must not break within quotes.
    let sets: Vec<String> = best.set.iter().map(|set| format!("    --set '{set}'")).collect();
    let _ = writeln!(text, "  in the simulator:\n{}", sets.join(" \\\n"));
    text
}

fn rest(advice: &Advice, screen: &Screen) -> String {
    let mut text = String::from("\n");
    let names = |verdict: Verdict| -> Vec<&str> {
        let of = advice.remedies.iter().filter(|remedy| remedy.verdict == verdict);
        of.map(|remedy| remedy.id.as_str()).collect()
    };
    for (verdict, what) in [
        (Verdict::NotShown, "not shown to help (within the noise, or under a hundredth)"),
        (Verdict::NoGain, "no gain where they were screened"),
        (Verdict::Untried, "not tried, the time was up"),
    ] {
        let names = names(verdict);
        if !names.is_empty() {
            let _ = writeln!(text, "{}", screen.wrapped(&format!("{what}: {}", names.join(", ")), 0));
        }
    }
    if let Some(off) = advice.flow_off {
        let role = if advice.flow_believed { "screens what it models" } else { "only orders what is tried" };
        let line = format!("flow level is {:+.1} % off as it is: it {role}", 100.0 * off);
        let _ = writeln!(text, "{}", screen.wrapped(&line, 0));
    }
    for note in &advice.notes {
        let _ = writeln!(text, "{}", screen.wrapped(&format!("note: {note}"), 0));
    }
    let unfit = names(Verdict::Unfit).len();
    if unfit > 0 {
        let _ = writeln!(text, "{unfit} others are for other cases; --json says for which");
    }
    if !advice.complete {
        let cut = "the search was cut by --budget: the same command with more goes on from here";
        let _ = writeln!(text, "{}", screen.doubtful(&screen.wrapped(cut, 0)));
    }
    text
}
