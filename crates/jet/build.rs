//! Builds the library that `jet run` preloads into programs (`shim/connect.c`).

use std::env;
use std::path::Path;

fn main() {
    println!("cargo::rerun-if-changed=shim/connect.c");
    let folder = env::var("OUT_DIR").expect("cargo sets OUT_DIR");
    let compiler = cc::Build::new().opt_level(2).pic(true).debug(false).get_compiler();
    let status = compiler
        .to_command()
        .args(["-std=gnu11", "-shared", "-fvisibility=hidden", "-fno-stack-protector", "-D_DEFAULT_SOURCE"])
        // No library is named: the calls find that of the program, whichever C library it has.
        .args(["-nostdlib", "-Wl,-z,relro,-z,now,-soname,trunkline-connect.so"])
        .arg("shim/connect.c")
        .arg("-o")
        .arg(Path::new(&folder).join("connect.so"))
        .status();
    match status {
        Ok(status) if status.success() => {}
        Ok(status) => panic!("the C compiler ({}) ended with {status}", compiler.path().display()),
        Err(error) => panic!("no C compiler ({}): {error}", compiler.path().display()),
    }
}
