//! Disks that serve requests.
