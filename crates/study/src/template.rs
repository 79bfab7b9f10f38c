//! `{x}` in an assignment: the value of the x axis, or a multiple or part of it.

use super::file::Scalar;

/// Puts a value into an assignment: `{x}` as it stands, `{1000*x}` and `{1000/x}` as numbers. None if a brace holds
/// anything else.
pub fn fill(template: &str, x: &Scalar) -> Option<String> {
    let mut out = String::new();
    let mut rest = template;
    while let Some(open) = rest.find('{') {
        // Braces of an inline table are TOML's: only a brace that closes after one of ours is.
        let close = rest[open..].find('}').map(|close| open + close);
        let inner = close.map(|close| rest[open + 1..close].trim());
        let filled = inner.and_then(|inner| expression(inner, x));
        match (filled, close) {
            (Some(filled), Some(close)) => {
                out.push_str(&rest[..open]);
                out.push_str(&filled);
                rest = &rest[close + 1..];
            }
            (None, _) if inner.is_some_and(|inner| inner.starts_with(|c: char| c.is_ascii_digit() || c == 'x')) => {
                return None;
            }
            _ => {
                out.push_str(&rest[..=open]);
                rest = &rest[open + 1..];
            }
        }
    }
    out.push_str(rest);
    Some(out)
}

fn expression(text: &str, x: &Scalar) -> Option<String> {
    if text == "x" {
        return Some(x.0.clone());
    }
    let at = text.find(['*', '/'])?;
    let (left, right) = (text[..at].trim().parse::<f64>().ok()?, text[at + 1..].trim());
    let x = x.number().filter(|_| right == "x")?;
    let value = if text.as_bytes()[at] == b'*' { left * x } else { left / x };
    // Quantities in the smallest unit and counts are whole: what does not divide is cut.
    Some(if left.fract() == 0.0 && value.abs() >= 1.0 { format!("{}", value.trunc()) } else { format!("{value:?}") })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(template: &str, x: &str) -> Option<String> {
        fill(template, &Scalar(x.to_owned()))
    }

    #[test]
    fn a_value_goes_in_as_it_stands_or_as_a_number() {
        assert_eq!(filled("cluster.workers={x}", "32").as_deref(), Some("cluster.workers=32"));
        assert_eq!(filled("tcp.min-rto='{x}'", "200 us").as_deref(), Some("tcp.min-rto='200 us'"));
        assert_eq!(filled("traffic.0.bytes='{1048576/x} B'", "3").as_deref(), Some("traffic.0.bytes='349525 B'"));
        assert_eq!(filled("a='{2*x} packets' b={x}", "64").as_deref(), Some("a='128 packets' b=64"));
        assert_eq!(filled("loss={0.5/x}", "100").as_deref(), Some("loss=0.005"));
    }

    #[test]
    fn braces_of_toml_stay() {
        let table = "network.queue={ kind = 'red', limit = '{x} packets' }";
        assert_eq!(filled(table, "64").as_deref(), Some("network.queue={ kind = 'red', limit = '64 packets' }"));
        assert_eq!(filled("a={}", "1").as_deref(), Some("a={}"));
    }

    #[test]
    fn what_is_no_expression_is_refused() {
        assert_eq!(filled("a={x+1}", "1"), None);
        assert_eq!(filled("a={12*y}", "1"), None);
    }
}
