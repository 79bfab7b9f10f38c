//! Disks and caches of the documented clusters. Where a document names only the model, the figures are from its data
//! sheet; each says which.

use crate::cache::CacheSpec;
use crate::disk::DiskSpec;
use crate::flash::FlashSpec;
use crate::rotating::RotatingSpec;
use units::{BitRate, Bytes, Time};

const fn mb_per_s(mb: u64) -> BitRate {
    BitRate::from_bps(mb * 8_000_000)
}

impl DiskSpec {
    /// The names that [`DiskSpec::preset`] knows.
    pub const PRESETS: [&str; 7] =
        ["st3160318as", "sata-500", "f40a", "sas-10k", "nexus7-flash", "virtual-disk", "nvme"];

    /// A disk by name.
    pub fn preset(name: &str) -> Option<Self> {
        Some(match name {
            "st3160318as" => Self::st3160318as(),
            "sata-500" => Self::sata_500(),
            "f40a" => Self::f40a(),
            "sas-10k" => Self::sas_10k(),
            "nexus7-flash" => Self::nexus7_flash(),
            "virtual-disk" => Self::virtual_disk(),
            "nvme" => Self::nvme(),
            _ => return None,
        })
    }
    /// Seagate Barracuda 7200.12, 160 GB, of the nodes in Yang 2012, table 3.2. The access time of 11 ms is that
    /// document's table 2.1; without half a revolution at 7,200 rpm 6.8 ms of seek remain. The media rate is the
    /// average over the surface, 100 MB/s (data sheet: 125 MB/s sustained at the outer edge).
    pub const fn st3160318as() -> Self {
        Self::Rotating(RotatingSpec::new(Time::from_us(6_833), 7_200, mb_per_s(100), mb_per_s(95)))
    }
    /// The 500 GB SATA disk of the data nodes in Yang 2012's energy experiments: the same family, two heads.
    pub const fn sata_500() -> Self {
        Self::Rotating(RotatingSpec::new(Time::from_us(6_833), 7_200, mb_per_s(105), mb_per_s(100)))
    }
    /// Corsair Force F40A of node types V to VII in Yang 2012, table 2.2. The access time of 0.11 ms is that document's
    /// table 2.1. The rates are the data sheet's 280 MB/s read and 270 MB/s write. 16 channels.
    pub const fn f40a() -> Self {
        Self::Flash(FlashSpec {
            read_latency: Time::from_us(110),
            write_latency: Time::from_us(110),
            read_rate: mb_per_s(280),
            write_rate: mb_per_s(270),
            channels: 16,
        })
    }
    /// A 10,000 rpm SAS disk as a `ProLiant` DL385 G6 carried it (Rista 2017 names the server, not the disk): 3.8 ms
    /// seek, 130 MB/s.
    pub const fn sas_10k() -> Self {
        Self::Rotating(RotatingSpec::new(Time::from_us(3_800), 10_000, mb_per_s(130), mb_per_s(125)))
    }
    /// The NAND flash of a Google Nexus 7 of 2012 (Lee 2014, table 3.2 names the size only): an eMMC 4.41 part, 25 MB/s
    /// read and 8 MB/s write by public benchmarks of the tablet.
    pub const fn nexus7_flash() -> Self {
        Self::Flash(FlashSpec {
            read_latency: Time::from_us(300),
            write_latency: Time::from_ms(2),
            read_rate: mb_per_s(25),
            write_rate: mb_per_s(8),
            channels: 1,
        })
    }
    /// A virtual machine's disk on a cloud host's flash: the latency of a block device over the hypervisor, 200 MB/s
    /// both ways.
    pub const fn virtual_disk() -> Self {
        Self::Flash(FlashSpec {
            read_latency: Time::from_us(500),
            write_latency: Time::from_us(500),
            read_rate: mb_per_s(200),
            write_rate: mb_per_s(200),
            channels: 32,
        })
    }
    /// A datacentre NVMe disk: 90 us, 3,000 MB/s read, 1,500 MB/s write.
    pub const fn nvme() -> Self {
        Self::Flash(FlashSpec {
            read_latency: Time::from_us(90),
            write_latency: Time::from_us(20),
            read_rate: mb_per_s(3_000),
            write_rate: mb_per_s(1_500),
            channels: 64,
        })
    }
}

impl CacheSpec {
    /// Linux's page cache on `memory` that is free for it. Dirty pages block writers at 20 % (`vm.dirty_ratio`). They
    /// are written back from 10 % (`vm.dirty_background_ratio`) or an age of 30 s (`vm.dirty_expire_centisecs`). Copies
    /// go at 2 GB/s.
    pub fn linux(memory: Bytes) -> Self {
        Self {
            capacity: memory,
            dirty_limit: memory / 5,
            background: memory / 10,
            expire: Time::from_secs(30),
            copy_rate: mb_per_s(2_000),
        }
    }
    /// No cache: each request goes to the disk.
    pub const fn none() -> Self {
        Self {
            capacity: Bytes::ZERO,
            dirty_limit: Bytes::ZERO,
            background: Bytes::ZERO,
            expire: Time::ZERO,
            copy_rate: mb_per_s(2_000),
        }
    }
}
