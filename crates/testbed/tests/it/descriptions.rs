//! What people write: files of paths, traces, and what is wrong with them.

use net::{Discipline, GilbertElliott, Limit, Loss};
use proptest::prelude::*;
use std::path::Path as FilePath;
use testbed::link::{LinkError, Opportunities, Path, Paths, Trace, check};
use units::{BitRate, Bytes, Time};

fn parse(text: &str) -> Result<Paths, String> {
    Paths::parse("test.toml", text, FilePath::new("")).map_err(|error| match error {
        LinkError::Input(message) => message,
        other => panic!("{other}"),
    })
}

#[test]
fn a_file_says_everything_about_paths() {
    let text = r#"
seed = 7
[[path]]
name = "dsl"
both = { delay = "20 ms", jitter = "2 ms", jitter-reorders = true, reorder = "1 %", reorder-by = "5 ms" }
[path.forth]
rate = "1 Mbit/s"
loss = "0.5 %"
burst = 4
queue = { kind = "red", limit = "60 packets", red = { min = "5 packets", max = "15 packets", ecn = false } }
[path.back]
rate = "16 Mbit/s"
queue = { limit = "64 KB" }
gilbert-elliott = { to-bad = 0.01, to-good = 0.2, bad = 0.5, good = 0 }
[[path]]
name = "clean"
"#;
    let Paths { paths, seed } = parse(text).unwrap();
    let (dsl, clean) = (&paths[0], &paths[1]);
    assert_eq!((seed, dsl.round_trip(), clean.round_trip()), (7, Time::from_ms(40), Time::ZERO));
    assert_eq!((dsl.forth.rate, dsl.back.rate), (Some(BitRate::from_mbps(1)), Some(BitRate::from_mbps(16))));
    assert_eq!((dsl.forth.limit, dsl.back.limit), (Some(Limit::Packets(60)), Some(Limit::Bytes(Bytes::new(64_000)))));
    let Discipline::Red(red) = dsl.forth.discipline else { panic!("{:?}", dsl.forth.discipline) };
    assert_eq!((red.min, red.max, red.ecn), (Some(Limit::Packets(5)), Some(Limit::Packets(15)), false));
    assert_eq!(dsl.forth.loss, Loss::Bursts(GilbertElliott::bursts(0.005, 4.0)));
    assert_eq!(dsl.back.loss, Loss::Bursts(GilbertElliott { to_bad: 0.01, to_good: 0.2, bad: 0.5, good: 0.0 }));
    assert!(dsl.back.jitter.reorders && dsl.back.reorder.share == 0.01 && dsl.back.reorder.by == Time::from_ms(5));
}

#[test]
fn what_is_wrong_is_said_with_its_place() {
    let path = |what: &str| format!("[[path]]\nname = \"a\"\n{what}\n");
    let cases = [
        (path("bth = {}"), vec!["line 3", "bth", "both"]),
        (path("both = { rate = \"155 Mbps\" }"), vec!["line 3", "Mbit/s"]),
        (path("both = { rate = 155 }"), vec!["line 3", "string"]),
        (path("both = { loss = \"2\" }"), vec!["line 3", "not a share"]),
        (path("both = { queue = { limit = \"10 pakets\" } }"), vec!["line 3", "100 packets"]),
        (path("both = { queue = { kind = \"reed\" } }"), vec!["path a", "did you mean `red`"]),
        (path("both = { queue = { red = {} } }"), vec!["path a", "kind red"]),
        (
            path("both = { queue = { kind = \"threshold\", limit = \"9 packets\" } }"),
            vec!["path a", "threshold is needed"],
        ),
        (path("both = { rate = \"1 Mbit/s\", queue = { limit = \"1 KB\" } }"), vec!["at least one frame"]),
        (path("both = { rate = \"0 bit/s\" }"), vec!["rate is zero"]),
        (path("both = { delay = \"1 ms\", jitter = \"2 ms\" }"), vec!["jitter, 2 ms, exceeds the delay, 1 ms"]),
        (path("both = { reorder = \"1 %\" }"), vec!["held back"]),
        (path("both = { loss = \"1 %\", burst = 0.5 }"), vec!["at least one frame"]),
        (path("both = { burst = nan }"), vec!["bursts"]),
        (
            path("both = { loss = \"1 %\", gilbert-elliott = { to-bad = 0, to-good = 0, bad = 0, good = 0 } }"),
            vec!["leave out"],
        ),
        (path("both = { delay = \"2 h\" }"), vec!["longer than"]),
        (path("both = { trace = \"no/such/file\" }"), vec!["cannot read no/such/file"]),
        ("[[path]]\n".to_owned(), vec!["line 1", "name"]),
        ("[[path]]\nname = \"Wan/1\"\n".to_owned(), vec!["Wan/1", "begins with a letter"]),
        ("[[path]]\nname = \"a\"\n[[path]]\nname = \"a\"\n".to_owned(), vec!["two paths are named a"]),
        ("seed = 1\n".to_owned(), vec!["0 paths"]),
        ("[[path\n".to_owned(), vec!["line 1"]),
    ];
    for (text, parts) in cases {
        let message = parse(&text).map(|paths| format!("{paths:?}")).expect_err(&text);
        assert!(
            message.starts_with("test.toml: ") && parts.iter().all(|part| message.contains(part)),
            "{text}{message}"
        );
    }
}

