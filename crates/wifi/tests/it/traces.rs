//! Movement traces: what they say, and what is wrong with them.

use proptest::prelude::*;
use std::fmt::Write;
use units::Time;
use wifi::mobility::{Area, Mobility, Position, TraceProblem, read_bonnmotion, read_setdest};

const SETDEST: &str = r#"#
# nodes: 2, pause: 2.00, max speed: 10.00, max x: 200.00, max y: 100.00
#
$node_(0) set X_ 10.0
$node_(0) set Y_ 20.0
$node_(0) set Z_ 0.000000000000
$node_(1) set X_ 50.0
$node_(1) set Y_ 50.0
$node_(1) set Z_ 0.000000000000
$god_ set-dist 0 1 1
$ns_ at 2.000000000000 "$node_(0) setdest 50.0 50.0 5.0"
$ns_ at 4.5 "$god_ set-dist 0 1 2"
$ns_ at 6.0 "$node_(1) setdest 150.0 50.0 10.0"
$ns_ at 11.0 "$node_(1) setdest 100.0 0.0 7.0710678118654755"
$ns_ at 30.0 "$node_(0) setdest 50.0 90.0 2.0"
$ns_ at 35.0 "$node_(0) setdest 1.0 1.0 0.0"
"#;

fn area() -> Area {
    Area::new(200.0, 100.0).unwrap()
}

fn follows(mobility: &mut Mobility, way: &[(f64, f64, f64)]) {
    for &(second, x, y) in way {
        let place = mobility.position(Time::from_secs_f64(second));
        assert!(place.distance(Position::ground(x, y)) < 1e-6, "{place:?} at {second} s, not ({x}, {y})");
    }
}

#[test]
fn a_setdest_script_is_followed() {
    let mut nodes = read_setdest(SETDEST, 2, &area()).unwrap();
    // 50 m at 5 m/s from second 2; then north at 2 m/s, stopped after 5 s.
    follows(
        &mut nodes[0],
        &[
            (0.0, 10.0, 20.0),
            (2.0, 10.0, 20.0),
            (7.0, 30.0, 35.0),
            (12.0, 50.0, 50.0),
            (30.0, 50.0, 50.0),
            (33.0, 50.0, 56.0),
            (35.0, 50.0, 60.0),
            (900.0, 50.0, 60.0),
        ],
    );
    // Half way at second 11 it is sent elsewhere: 50 sqrt(2) m at 5 sqrt(2) m/s, southeast no longer.
    follows(
        &mut nodes[1],
        &[(6.0, 50.0, 50.0), (11.0, 100.0, 50.0), (12.0, 100.0, 50.0 - 7.071_067_811_865_475_5), (20.0, 100.0, 0.0)],
    );
}

#[test]
fn a_script_leads_where_it_leads_in_ns2() {
    let data =
        |name: &str| std::fs::read_to_string(format!("{}/tests/data/{name}", env!("CARGO_MANIFEST_DIR"))).unwrap();
    let mut nodes = read_setdest(&data("setdest.tcl"), 3, &area()).unwrap();
    let mut compared = 0;
    for line in data("setdest-positions.csv").lines().skip(1) {
        let fields: Vec<f64> = line.split(',').map(|field| field.parse().unwrap()).collect();
        let [time_s, node, x, y] = fields[..] else { panic!("{line}") };
        follows(&mut nodes[node as usize], &[(time_s, x, y)]);
        compared += 1;
    }
    assert_eq!(compared, 108);
}

#[test]
fn bonnmotion_waypoints_are_followed() {
    let text = "# two nodes\n0.0 10 20 4.0 10 20 14 60 20\n3 1 1 5 5 4\n";
    let mut nodes = read_bonnmotion(text, 2, &area()).unwrap();
    follows(
        &mut nodes[0],
        &[(0.0, 10.0, 20.0), (4.0, 10.0, 20.0), (9.0, 35.0, 20.0), (14.0, 60.0, 20.0), (99.0, 60.0, 20.0)],
    );
    follows(&mut nodes[1], &[(0.0, 1.0, 1.0), (3.0, 1.0, 1.0), (4.0, 3.0, 2.5), (5.0, 5.0, 4.0), (6.0, 5.0, 4.0)]);
}

