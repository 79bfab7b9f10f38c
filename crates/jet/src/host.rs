//! What a gateway needs of its process.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::io;
use tokio::runtime::{Builder, Runtime};

/// The runtime of a gateway. Raises the process's limit of descriptors: each connection takes one.
pub fn runtime() -> io::Result<Runtime> {
    raise_descriptors();
    Builder::new_multi_thread().enable_all().build()
}

/// Raises the limit of descriptors to the hard limit.
pub fn raise_descriptors() {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    if current != maximum {
        // If that is refused, the present limit has to do: a gateway logs when it runs out.
        let _ = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum });
    }
}

/// How many descriptors the process may have.
pub(crate) fn descriptors() -> usize {
    getrlimit(Resource::Nofile).current.map_or(usize::MAX, |most| most as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_of_descriptors_is_raised() {
        let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
        setrlimit(Resource::Nofile, Rlimit { current: Some(512), maximum }).expect("lower than before");
        raise_descriptors();
        assert_eq!(getrlimit(Resource::Nofile).current, maximum);
    }
}
