//! The PHY of a wireless scenario.

use scenario::{ChannelWidth, Wifi, WifiStandard};
use wifi::phy::{Code, Guard, Mode, Preamble, Settings, Standard, Width};

/// The PHY as the standard knows it.
pub(super) fn settings(wifi: &Wifi) -> Settings {
    let standard = match wifi.standard {
        WifiStandard::B => Standard::B,
        WifiStandard::A => Standard::A,
        WifiStandard::G => Standard::G,
        WifiStandard::N => Standard::N5,
        WifiStandard::N24 => Standard::N2_4,
    };
    Settings {
        preamble: if wifi.short_preamble { Preamble::Short } else { Preamble::Long },
        streams: units::byte(wifi.streams),
        width: if wifi.width == ChannelWidth::Mhz40 { Width::Mhz40 } else { Width::Mhz20 },
        guard: if wifi.short_guard { Guard::Short } else { Guard::Long },
        code: if wifi.ldpc { Code::Ldpc } else { Code::Convolutional },
        ..Settings::new(standard)
    }
}

/// The PHY mode of `rate`, with the fewest streams that have it, or the fastest where it is left out; none where the
/// standard has no such rate.
pub(super) fn mode(wifi: &Wifi) -> Option<Mode> {
    let settings = settings(wifi);
    match wifi.rate {
        Some(rate) => settings.modes().find(|mode| mode.rate() == rate),
        None => settings.modes().max_by_key(|mode| mode.rate()),
    }
}
