//! What falls below a study's floor.

use super::table::{Line, figure_name, measured_of, number, percent, value};
use super::{Cell, Metric, Record, Way};
use std::fmt::Write;

/// The figures that fall below the floor through `jet`: figures of merit first, the worst before the others.
pub fn below(text: &mut String, floor: f64, measured: &[(Cell, Record)]) {
    struct Below<'a> {
        jet: &'a (Cell, Record),
        plain: &'a (Cell, Record),
        metric: Metric,
        is_merit: bool,
        ratio: f64,
    }
    let all: Vec<&(Cell, Record)> = measured.iter().collect();
    let (mut below, mut cells) = (Vec::new(), 0);
    for jet in all.iter().copied().filter(|(cell, _)| cell.way == Way::Jet) {
        let of_path: Vec<_> = all.iter().copied().filter(|(cell, _)| cell.path.name == jet.0.path.name).collect();
        let Cell { program, buffers, control, .. } = &jet.0;
        let line = Line { program: &program.name, metric: Metric::Goodput, buffers: *buffers, control };
        let Some(plain) = measured_of(&of_path, line, Way::Plain) else { continue };
        cells += 1;
        for (index, figure) in plain.1.outcome.figures(&plain.0).iter().enumerate() {
            let metric = figure.metric;
            // What failed has nothing of it.
            let ratio = jet.1.outcome.figure(&jet.0, metric).map_or(0.0, |value| metric.ratio(value, figure.value));
            if ratio < floor {
                below.push(Below { jet, plain, metric, is_merit: index == 0, ratio });
            }
        }
    }
    below.sort_by(|a, b| b.is_merit.cmp(&a.is_merit).then(a.ratio.total_cmp(&b.ratio)));
    let merits = below.iter().filter(|below| below.is_merit).count();
    let _ = writeln!(
        text,
        "\nBelow {} of plain through jet: {merits} of {cells} programs on a path by their figure of merit, which stand \
         first;\n{} by other figures.",
        percent(floor),
        below.len() - merits
    );
    if !below.is_empty() {
        let _ = writeln!(text, "\n|path       |program           |figure        | plain|   jet|jet/plain|");
        let _ = writeln!(text, "|-----------|------------------|--------------|-----:|-----:|--------:|");
    }
    for Below { jet, plain, metric, ratio, .. } in below {
        let shown = |of: &(Cell, Record)| value(of, metric, 1.0);
        let (path, program, name) = (&jet.0.path.name, &jet.0.program.name, figure_name(metric));
        let (plain, jet, ratio) = (shown(plain), shown(jet), number(ratio));
        let _ = writeln!(text, "|{path:<11}|{program:<18}|{name:<14}|{plain:>6}|{jet:>6}|{ratio:>9}|");
    }
}
