//! Plays a script against one endpoint: the script is the network and the application, the endpoint is the host.
//!
//! A host's sender hands bursts to its network card as one large segment, and sets PSH where it likes. So the
//! endpoint's segments are joined before they are compared, and PSH is not compared. Windows are compared only as zero
//! or not: they follow from the sizes of buffers. What calls return is not compared: buffers of sockets are not the
//! endpoint's.

use super::script::{Event, Line, Micros, Script, When};
use std::collections::VecDeque;
use tcp::{Config, Endpoint, Flags, IdleRestart, NO_WINDOW_SCALE, Output, Recovery, Segment};
use units::{Bytes, Time};

/// How far times may differ: packetdrill's own default.
const TOLERANCE: Micros = 4_000;

/// The endpoint and what it has sent.
struct Host {
    endpoint: Option<Endpoint>,
    config: Config,
    now: Time,
    out: Output,
    sent: VecDeque<(Time, Segment)>,
    /// The connection's descriptor; a listener's close does not close it.
    descriptor: i64,
    /// Added to the script's timestamps, in microseconds: the endpoint's clock.
    offset: Option<u32>,
    linger: bool,
    peer_shift: u8,
    /// The acknowledgement of the last segment compared.
    last_ack: u64,
    /// Bytes that a blocked read waits for.
    wanted: u64,
}

/// A host as Linux has it by default, with what the script's shell commands and socket options change.
pub fn host_config(script: &Script) -> Config {
    let mut config = Config {
        recovery: Recovery::Rack,
        auto_consume: false,
        receive_buffer: Bytes::new(8 << 20),
        ..Config::default()
    };
    let set = |name: &str| script.shell.rsplit_once(name).map(|(_, rest)| rest.trim_start_matches(['=', '"', ' ']));
    let off = |name: &str| set(name).is_some_and(|rest| rest.starts_with('0'));
    let number = |name: &str| -> Option<u64> { set(name)?.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok() };
    config.pacing = script.shell.contains("root fq");
    config.timestamps = !off("tcp_timestamps");
    config.sack = !off("tcp_sack");
    config.ecn = set("tcp_ecn").is_some_and(|rest| rest.starts_with(['1', '2']));
    if let Some(most) = number("tcp_rto_max_ms") {
        config.max_rto = Time::from_ms(most);
    }
    let told = set("tcp_slow_start_after_idle").is_some_and(|rest| rest.starts_with('1'));
    if script.shell.contains("defaults.sh") && !told {
        config.idle_restart = IdleRestart::Off;
    } else {
        config.idle_restart = IdleRestart::Linux;
    }
    if set("tcp_congestion_control").is_some_and(|rest| rest.starts_with("reno")) {
        config.control = tcp::control::ControlKind::Reno;
    }
    for step in &script.steps {
        if let Event::Call(name, arguments, _) = &step.event
            && name == "setsockopt"
        {
            config.nagle &= !(arguments.contains("TCP_NODELAY") && arguments.contains("[1]"));
            if arguments.contains("TCP_CONGESTION") && arguments.contains("reno") {
                config.control = tcp::control::ControlKind::Reno;
            }
            let value = arguments.split(['[', ']']).nth(1);
            if arguments.contains("TCP_MAXSEG")
                && let Some(mss) = value.and_then(|value| value.parse().ok())
            {
                config.mss = mss;
            }
            // Linux doubles the value and leaves half of it to the payload, of which it announces whole segments. What
            // is set on an open connection is not the endpoint's.
            if arguments.contains("SO_RCVBUF")
                && arguments.starts_with('3')
                && let Some(bytes) = value.and_then(|value| value.parse::<u64>().ok())
            {
                config.receive_buffer = Bytes::new(bytes / 1460 * 1460);
            }
        }
    }
    config
}