#[test]
fn the_ready_paths_are_what_they_say() {
    for name in Paths::built_in_names() {
        let paths = Paths::read(FilePath::new(name)).unwrap_or_else(|error| panic!("{name}: {error}")).paths;
        for path in paths {
            let what = match path.name.as_str() {
                "local" => (1_000_000_000, Time::from_us(500), 0.0),
                "satellite" => (50_000_000, Time::from_ms(600), 0.0),
                "metro" => (155_000_000, Time::from_ms(10), 0.0),
                "continental" => (155_000_000, Time::from_ms(100), 0.001),
                "beijing" => (82_100_000, Time::from_ms(539), 0.0),
                other => panic!("{other}"),
            };
            let rate = path.forth.rate.expect("a rate").as_bps();
            assert_eq!((rate, path.round_trip(), path.back.loss.mean()), what, "{name}");
        }
    }
    assert!(Paths::read(FilePath::new("no-such-file")).is_err());
}

#[test]
fn more_paths_than_addresses_are_refused() {
    let paths: Vec<Path> = (0..251).map(|number| Path::new(&format!("p{number}"), None, Time::ZERO)).collect();
    assert!(check(&paths).is_err() && check(&paths[..250]).is_ok());
}

#[test]
fn traces_that_cannot_be_are_refused_with_their_line() {
    let cases = [
        ("", "empty"),
        ("0\n0\n", "ends at 0 ms"),
        ("1\nx\n", "line 2: `x`"),
        ("5\n\n4\n", "line 3: 4 ms lies before"),
        ("1\n-3\n", "line 2"),
        ("99999999999\n", "line 1"),
        ("time,speed\n", "line 1: `speed`"),
        ("rate\n1 Mbit/s\n", "the column time is missing"),
        ("time,time\n", "twice"),
        ("time,rate\n", "no line below"),
        ("time,rate\n1 s\n", "line 2: 1 fields"),
        ("time,rate\n1 s,1 Mbps\n", "line 2, rate"),
        ("time,rate\n,1 Mbit/s\n", "line 2: the time is missing"),
        ("time,loss\n1 s,101 %\n", "line 2, loss"),
        ("time,loss\n2 s,1 %\n1 s,1 %\n", "line 3: 1 s lies before"),
    ];
    for (text, part) in cases {
        let message = Trace::parse(text).map(|trace| format!("{trace:?}")).expect_err(text);
        assert!(message.contains(part), "{text:?}: {message}");
    }
}

proptest! {
    #[test]
    fn no_text_breaks_the_parsers(text in "[ -~\n,%\u{e9}]{0,200}") {
        let _ = (Trace::parse(&text), parse(&text));
    }

    #[test]
    fn nearly_right_tables_do_not_break_the_parser(text in "time,(rate|delay|loss)\n([0-9]{1,25} ?(s|ms|bit/s|%|),?\n?){0,20}") {
        let _ = Trace::parse(&text);
    }

    /// Written out and read again, opportunities are at their times, again and again.
    #[test]
    fn opportunities_are_where_the_trace_has_them(gaps in prop::collection::vec(0_u64..50, 1..60), last in 1_u64..50, round in 0_u64..1_000) {
        let mut at = 0;
        let mut times: Vec<u64> = gaps.iter().map(|gap| { at += gap; at }).collect();
        times.push(at + last);
        let text = times.iter().map(u64::to_string).collect::<Vec<_>>().join("\n");
        let trace = Opportunities::parse(&text).unwrap();
        let (count, period) = (times.len() as u64, at + last);
        prop_assert_eq!(trace.period(), Time::from_ms(period));
        for (place, ms) in times.iter().enumerate() {
            let index = round * count + place as u64;
            prop_assert_eq!(trace.at(index), Time::from_ms(round * period + ms));
            // The first after it is the next one at a later time.
            let after = trace.after(trace.at(index));
            prop_assert!(trace.at(after) > trace.at(index) && trace.at(after - 1) <= trace.at(index));
        }
        let mbit = count as f64 * 1_500.0 * 8.0 / (period as f64 * 1e-3);
        prop_assert!((trace.mean_rate().as_bps() as f64 - mbit).abs() <= 1.0);
    }
}
