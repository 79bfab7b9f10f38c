//! Values of Spark's properties: times and sizes with the units that `JavaUtils` knows.

use units::{Bytes, Time};

/// A time such as `3s`, `500ms` or `2min`; a bare number counts in milliseconds (`timeStringAsMs`).
pub fn time(text: &str) -> Option<Time> {
    let (number, unit) = split(text)?;
    let ms = match unit.as_str() {
        "" | "ms" => 1.0,
        "us" => 1e-3,
        "s" => 1e3,
        "m" | "min" => 6e4,
        "h" => 3.6e6,
        "d" => 8.64e7,
        _ => return None,
    };
    Some(Time::from_secs_f64((number * ms / 1e3).clamp(0.0, 604_800.0)))
}

/// A time such as `3s`, where a bare number counts in seconds (`timeStringAsSeconds`).
pub fn time_of_seconds(text: &str) -> Option<Time> {
    text.trim().parse::<u64>().map_or_else(|_| time(text), |seconds| Some(Time::from_secs(seconds.min(604_800))))
}

/// A size such as `48m` or `1g`, in powers of 1,024; a bare number counts in `bare` bytes, as its property has it.
pub fn size(text: &str, bare: u64) -> Option<Bytes> {
    let (number, unit) = split(text)?;
    let bytes = match unit.as_str() {
        "" => bare as f64,
        "b" => 1.0,
        "k" | "kb" | "kib" => 1024.0,
        "m" | "mb" | "mib" => 1_048_576.0,
        "g" | "gb" | "gib" => 1_073_741_824.0,
        "t" | "tb" | "tib" => 1_099_511_627_776.0,
        _ => return None,
    };
    Some(Bytes::new((number * bytes) as u64))
}

fn split(text: &str) -> Option<(f64, String)> {
    let text = text.trim().to_ascii_lowercase();
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    Some((number.parse().ok()?, unit.trim().to_owned()))
}
