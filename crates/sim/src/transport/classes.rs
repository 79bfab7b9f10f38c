//! Which class a connection's packets are of, for queues with classes.

use super::Owner;
use crate::cluster::service_name;
use crate::traffic::FIRST_PORT;

/// Services in order of precedence; those not among them come last together.
#[derive(Clone, Debug)]
pub(crate) struct Classes {
    services: Vec<String>,
    /// The names of plain traffic, by its number.
    traffic: Vec<String>,
}

impl Classes {
    pub fn new(services: Vec<String>, traffic: Vec<String>) -> Self {
        Self { services, traffic }
    }
    /// The class of a connection by its owner and the port at which it is accepted.
    pub fn of(&self, owner: Owner, port: u16) -> u8 {
        let name = match owner {
            Owner::Cluster => service_name(port),
            Owner::Traffic => self.traffic.get(usize::from(port.wrapping_sub(FIRST_PORT))).map_or("", String::as_str),
        };
        let class = self.services.iter().position(|service| service == name).unwrap_or(self.services.len());
        u8::try_from(class).unwrap_or(u8::MAX)
    }
}
