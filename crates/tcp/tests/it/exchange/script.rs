//! Reads exchanges written in the format of packetdrill (Cardwell et al., "packetdrill: Scriptable Network Stack
//! Testing, from Sockets to Packets", USENIX ATC 2013): segments in both directions and socket calls, each with its
//! time. Shell commands between backticks are not run; the few settings in them that matter are looked for.

/// Microseconds.
pub type Micros = u64;

/// When an event is due, relative to the one before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// From the first to the second time of the script.
    Absolute(Micros, Micros),
    /// From the first to the second time after the last event.
    Relative(Micros, Micros),
    /// `*`.
    Any,
}

/// A segment as written. Fields that the line leaves out are `None`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Line {
    /// Letters of the flags: S, F, R, P, `.`, E, W.
    pub flags: String,
    pub seq: u64,
    pub len: u32,
    pub ack: Option<u64>,
    pub window: Option<u32>,
    /// `ect0`, `ect1`, `ce` or `noecn`.
    pub ecn: Option<String>,
    pub mss: Option<u16>,
    pub sack_permitted: bool,
    pub window_scale: Option<u8>,
    pub timestamps: Option<(u32, u32)>,
    pub sacks: Vec<(u64, u64)>,
    /// `<...>`: any options.
    pub any_options: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    Inbound(Line),
    Outbound(Line),
    /// Name, arguments as one text, value returned.
    Call(String, String, i64),
    /// What the script asserts of the sender: `tcpi_` name and value.
    Assert(Vec<(String, u64)>),
}

#[derive(Clone, Debug)]
pub struct Step {
    pub line: usize,
    pub when: When,
    pub event: Event,
}

#[derive(Clone, Debug, Default)]
pub struct Script {
    pub steps: Vec<Step>,
    /// Text between backticks.
    pub shell: String,
    pub tolerance: Option<Micros>,
}

/// Replaces comments by nothing and collects what stands between backticks; lines keep their numbers.
fn strip(text: &str, shell: &mut String) -> String {
    let (mut kept, mut rest) = (String::new(), text);
    let blank = |kept: &mut String, part: &str| kept.extend(part.chars().filter(|c| *c == '\n'));
    while !rest.is_empty() {
        let (skipped, after) = if let Some(tail) = rest.strip_prefix('`') {
            let end = tail.find('`').unwrap_or(tail.len());
            shell.push_str(&tail[..end]);
            shell.push('\n');
            (&tail[..end], tail.get(end + 1..).unwrap_or(""))
        } else if rest.starts_with("//") {
            rest.split_at(rest.find('\n').unwrap_or(rest.len()))
        } else if rest.starts_with("/*") {
            rest.split_at(rest.find("*/").map_or(rest.len(), |end| end + 2))
        } else {
            let next = rest.chars().next().map_or(0, char::len_utf8);
            kept.push_str(&rest[..next]);
            rest = &rest[next..];
            continue;
        };
        blank(&mut kept, skipped);
        rest = after;
    }
    kept
}

fn micros(text: &str) -> Option<Micros> {
    let seconds: f64 = text.parse().ok()?;
    Some((seconds * 1e6).round() as Micros)
}

fn when(token: &str) -> Option<When> {
    if token == "*" {
        return Some(When::Any);
    }
    // A blocking call has a begin and an end: `+.1...0.2`. Only the begin matters here.
    let token = token.split("...").next()?;
    let (from, to) = token.split_once('~').unwrap_or((token, token));
    if let Some(from) = from.strip_prefix('+') {
        return Some(When::Relative(micros(from)?, micros(to.trim_start_matches('+'))?));
    }
    Some(When::Absolute(micros(from)?, micros(to)?))
}

fn number<T: std::str::FromStr>(text: &str) -> Option<T> {
    text.trim().parse().ok()
}

