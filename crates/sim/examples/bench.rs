//! Prints the bench rows: `cargo run --release -p sim --example bench [NAME]...`

fn main() {
    let named: Vec<String> = std::env::args().skip(1).collect();
    let names = sim::bench::NAMES
        .into_iter()
        .filter(|name| (named.is_empty() && sim::bench::QUICK.contains(name)) || named.iter().any(|n| n == name));
    for row in names.filter_map(sim::bench::run) {
        println!("{row:#?}");
    }
}
