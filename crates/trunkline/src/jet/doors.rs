//! The doors of `trunkline jet gateway`.

use crate::failure::Failure;
use clap::ValueHint;
use ipnet::IpNet;
use jet::door::{Door, DoorError, Forward, ForwardUdp, Front, Preload, Redirection, Socks5, preload};
use jet::handover::Inherited;
use jet::log::Log;
use jet::near::Near;
use std::fs;
use std::path::PathBuf;

/// How programs' connections come to the gateway; docs/reference/jet.md says what each door is for.
#[derive(Debug, clap::Args)]
pub struct DoorArgs {
    /// A port here that stands for a destination there; any number
    #[arg(long, value_name = "[ADDRESS:]PORT=HOST:PORT")]
    pub forward: Vec<Forward>,
    /// A port here for datagrams (UDP) that stands for a destination there; any number
    #[arg(long, value_name = "[ADDRESS:]PORT=HOST:PORT", requires = "udp")]
    pub forward_udp: Vec<Forward>,
    /// A SOCKS5 proxy, on loopback unless it has users
    #[arg(long, value_name = "[ADDRESS:]PORT")]
    pub socks5: Option<String>,
    /// Who may use it: a file with NAME:PASSWORD in each line
    #[arg(long, value_name = "FILE", requires = "socks5", value_hint = ValueHint::FilePath)]
    pub socks5_users: Option<PathBuf>,
    /// The Unix socket for `trunkline jet run` [default: trunkline/jet-run.sock in `/run` or `$XDG_RUNTIME_DIR`]
    #[arg(long, value_name = "SOCKET", value_hint = ValueHint::FilePath)]
    pub run_socket: Option<PathBuf>,
    /// What the kernel redirects: local, run, cgroup:PATH, netns:NAME, interface:NAME or, with --udp for datagrams too,
    /// tproxy:NAME; to which networks
    #[arg(long, value_name = "FROM=NETWORK[,NETWORK...]")]
    pub redirect: Vec<Redirection>,
    /// Rather refuse than go directly: what is redirected is refused while no gateway takes it, also after a SIGKILL;
    /// told to end, the gateway removes these rules
    #[arg(long, requires = "redirect")]
    pub strict: bool,
    /// A network to which programs go directly, by redirections and `jet run`
    #[arg(long, value_name = "NETWORK")]
    pub direct: Vec<IpNet>,
}

impl DoorArgs {
    /// Opens them all; they are closed when what this returns is dropped.
    pub async fn open(&self, near: &Near, log: &Log, inherited: &Inherited) -> Result<Vec<Door>, Failure> {
        let mut open = Vec::new();
        for front in self.fronts(near)? {
            let door = front.open(near.doors(), log, inherited).await.map_err(|error| failure(&error))?;
            open.push(door);
        }
        Ok(open)
    }

    fn fronts(&self, near: &Near) -> Result<Vec<Front>, Failure> {
        let (flows, bypass) = (near.flows(), near.reached());
        let flows = flows.as_ref();
        let mut fronts: Vec<_> = self.forward.iter().cloned().map(Front::Forward).collect();
        if let Some(flows) = flows {
            let forwards = self.forward_udp.iter().cloned();
            fronts.extend(forwards.map(|forward| Front::ForwardUdp(ForwardUdp { forward, flows: flows.clone() })));
        }
        if let Some(listen) = &self.socks5 {
            let socks5: Socks5 = listen.parse().map_err(Failure::Input)?;
            let users = self.socks5_users.as_ref().map(|file| {
                let text = fs::read_to_string(file).map_err(|error| Failure::reading(file, &error))?;
                text.parse().map_err(|error| Failure::Input(format!("{}: {error}", file.display())))
            });
            fronts.push(Front::Socks5(Socks5 { users: users.transpose()?, flows: flows.cloned(), ..socks5 }));
        }
        if let Some(socket) = self.run_socket.clone().or_else(preload::default_socket) {
            fronts.push(Front::Preload(Preload { socket, direct: self.direct.clone() }));
        }
        for redirection in &self.redirect {
            let (direct, flows, bypass) = (self.direct.clone(), flows.cloned(), bypass.clone());
            let told = Redirection { direct, flows, bypass, strict: self.strict, ..redirection.clone() };
            fronts.push(Front::Redirection(told));
        }
        Ok(fronts)
    }
}

fn failure(error: &DoorError) -> Failure {
    match error {
        DoorError::Capability { .. } => Failure::Missing(error.to_string()),
        _ => Failure::Input(error.to_string()),
    }
}