/// Plays `script`; an error says at which line what differs.
pub fn play(script: &Script, config: Config) -> Result<(), String> {
    let mut host = Host {
        endpoint: None,
        config,
        now: Time::ZERO,
        out: Output::default(),
        sent: VecDeque::new(),
        descriptor: -1,
        offset: None,
        linger: false,
        peer_shift: 0,
        last_ack: 0,
        wanted: 0,
    };
    let tolerance = script.tolerance.unwrap_or(TOLERANCE);
    let mut last = 0;
    for step in &script.steps {
        let (from, to) = match step.when {
            When::Absolute(from, to) => (from, to),
            When::Relative(from, to) => (last + from, last + to),
            When::Any => (last, last + 600_000_000),
        };
        last = from;
        let done = match &step.event {
            Event::Outbound(line) => host.expect(line, (from, to), tolerance).map(|at| {
                if step.when == When::Any {
                    last = at.as_us();
                }
            }),
            event => {
                host.run_until(Time::from_us(from));
                match event {
                    Event::Inbound(line) => host.receive(line),
                    Event::Call(name, arguments, value) => {
                        host.call(name, arguments, *value);
                        Ok(())
                    }
                    Event::Assert(asserts) => host.check(asserts),
                    Event::Outbound(_) => Ok(()),
                }
            }
        };
        done.map_err(|what| format!("line {}: {what}", step.line))?;
    }
    Ok(())
}

