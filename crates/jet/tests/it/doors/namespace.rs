//! Network namespaces of a test's own: nothing of it is left when it ends, whichever way.

use std::fs::File;
use std::future::Future;
use std::os::fd::AsFd;
use std::process::{Command, Output, Stdio};
use std::time::Duration;
use std::{env, fs, thread};

use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};

/// Tells a process which test it is to be the inside of.
pub const INSIDE: &str = "TRUNKLINE_TEST_INSIDE";
/// Exit status of a process whose body has run to its end. A process that found no test of its name exits with 0.
const DONE: i32 = 77;
/// The longest that a test may take.
const LIMIT: Duration = Duration::from_secs(100);

/// Runs a test's body as a process with network, mount and process namespaces of its own, which end with it.
pub fn inside<F: Future<Output = ()>>(test: &str, body: impl FnOnce() -> F) {
    if env::var_os(INSIDE).is_some_and(|name| name == test) {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        runtime.block_on(body());
        drop(runtime);
        std::process::exit(DONE);
    }
    let mut unshare = Command::new("unshare");
    unshare.args(["--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"]);
    if !rustix::process::geteuid().is_root() {
        unshare.arg("--map-root-user");
    }
    let prepared = "mount -t tmpfs tmpfs /run && ip link set lo up && exec \"$0\" \"$@\"";
    unshare.args(["sh", "-c", prepared]).arg(env::current_exe().unwrap()).args(["--exact", test, "--nocapture"]);
    // A proxy or a ~/.curlrc of the user's would take programs elsewhere.
    let mut child = unshare
        .env_clear()
        .envs(env::var_os("PATH").map(|path| ("PATH", path)))
        .env(INSIDE, test)
        .env("CACHE_DIRECTORY", "/run/cache")
        .stdin(Stdio::null())
        .spawn()
        .expect("unshare (Debian: util-linux) runs");
    for _ in 0..LIMIT.as_millis() / 20 {
        if let Some(status) = child.try_wait().unwrap() {
            let why = "failed in its namespace, has another name, or there is no namespace for it here";
            assert_eq!(status.code(), Some(DONE), "{test} {why}");
            return;
        }
        thread::sleep(Duration::from_millis(20));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    panic!("{test} took more than {LIMIT:?}");
}

/// Runs a command that has to succeed, and gives what it prints.
pub fn run(command: &str) -> String {
    let mut words = command.split_whitespace();
    let output = Command::new(words.next().unwrap()).args(words).output().unwrap();
    assert!(output.status.success(), "{command}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// Runs a program to its end, off the runtime's threads.
pub async fn finish(mut command: Command) -> Output {
    tokio::task::spawn_blocking(move || command.stdin(Stdio::null()).output().unwrap()).await.unwrap()
}

/// Gives this namespace an address that is not a loopback one.
pub fn own_address(address: &str) {
    // Nobody else is there who could have the same: no need to look for them.
    let sure = if address.contains(':') { " nodad" } else { "" };
    run(&format!("ip addr add {address} dev lo{sure}"));
}

/// A namespace beside this one, joined to it: with number 1, by 10.1.0.1 and 2001:db8:1::1 here, 10.1.0.2 and
/// 2001:db8:1::2 there.
pub fn neighbour(name: &str, number: u8) {
    run(&format!("ip netns add {name}"));
    run(&format!("ip link add to-{name} type veth peer name uplink netns {name}"));
    for (prefix, device, end) in
        [(String::new(), format!("to-{name}"), 1), (format!("-n {name} "), "uplink".to_owned(), 2)]
    {
        run(&format!("ip {prefix}addr add 10.{number}.0.{end}/24 dev {device}"));
        run(&format!("ip {prefix}addr add 2001:db8:{number}::{end}/64 dev {device} nodad"));
        run(&format!("ip {prefix}link set {device} up"));
        run(&format!("ip {prefix}link set lo up"));
    }
    run(&format!("ip -n {name} route add default via 10.{number}.0.1"));
    run(&format!("ip -n {name} -6 route add default via 2001:db8:{number}::1"));
}

/// Does something in a neighbour, such as opening sockets: these stay there.
pub fn enter<T: Send + 'static>(name: &str, act: impl FnOnce() -> T + Send + 'static) -> T {
    let namespace = File::open(format!("/run/netns/{name}")).unwrap();
    let entered = thread::spawn(move || {
        move_into_link_name_space(namespace.as_fd(), Some(LinkNameSpaceType::Network)).unwrap();
        act()
    });
    entered.join().unwrap()
}

/// A command to be run in a neighbour.
pub fn command_in(name: &str, program: &str) -> Command {
    let mut command = Command::new("nsenter");
    command.arg(format!("--net=/run/netns/{name}")).arg(program);
    command
}

/// Allows packets to be forwarded between neighbours.
pub fn forward_packets() {
    fs::write("/proc/sys/net/ipv4/ip_forward", "1").unwrap();
    fs::write("/proc/sys/net/ipv6/conf/all/forwarding", "1").unwrap();
}
