//! How good advice is, printed as the tables of `docs/models/advise.md`:
//! `cargo run --release -p advise --example study [regret | ranking | levels] [SCENARIO]`.
//!
//! - `regret`: what is advised beside the best of all sets of one and of two remedies, found by trying all.
//! - `ranking`: the order of remedies by flow level and by estimate beside that by packets.
//! - `levels`: the times of the scenarios that ship, by packets and at flow level.

mod levels;
mod ranking;
mod regret;
mod runs_of;

const PARTS: [&str; 3] = ["levels", "ranking", "regret"];

fn main() {
    let mut words = std::env::args().skip(1);
    let (part, only) = (words.next(), words.next());
    if let Some(part) = part.as_deref().filter(|part| !PARTS.contains(part)) {
        eprintln!("there is no part `{part}`: {}", PARTS.join(", "));
        std::process::exit(2);
    }
    let is = |name: &str| part.as_deref().is_none_or(|part| part == name);
    if is("levels") {
        levels::print(only.as_deref());
    }
    if is("ranking") {
        ranking::print(only.as_deref());
    }
    if is("regret") {
        regret::print(only.as_deref());
    }
}