/// `1:1001(1000) ack 1 win 257 <options>`, after the flags.
fn segment(text: &str) -> Option<Line> {
    let mut line = Line::default();
    let mut text = text.trim();
    if let Some(rest) = text.strip_prefix('[') {
        let (ecn, rest) = rest.split_once(']')?;
        (line.ecn, text) = (Some(ecn.to_owned()), rest.trim_start());
    }
    let (head, options) = text.split_once('<').unwrap_or((text, ""));
    let mut words = head.split_whitespace();
    line.flags = words.next()?.to_owned();
    let (seq, rest) = words.next()?.split_once(':')?;
    let (_, len) = rest.split_once('(')?;
    (line.seq, line.len) = (number(seq)?, number(len.trim_end_matches(')'))?);
    while let Some(word) = words.next() {
        match word {
            "ack" => line.ack = Some(number(words.next()?)?),
            "win" => line.window = Some(number(words.next()?)?),
            _ => return None,
        }
    }
    for option in options.trim_end().trim_end_matches('>').split(',') {
        let mut words = option.split_whitespace();
        match words.next() {
            None | Some("nop" | "eol") => {}
            Some("...") => line.any_options = true,
            Some("mss") => line.mss = Some(number(words.next()?)?),
            Some("sackOK") => line.sack_permitted = true,
            Some("wscale") => line.window_scale = Some(number(words.next()?)?),
            Some("TS") => {
                let values: Vec<&str> = words.collect();
                line.timestamps = Some((number(values.get(1)?)?, number(values.get(3)?)?));
            }
            Some("sack") => {
                for block in words {
                    let (start, end) = block.split_once(':')?;
                    line.sacks.push((number(start)?, number(end)?));
                }
            }
            _ => return None,
        }
    }
    Some(line)
}

/// `name(arguments) = value`.
fn call(text: &str) -> Option<Event> {
    let (name, rest) = text.split_once('(')?;
    let (arguments, value) = rest.rsplit_once('=').unwrap_or((rest, "0"));
    let value = value.split_whitespace().next().and_then(number).unwrap_or(0);
    Some(Event::Call(name.trim().to_owned(), arguments.trim().trim_end_matches(')').to_owned(), value))
}

fn asserts(code: &str) -> Event {
    let statements = code.split(['\n', ';']).filter_map(|line| line.trim().strip_prefix("assert "));
    let known = statements.filter_map(|statement| {
        let (name, rest) = statement.split_once("==")?;
        let value = rest.split(',').next()?;
        Some((name.trim().to_owned(), number(value)?))
    });
    Event::Assert(known.collect())
}

/// Reads a script; an error names the line that is not understood.
pub fn parse(text: &str) -> Result<Script, String> {
    let mut script = Script::default();
    let text = strip(text, &mut script.shell);
    let mut lines = text.lines().enumerate().peekable();
    while let Some((at, line)) = lines.next() {
        let line = line.trim();
        if let Some(option) = line.strip_prefix("--") {
            script.tolerance = option.strip_prefix("tolerance_usecs=").and_then(number).or(script.tolerance);
            continue;
        }
        if line.is_empty() {
            continue;
        }
        let fail = || format!("line {}: {line}", at + 1);
        let line = line.replace(" ... ", "...");
        let (time, rest) = line.split_once(char::is_whitespace).unwrap_or((&line, ""));
        if rest.is_empty() {
            // Only a shell command stood here.
            continue;
        }
        let when = when(time).ok_or_else(fail)?;
        let mut rest = rest.trim().to_owned();
        let event = if let Some(code) = rest.strip_prefix("%{") {
            let mut code = code.to_owned();
            while !code.contains("}%") {
                code.push('\n');
                code.push_str(lines.next().ok_or_else(fail)?.1);
            }
            asserts(code.split("}%").next().unwrap_or(""))
        } else if let Some(packet) = rest.strip_prefix('<') {
            Event::Inbound(segment(packet).ok_or_else(fail)?)
        } else if let Some(packet) = rest.strip_prefix('>') {
            Event::Outbound(segment(packet).ok_or_else(fail)?)
        } else {
            // A call may go on in the next lines.
            while rest.matches('(').count() > rest.matches(')').count() || !rest.contains('=') {
                rest.push(' ');
                rest.push_str(lines.next().ok_or_else(fail)?.1.trim());
            }
            call(&rest).ok_or_else(fail)?
        };
        script.steps.push(Step { line: at + 1, when, event });
    }
    Ok(script)
}
