//! Disks and caches of the documented clusters. Where a document names only the model, the figures are from its data
//! sheet; each says which.

use crate::cache::CacheSpec;
use crate::disk::DiskSpec;
use crate::flash::{Cells, FlashSpec};
use crate::mechanics::{MediaRate, SeekCurve};
use crate::rotating::{DiskScheduler, Layout, RotatingSpec};
use units::{BitRate, Bytes, Time};

const fn mb_per_s(mb: u64) -> BitRate {
    BitRate::from_bps(mb * 8_000_000)
}

/// Zones of Hitachi's Deskstar 7K500 (specification, table 11: 16 MiB in 0.29 s in zone 0, in 0.59 s in zone 29) fall
/// to
/// 0.49 of the outermost rate; other data sheets give the outermost only.
const fn zoned(outer: u64) -> MediaRate {
    MediaRate { outer: mb_per_s(outer), inner: BitRate::from_bps(outer * 8_000_000 * 49 / 100) }
}

const fn ms(track: u64, average: u64, full: u64) -> SeekCurve {
    SeekCurve { track: Time::from_us(track), average: Time::from_us(average), full: Time::from_us(full) }
}

impl DiskSpec {
    /// The names that [`DiskSpec::preset`] knows.
    pub const PRESETS: [&str; 10] = [
        "st3160318as",
        "sata-500",
        "f40a",
        "sas-10k",
        "nexus7-flash",
        "virtual-disk",
        "exos-x16",
        "ultrastar-hc570",
        "micron-5300",
        "nvme",
    ];