#[test]
fn what_is_wrong_with_a_script_is_told_with_its_line() {
    let wrong = |line: &str| {
        let error = read_setdest(&format!("{SETDEST}{line}\n"), 2, &area()).unwrap_err();
        assert!(error.to_string().starts_with(&format!("line {}: ", error.line)));
        assert_eq!(error.line, SETDEST.lines().count() + 1, "{error}");
        error.problem
    };
    assert_eq!(wrong("$node_(2) set X_ 5"), TraceProblem::UnknownNode { node: 2, nodes: 2 });
    assert_eq!(
        wrong("$ns_ at 40 \"$node_(99999999999) setdest 1 1 1\""),
        TraceProblem::UnknownNode { node: 99_999_999_999, nodes: 2 }
    );
    assert_eq!(
        wrong("$ns_ at 34.5 \"$node_(0) setdest 1 1 1\""),
        TraceProblem::RunsBack { what: "a command", node: 0, time_s: 34.5, before_s: 35.0 }
    );
    assert!(matches!(wrong("$ns_ at 40 \"$node_(0) setdest 200.1 1 1\""), TraceProblem::Outside { node: 0, .. }));
    assert!(matches!(wrong("$node_(0) set Y_ -3"), TraceProblem::Outside { node: 0, .. }));
    assert_eq!(wrong("$ns_ at 40 \"$node_(0) setdest 1 1 -1\""), TraceProblem::Speed(-1.0));
    assert_eq!(wrong("$ns_ at -1 \"$node_(0) setdest 1 1 1\""), TraceProblem::Time(-1.0));
    assert_eq!(wrong("$ns_ at 1e300 \"$node_(0) setdest 1 1 1\""), TraceProblem::Time(1e300));
    assert_eq!(wrong("$ns_ at soon \"$node_(0) setdest 1 1 1\""), TraceProblem::Number("soon".into()));
    assert_eq!(wrong("$ns_ at 50 \"$node_(0) setdest nan 1 1\""), TraceProblem::Number("nan".into()));
    assert!(matches!(wrong("$ns_ at 50 \"$node_(0) explode\""), TraceProblem::Unknown(_)));
    assert!(matches!(wrong("set opt(x) 5"), TraceProblem::Unknown(_)));
    assert!(wrong("0 1 1 5 2 2").to_string().contains("in a file that ends in `.movements`, BonnMotion's"));
    assert!(wrong("<?xml version=\"1.0\"?>").to_string().contains("SUMO's"));
    assert_eq!(read_setdest(SETDEST, 3, &area()).unwrap_err().problem, TraceProblem::NoPlace(2));
    assert_eq!(read_setdest("", 1, &area()).unwrap_err().problem, TraceProblem::NoPlace(0));
}

#[test]
fn what_is_wrong_with_waypoints_is_told_with_its_line() {
    let wrong = |second: &str| {
        let error = read_bonnmotion(&format!("0 1 1 5 2 2\n{second}\n"), 2, &area()).unwrap_err();
        assert_eq!(error.line, 2, "{error}");
        error.problem
    };
    assert_eq!(
        wrong("0 1 1 5 2 2 4 3 3"),
        TraceProblem::RunsBack { what: "a waypoint", node: 1, time_s: 4.0, before_s: 5.0 }
    );
    assert_eq!(wrong("0 1 1 5 2"), TraceProblem::Triples(5));
    assert!(matches!(wrong("0 1 1 5 2 200"), TraceProblem::Outside { node: 1, .. }));
    assert!(matches!(wrong("0 1 1 5 2 2 5 3 3"), TraceProblem::Jump { node: 1, .. }));
    assert_eq!(wrong("-4 1 1"), TraceProblem::Time(-4.0));
    assert_eq!(wrong("0 one 1"), TraceProblem::Number("one".into()));
    let more = read_bonnmotion("0 1 1\n0 1 1\n0 1 1\n", 2, &area()).unwrap_err();
    assert_eq!((more.line, more.problem), (3, TraceProblem::UnknownNode { node: 2, nodes: 2 }));
    assert_eq!(read_bonnmotion("0 1 1\n", 2, &area()).unwrap_err().problem, TraceProblem::NoPlace(1));
}

