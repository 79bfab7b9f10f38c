//! Fractions as text.

/// Parses a probability or fraction: `0.001` or `0.1 %`.
pub fn share(text: &str) -> Result<f64, String> {
    let (number, scale) = match text.trim().strip_suffix('%') {
        Some(number) => (number.trim_end(), 100.0),
        None => (text.trim(), 1.0),
    };
    let value = number.parse::<f64>().map(|value| value / scale);
    match value {
        Ok(value) if (0.0..=1.0).contains(&value) => Ok(value),
        _ => Err(format!("`{text}` is not a share: it is written like \"0.1 %\" or 0.001, from 0 to 100 %")),
    }
}