    /// A disk by name.
    pub fn preset(name: &str) -> Option<Self> {
        Some(match name {
            "st3160318as" => Self::st3160318as(),
            "sata-500" => Self::sata_500(),
            "f40a" => Self::f40a(),
            "sas-10k" => Self::sas_10k(),
            "nexus7-flash" => Self::nexus7_flash(),
            "virtual-disk" => Self::virtual_disk(),
            "exos-x16" => Self::exos_x16(),
            "ultrastar-hc570" => Self::ultrastar_hc570(),
            "micron-5300" => Self::micron_5300(),
            "nvme" => Self::nvme(),
            _ => return None,
        })
    }
    /// Seagate Barracuda 7200.12, 160 GB, of the nodes in Yang 2012, table 3.2. The access time of 11 ms is that
    /// document's table 2.1; without half a revolution at 7,200 rpm 6.8 ms of seek remain. Data sheet: 125 MB/s
    /// sustained at the outer edge, 8 MB of memory, less than 1 ms to the next track. From edge to edge twice the
    /// average, as other disks of the time have it.
    pub const fn st3160318as() -> Self {
        Self::Rotating(RotatingSpec {
            capacity: Bytes::from_mb(160_000),
            seek: ms(1_000, 6_833, 13_666),
            revolution: RotatingSpec::revolution(7_200),
            overhead: Time::ZERO,
            read: zoned(125),
            write: zoned(125),
            interface: mb_per_s(300),
            read_ahead: Bytes::from_mib(4),
            write_back: Bytes::from_mib(4),
            scheduler: DiskScheduler::CFQ,
            layout: Layout::InPlace,
        })
    }
    /// The 500 GB SATA disk of the data nodes in Yang 2012's energy experiments: the same family, two heads, 16 MB of
    /// memory.
    pub const fn sata_500() -> Self {
        Self::Rotating(RotatingSpec {
            capacity: Bytes::from_mb(500_000),
            seek: ms(1_000, 6_833, 13_666),
            revolution: RotatingSpec::revolution(7_200),
            overhead: Time::ZERO,
            read: zoned(125),
            write: zoned(125),
            interface: mb_per_s(300),
            read_ahead: Bytes::from_mib(8),
            write_back: Bytes::from_mib(8),
            scheduler: DiskScheduler::CFQ,
            layout: Layout::InPlace,
        })
    }
    /// Corsair Force F40A of node types V to VII in Yang 2012, table 2.2. The access time of 0.11 ms is that document's
    /// table 2.1. The rates are the data sheet's 280 MB/s read and 270 MB/s write. 16 channels. Twelve chips of 4 GiB
    /// for 40 GB (Legit Reviews, 2010) in blocks of 1 MiB.
    pub const fn f40a() -> Self {
        Self::Flash(FlashSpec {
            read_latency: Time::from_us(110),
            write_latency: Time::from_us(110),
            read_rate: mb_per_s(280),
            write_rate: mb_per_s(270),
            channels: 16,
            cells: cells(40, 48),
        })
    }
    /// A 10,000 rpm SAS disk as a `ProLiant` DL385 G6 carried it (Rista 2017 names the server, not the disk): 3.8 ms
    /// seek, 130 MB/s on average.
    pub const fn sas_10k() -> Self {
        Self::Rotating(RotatingSpec {
            capacity: Bytes::from_mb(300_000),
            seek: ms(300, 3_800, 7_600),
            revolution: RotatingSpec::revolution(10_000),
            overhead: Time::ZERO,
            read: zoned(174),
            write: zoned(174),
            interface: mb_per_s(600),
            read_ahead: Bytes::from_mib(8),
            write_back: Bytes::ZERO,
            scheduler: DiskScheduler::CFQ,
            layout: Layout::InPlace,
        })
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
            cells: Cells::UNKNOWN,
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
            cells: Cells::UNKNOWN,
        })
    }
    /// Seagate Exos X16, 16 TB (data sheet DS2011): 261 MB/s at the outer edge, 256 MB of memory, 4.16 ms of latency;
    /// 170 random reads of 4 KB a second at a queue of 16, which the seek times are not fitted to. These are those of
    /// Western Digital's Ultrastar DC HC310 (OEM specification, 4.5.1: 0.23 ms to the next track, 7.4 ms on average),
    /// as Seagate gives none; from edge to edge twice the average.
    pub const fn exos_x16() -> Self {
        Self::Rotating(RotatingSpec {
            capacity: Bytes::from_mb(16_000_000),
            seek: ms(230, 7_400, 14_800),
            revolution: RotatingSpec::revolution(7_200),
            overhead: Time::ZERO,
            read: zoned(261),
            write: zoned(261),
            interface: mb_per_s(600),
            read_ahead: Bytes::from_mib(8),
            write_back: Bytes::from_mib(64),
            scheduler: DiskScheduler::NCQ,
            layout: Layout::InPlace,
        })
    }
    /// Western Digital Ultrastar DC HC570, 22 TB (product brief): 291 MB/s at the outer edge, 7,200 rpm, 512 MB of
    /// memory. Seek times as [`Self::exos_x16`].
    pub const fn ultrastar_hc570() -> Self {
        Self::Rotating(RotatingSpec {
            capacity: Bytes::from_mb(22_000_000),
            seek: ms(230, 7_400, 14_800),
            revolution: RotatingSpec::revolution(7_200),
            overhead: Time::ZERO,
            read: zoned(291),
            write: zoned(291),
            interface: mb_per_s(600),
            read_ahead: Bytes::from_mib(8),
            write_back: Bytes::from_mib(64),
            scheduler: DiskScheduler::NCQ,
            layout: Layout::InPlace,
        })
    }
    /// Micron 5300 PRO, 960 GB SATA (product brief): 540 MB/s read, 520 MB/s write, 95,000 random reads of 4 KB a
    /// second: twelve at 126 us. 1 TiB of cells.
    pub const fn micron_5300() -> Self {
        Self::Flash(FlashSpec {
            read_latency: Time::from_us(126),
            write_latency: Time::from_us(30),
            read_rate: mb_per_s(540),
            write_rate: mb_per_s(520),
            channels: 12,
            cells: cells(960, 1_024),
        })
    }
    /// Samsung PM9A3, 3.84 TB NVMe (announced figures of the U.2 form, 2020): 6,500 MB/s and 900,000 random reads of 4
    /// KB a second, 3,500 MB/s written: 72 reads at 80 us. 4 TiB of cells.
    pub const fn nvme() -> Self {
        Self::Flash(FlashSpec {
            read_latency: Time::from_us(80),
            write_latency: Time::from_us(20),
            read_rate: mb_per_s(6_500),
            write_rate: mb_per_s(3_500),
            channels: 72,
            cells: cells(3_840, 4_096),
        })
    }
}

/// A disk of so many GB with so many GiB of cells, which it maps in pages of 4 KiB and erases in blocks of 1 MiB (256
/// pages: Intel's 34 nm NAND).
const fn cells(gb: u64, gib: u64) -> Cells {
    Cells {
        capacity: Bytes::new(gb * 1_000_000_000),
        spare: Bytes::new((gib << 30) - gb * 1_000_000_000),
        page: Bytes::new(4 << 10),
        block: Bytes::from_mib(1),
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