impl Host {
    fn with(&mut self, call: impl FnOnce(&mut Endpoint, Time, &mut Output)) {
        let Some(endpoint) = &mut self.endpoint else { return };
        call(endpoint, self.now, &mut self.out);
        self.sent.extend(self.out.segments.iter().map(|segment| (self.now, *segment)));
        self.out.clear();
    }
    /// Timers that expire up to `until`.
    fn run_until(&mut self, until: Time) {
        while let Some(at) = self.endpoint.as_ref().map(Endpoint::deadline).filter(|at| *at <= until) {
            self.now = self.now.max(at);
            self.with(Endpoint::on_timer);
        }
        self.now = self.now.max(until);
    }
    fn call(&mut self, name: &str, arguments: &str, value: i64) {
        let first: i64 = arguments.split(',').next().and_then(|text| text.trim().parse().ok()).unwrap_or(-1);
        match name {
            "listen" => self.endpoint = Some(Endpoint::listen(&self.config)),
            "connect" if self.endpoint.is_none() => {
                self.endpoint = Some(Endpoint::connect(&self.config));
                self.descriptor = first;
                self.with(Endpoint::open);
            }
            "accept" if value >= 0 => self.descriptor = value,
            "write" | "send" | "sendto" | "sendmsg" | "writev" | "sendfile" if value > 0 => {
                let more = arguments.contains("MSG_MORE");
                if more {
                    self.with(|endpoint, now, out| endpoint.set_cork(now, true, out));
                }
                self.with(|endpoint, now, out| _ = endpoint.write(now, value as u64, false, out));
            }
            "read" | "recv" | "recvfrom" | "recvmsg" if value > 0 => {
                self.wanted += value as u64;
                self.read();
            }
            "shutdown" if !arguments.contains("SHUT_RD)") && !arguments.ends_with("SHUT_RD") => {
                self.with(Endpoint::close);
            }
            "close" if first == self.descriptor => {
                let unread = self.endpoint.as_ref().map_or(0, Endpoint::unread);
                // A socket that is closed before all was read resets the connection (RFC 2525, section 2.17).
                if unread > 0 || self.linger { self.with(Endpoint::abort) } else { self.with(Endpoint::close) }
            }
            "setsockopt" => {
                let on = arguments.contains("[1]");
                if arguments.contains("TCP_CORK") {
                    self.with(|endpoint, now, out| endpoint.set_cork(now, on, out));
                } else if arguments.contains("TCP_NODELAY") && on {
                    self.with(|endpoint, now, out| endpoint.set_cork(now, false, out));
                }
                self.linger |= arguments.contains("SO_LINGER") && arguments.contains("onoff=1");
            }
            _ => {}
        }
    }
    fn receive(&mut self, line: &Line) -> Result<(), String> {
        let mut flags = Flags::NONE;
        for letter in line.flags.chars() {
            flags |= match letter {
                'S' => Flags::SYN,
                'F' => Flags::FIN,
                'R' => Flags::RST,
                'P' => Flags::PSH,
                '.' => Flags::ACK,
                'E' => Flags::ECE,
                'W' => Flags::CWR,
                '-' => Flags::NONE,
                other => return Err(format!("flag {other}")),
            };
        }
        flags |= match line.ecn.as_deref() {
            Some("ce") => Flags::ECT | Flags::CE,
            Some("ect0" | "ect1" | "ect01") => Flags::ECT,
            _ => Flags::NONE,
        };
        let mut segment = Segment::new(flags, line.seq, line.ack.unwrap_or(0));
        segment.len = line.len;
        let syn = flags.contains(Flags::SYN);
        if syn {
            segment.mss = line.mss.unwrap_or(0);
            segment.window_scale = line.window_scale.unwrap_or(NO_WINDOW_SCALE);
            let permitted = if line.sack_permitted { Flags::SACK_PERMITTED } else { Flags::NONE };
            segment.flags |= permitted;
            self.peer_shift = line.window_scale.unwrap_or(0);
        }
        segment.window = line.window.unwrap_or(0) << if syn { 0 } else { self.peer_shift };
        if let Some((value, echo)) = line.timestamps {
            segment.flags |= Flags::TIMESTAMPS;
            segment.ts_val = value.wrapping_mul(1000);
            let offset = self.offset.unwrap_or(0);
            segment.ts_ecr = if echo == 0 { 0 } else { echo.wrapping_mul(1000).wrapping_add(offset) };
        }
        for (start, end) in &line.sacks {
            segment.push_sack(*start, *end);
        }
        self.with(|endpoint, now, out| endpoint.on_segment(now, &segment, out));
        self.read();
        Ok(())
    }
    /// Takes what a read waits for.
    fn read(&mut self) {
        let bytes = self.endpoint.as_ref().map_or(0, Endpoint::unread).min(self.wanted);
        if bytes > 0 {
            self.wanted -= bytes;
            self.with(|endpoint, now, out| endpoint.consume(now, bytes, out));
        }
    }
    fn check(&self, asserts: &[(String, u64)]) -> Result<(), String> {
        let Some(endpoint) = &self.endpoint else { return Ok(()) };
        let window = endpoint.window();
        let mss = u64::from(window.mss);
        for (name, value) in asserts {
            let got = match name.as_str() {
                "tcpi_snd_cwnd" => window.cwnd / mss,
                "tcpi_snd_ssthresh" if window.ssthresh < u64::MAX => window.ssthresh / mss,
                "tcpi_unacked" => endpoint.outstanding().div_ceil(mss),
                _ => continue,
            };
            if got != *value {
                return Err(format!("{name} is {got}, not {value}"));
            }
        }
        Ok(())
    }
    /// The next segment sent, joined with those that continue it up to `line`'s length.
    fn expect(&mut self, line: &Line, (from, to): (Micros, Micros), tolerance: Micros) -> Result<Time, String> {
        // Windows and their updates follow from buffers: one that was not asked for is passed over.
        while self.sent.len() > usize::from(line.len == 0) {
            let update = self.sent.front().is_some_and(|(_, segment)| {
                let bare = segment.len == 0 && segment.flags.contains(Flags::ACK) && segment.sack_count() == 0;
                let unusual = segment.flags.intersects(Flags::SYN.with(Flags::FIN).with(Flags::RST));
                bare && !unusual && segment.ack == self.last_ack
            });
            let bare_wanted = line.len == 0 && line.ack == Some(self.last_ack);
            if !update || bare_wanted {
                break;
            }
            self.sent.pop_front();
        }
        let (earliest, latest) = (Time::from_us(from.saturating_sub(tolerance)), Time::from_us(to + tolerance));
        let due = |host: &Self| host.endpoint.as_ref().map(Endpoint::deadline).filter(|at| *at <= latest);
        while self.sent.is_empty()
            && let Some(at) = due(self)
        {
            self.run_until(at);
        }
        let Some((at, mut segment)) = self.sent.pop_front() else {
            return Err(format!("nothing sent, not {} {}({})", line.flags, line.seq, line.len));
        };
        while segment.len < line.len
            && let Some((_, next)) = self.sent.front().filter(|(_, next)| next.seq == segment.end() && next.len > 0)
        {
            segment.len += next.len;
            segment.flags |= next.flags;
            self.sent.pop_front();
        }
        self.compare(line, &segment)?;
        self.last_ack = segment.ack;
        if at < earliest || at > latest {
            return Err(format!("sent {} at {} us, not {from} to {to}", describe(&segment), at.as_us()));
        }
        Ok(at)
    }
    fn compare(&mut self, line: &Line, segment: &Segment) -> Result<(), String> {
        let differs = |what: &str| Err(format!("{what}: sent {}, not {line:?}", describe(segment)));
        let flags: Vec<char> = letters(segment.flags).filter(|letter| *letter != 'P').collect();
        let wanted: Vec<char> = "SFR.EW".chars().filter(|letter| line.flags.contains(*letter)).collect();
        if flags != wanted || segment.seq != line.seq || segment.len != line.len {
            return differs("segment");
        }
        if line.ack.is_some_and(|ack| segment.flags.contains(Flags::ACK) && ack != segment.ack) {
            return differs("acknowledgement");
        }
        if line.window.is_some_and(|window| (window == 0) != (segment.window == 0)) {
            return differs("window");
        }
        let capable = segment.flags.contains(Flags::ECT);
        if line.ecn.as_deref().is_some_and(|ecn| ecn.starts_with("ect") != capable) {
            return differs("ECT");
        }
        if let (Some((value, _)), None) = (line.timestamps, self.offset) {
            self.offset = Some(segment.ts_val.wrapping_sub(value.wrapping_mul(1000)));
        }
        if line.any_options {
            return Ok(());
        }
        let syn = segment.flags.contains(Flags::SYN);
        let permitted = segment.flags.contains(Flags::SACK_PERMITTED);
        let scaled = segment.window_scale != NO_WINDOW_SCALE;
        let other_size = line.mss.is_some_and(|mss| mss != segment.mss);
        if syn && (other_size || line.sack_permitted != permitted || line.window_scale.is_some() != scaled)
            || line.timestamps.is_some() != segment.flags.contains(Flags::TIMESTAMPS)
        {
            return differs("options");
        }
        if let Some((_, echo)) = line.timestamps
            && segment.ts_ecr != echo.wrapping_mul(1000)
        {
            return differs("timestamp echo");
        }
        if !segment.sack_blocks().eq(line.sacks.iter().copied()) {
            return differs("SACK blocks");
        }
        Ok(())
    }
}

/// The letters of the flags, in the order S, F, R, P, `.`, E, W.
fn letters(flags: Flags) -> impl Iterator<Item = char> {
    let all = [
        (Flags::SYN, 'S'),
        (Flags::FIN, 'F'),
        (Flags::RST, 'R'),
        (Flags::PSH, 'P'),
        (Flags::ACK, '.'),
        (Flags::ECE, 'E'),
        (Flags::CWR, 'W'),
    ];
    all.into_iter().filter(move |(flag, _)| flags.contains(*flag)).map(|(_, letter)| letter)
}

fn describe(segment: &Segment) -> String {
    let flags: String = letters(segment.flags).collect();
    let sacks: Vec<(u64, u64)> = segment.sack_blocks().collect();
    format!("{flags} {}({}) ack {} win {} {sacks:?}", segment.seq, segment.len, segment.ack, segment.window)
}
