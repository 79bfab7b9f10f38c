//! Whether a run can have a metric, as far as its path says: the names of links, nodes and traffic are the scenario's.

use results::metrics::Described;
use results::{CLIENTS, DISKS, JOBS, LINKS, MASTER, NODES, RUN, TRAFFIC};
use units::nearest;

/// Checks the path of a metric. The error says what is wrong with it, and what is near.
pub fn check(path: &str) -> Result<(), String> {
    let last = |rest: &'_ str, form: &str| match rest.rsplit_once('.') {
        Some((_, figure)) => Ok(figure.to_owned()),
        None => Err(form.to_owned()),
    };
    match path.split_once('.') {
        Some(("link", rest)) => known(&last(rest, "a link's metric is written link.FROM -> TO.drops")?, &LINKS.paths()),
        Some(("client", rest)) => {
            known(&last(rest, "a client's metric is written client.TRAFFIC.drops")?, &CLIENTS.paths())
        }
        Some(("series", rest)) => {
            let all = [MASTER.series(), TRAFFIC.series(), NODES.series(), JOBS.series(), DISKS.series(), RUN.series()]
                .concat();
            known(&last(rest, "a series is written series.TRAFFIC.goodput or series.NODE.cpu")?, &all)
        }
        _ => of_summary(path),
    }
}

/// A path by the keys of `result.json`; entries of a list have a number or a name, which only the run knows.
fn of_summary(path: &str) -> Result<(), String> {
    let mut rows: &dyn Described = &RUN;
    let mut may_be_entry = false;
    let mut parts = path.split('.').peekable();
    while let Some(part) = parts.next() {
        let docs = rows.docs();
        let Some(doc) = docs.iter().find(|doc| doc.key == Some(part)) else {
            let keys: Vec<_> = docs.iter().filter_map(|doc| doc.key).collect();
            if may_be_entry && parts.peek().is_some() {
                may_be_entry = false;
                continue;
            }
            return known(part, &keys);
        };
        match doc.inner {
            Some(inner) => (rows, may_be_entry) = (inner, true),
            None if doc.has_entries() || parts.peek().is_none() => return Ok(()),
            None => return Err(format!("`{part}` is a figure: nothing is inside it")),
        }
    }
    Err(format!("it names all of the {}, not a figure of them", rows.name()))
}

fn known(figure: &str, all: &[&str]) -> Result<(), String> {
    if all.contains(&figure) { Ok(()) } else { Err(unknown(figure, all)) }
}

/// What is said of a figure that is none of these.
pub fn unknown(figure: &str, all: &[&str]) -> String {
    let near = nearest(figure, all.iter().copied());
    let near = near.map_or_else(|| all.join(", "), |near| format!("did you mean `{near}`?"));
    format!("no figure is called `{figure}`: {near}")
}

#[cfg(test)]
mod tests {
    use super::check;

    #[test]
    fn a_path_is_known_before_anything_runs() {
        for path in [
            "job.finish_s",
            "jobs.1.finish_s",
            "jobs.sort.critical_path_s.cpu",
            "traffic.netpipe.messages.0.latency_s",
            "network.drops",
            "link.worker-1 -> switch.drops",
            "client.calls.retransmissions",
            "series.worker-1.cpu",
            "series.all.timeouts",
        ] {
            assert_eq!(check(path), Ok(()), "{path}");
        }
        for (path, says) in [
            ("job.finnish_s", "did you mean `finish_s`?"),
            ("netwrok.drops", "did you mean `network`?"),
            ("network", "all of the network"),
            ("network.drops.more", "nothing is inside"),
            ("link.drops", "is written link.FROM"),
            ("link.a -> b.dorps", "did you mean `drops`?"),
            ("series.worker-1.cpus", "did you mean `cpu`?"),
        ] {
            let error = check(path).expect_err(path);
            assert!(error.contains(says), "{path}: {error}");
        }
    }
}