/// Three of the six places are outside of 200 m x 100 m: two beyond its width, one below its foot.
#[test]
fn places_outside_of_the_area_are_counted_and_their_extent_is_told() {
    let script = "$node_(0) set X_ 10\n$node_(0) set Y_ 20\n$ns_ at 1 \"$node_(0) setdest 250 30 5\"\n\
                  $ns_ at 99 \"$node_(0) setdest 260.5 90 5\"\n$node_(1) set X_ 0\n$node_(1) set Y_ -4\n\
                  $ns_ at 9 \"$node_(1) setdest 3 3 5\"\n$ns_ at 99 \"$node_(1) setdest 4 4 5\"\n";
    let waypoints = "# in the same order\n0 10 20 50 250 30 99 260.5 90\n0 0 -4 9 3 3 99 4 4\n";
    let whole = "node 0 is sent to (250, 30) m, outside the area of 200 m x 100 m, which leaves out 3 of the \
                 file's 6 places: x is from 0 to 260.5 m, y from -4 to 90 m";
    let said = |error: wifi::mobility::TraceError| error.to_string();
    assert_eq!(said(read_setdest(script, 2, &area()).unwrap_err()), format!("line 3: {whole}"));
    assert_eq!(said(read_bonnmotion(waypoints, 2, &area()).unwrap_err()), format!("line 2: {whole}"));
}

/// Whatever was read can be followed to the end, within the area.
fn walk(nodes: Vec<Mobility>) {
    for mut node in nodes {
        for exponent in 0..19 {
            let leg = node.leg(Time::from_ps(10_u64.pow(exponent)));
            let place = node.position(Time::from_ps(10_u64.pow(exponent)));
            assert!(leg.until > Time::from_ps(10_u64.pow(exponent)));
            assert!((-1e-3..=200.001).contains(&place.x) && (-1e-3..=100.001).contains(&place.y), "{place:?}");
        }
    }
}

/// Numbers as they stand in files, and as they should not.
fn token() -> impl Strategy<Value = String> {
    prop_oneof![
        (0.0..250.0).prop_map(|value: f64| format!("{value}")),
        (0..200_u32).prop_map(|value| format!("{value}")),
        Just("1e-300".into()),
        Just("1e18".into()),
        Just("-0".into()),
        Just("\"".into()),
        "[ -~]{0,6}",
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn no_text_makes_a_reader_panic(text in "(\\PC|\n){0,200}") {
        let _ = read_setdest(&text, 3, &area()).map(walk);
        let _ = read_bonnmotion(&text, 3, &area()).map(walk);
    }

    #[test]
    fn scripts_with_odd_numbers_are_refused_or_followed(
        lines in prop::collection::vec((0..4_u32, token(), token(), token(), token()), 0..12)
    ) {
        let mut text = String::from("$node_(0) set X_ 1\n$node_(0) set Y_ 1\n$node_(1) set X_ 2\n$node_(1) set Y_ 2\n");
        for (node, time, x, y, speed) in lines {
            writeln!(text, "$ns_ at {time} \"$node_({node}) setdest {x} {y} {speed}\"").unwrap();
        }
        let _ = read_setdest(&text, 2, &area()).map(walk);
    }

    #[test]
    fn ordered_scripts_are_followed(commands in prop::collection::vec((0.0..50.0, 0..2, 0.0..200.0, 0.0..100.0, prop_oneof![Just(0.0), Just(1e-300), Just(1e300), 0.1..30.0]), 0..20)) {
        let mut commands: Vec<(f64, i32, f64, f64, f64)> = commands;
        commands.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut text = String::from("$node_(0) set X_ 1\n$node_(0) set Y_ 1\n$node_(1) set X_ 2\n$node_(1) set Y_ 2\n");
        for (time, node, x, y, speed) in &commands {
            writeln!(text, "$ns_ at {time} \"$node_({node}) setdest {x} {y} {speed}\"").unwrap();
        }
        walk(read_setdest(&text, 2, &area()).unwrap());
    }

    #[test]
    fn waypoints_with_odd_numbers_are_refused_or_followed(words in prop::collection::vec(token(), 0..15)) {
        let _ = read_bonnmotion(&format!("{}\n0 1 1", words.join(" ")), 2, &area()).map(walk);
    }
}
