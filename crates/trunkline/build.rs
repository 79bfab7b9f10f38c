//! Adds to a program that is linked statically with glibc how it looks up names (`static/names.c`).

use std::env;

fn main() {
    println!("cargo::rerun-if-changed=static/names.c");
    let has = |variable, word| env::var(variable).is_ok_and(|words| words.split(',').any(|one| one == word));
    if has("CARGO_CFG_TARGET_FEATURE", "crt-static") && has("CARGO_CFG_TARGET_ENV", "gnu") {
        let mut compiler = cc::Build::new();
        compiler.opt_level(2).pic(true).debug(false).file("static/names.c");
        // As an object: of a library, nobody would ask for its constructor.
        for object in compiler.compile_intermediates() {
            println!("cargo::rustc-link-arg-bins={}", object.display());
        }
    }
}
