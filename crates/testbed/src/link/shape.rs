//! The shape of one direction of a path as a file or command line writes it, with units.

use super::path::{Direction, Jitter, Reorder};
use super::share::share;
use super::{LinkError, Trace};
use net::{CodelSpec, Discipline, FqCodelSpec, GilbertElliott, Limit, Loss, PieSpec, RedSpec};
use serde::{Deserialize, Deserializer};
use std::fmt::Display;
use std::path::{Path as FilePath, PathBuf};
use std::str::FromStr;
use units::{BitRate, Bytes, Time};

/// The shape of one direction, as a file or command line gives it. An absent key changes nothing.
#[derive(Clone, Default, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Shape {
    /// Rate of the transmitter.
    #[serde(default, deserialize_with = "written")]
    pub rate: Option<BitRate>,
    /// Propagation delay, one way.
    #[serde(default, deserialize_with = "written")]
    pub delay: Option<Time>,
    /// Variation of the delay, up and down.
    #[serde(default, deserialize_with = "written")]
    pub jitter: Option<Time>,
    /// Whether jitter may reorder frames.
    pub jitter_reorders: Option<bool>,
    /// Fraction of frames lost.
    #[serde(default, deserialize_with = "written")]
    pub loss: Option<Share>,
    /// Mean length of loss bursts, in frames.
    pub burst: Option<f64>,
    /// All probabilities of a two-state wire, instead of `loss`.
    gilbert_elliott: Option<TwoStates>,
    /// Fraction of frames held back for others to overtake.
    #[serde(default, deserialize_with = "written")]
    pub reorder: Option<Share>,
    /// How long frames are held back.
    #[serde(default, deserialize_with = "written")]
    pub reorder_by: Option<Time>,
    /// Queue limit and discipline.
    #[serde(default)]
    pub queue: QueueShape,
    /// File of the trace.
    pub trace: Option<PathBuf>,
}

/// The queue of one direction, as a file or command line gives it.
#[derive(Clone, Default, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct QueueShape {
    /// The name of the discipline.
    pub kind: Option<String>,
    /// The queue limit.
    #[serde(default, deserialize_with = "written")]
    pub limit: Option<QueueLimit>,
    #[serde(default, deserialize_with = "written")]
    mark_above: Option<QueueLimit>,
    red: Option<RedShape>,
    codel: Option<CodelShape>,
    pie: Option<PieShape>,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct TwoStates {
    to_bad: f64,
    to_good: f64,
    bad: f64,
    good: f64,
}

#[derive(Clone, Copy, Default, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct RedShape {
    #[serde(default, deserialize_with = "written")]
    min: Option<QueueLimit>,
    #[serde(default, deserialize_with = "written")]
    max: Option<QueueLimit>,
    max_p: Option<f64>,
    weight: Option<f64>,
    gentle: Option<bool>,
    adaptive: Option<bool>,
    ecn: Option<bool>,
}

/// Parameters of CoDel, and of each of FQ-CoDel's queues.
#[derive(Clone, Copy, Default, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct CodelShape {
    #[serde(default, deserialize_with = "written")]
    target: Option<Time>,
    #[serde(default, deserialize_with = "written")]
    interval: Option<Time>,
    ecn: Option<bool>,
}

#[derive(Clone, Copy, Default, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct PieShape {
    #[serde(default, deserialize_with = "written")]
    target: Option<Time>,
    #[serde(default, deserialize_with = "written")]
    update: Option<Time>,
    #[serde(default, deserialize_with = "written")]
    burst: Option<Time>,
}

/// `0.1 %` or `0.001`.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Share(pub f64);

impl FromStr for Share {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        share(text).map(Self)
    }
}

/// `100 packets`, `64 KB`, or a delay such as `50 ms`.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct QueueLimit(pub Limit);

impl FromStr for QueueLimit {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let number = text.trim().trim_end_matches("packets").trim_end_matches("packet");
        let limit = if number.len() < text.trim().len() {
            number.trim().parse().ok().map(Limit::Packets)
        } else {
            text.parse::<Bytes>().map(Limit::Bytes).or_else(|_| text.parse::<Time>().map(Limit::Delay)).ok()
        };
        limit.map(Self).ok_or_else(|| {
            format!("`{text}` is not a length of a queue: it is written like \"100 packets\", \"64 KB\" or \"50 ms\"")
        })
    }
}

/// A value written as a string.
fn written<'de, D: Deserializer<'de>, T: FromStr<Err: Display>>(from: D) -> Result<Option<T>, D::Error> {
    String::deserialize(from)?.parse().map(Some).map_err(serde::de::Error::custom)
}

impl Shape {
    /// Applies the given keys to a direction. Traces are looked up in `folder`.
    pub fn apply(&self, direction: &mut Direction, folder: &FilePath) -> Result<(), LinkError> {
        direction.rate = self.rate.or(direction.rate);
        direction.delay = self.delay.unwrap_or(direction.delay);
        direction.jitter = Jitter {
            by: self.jitter.unwrap_or(direction.jitter.by),
            reorders: self.jitter_reorders.unwrap_or(direction.jitter.reorders),
        };
        direction.reorder = Reorder {
            share: self.reorder.map_or(direction.reorder.share, |share| share.0),
            by: self.reorder_by.unwrap_or(direction.reorder.by),
        };
        self.apply_loss(direction)?;
        self.queue.apply(direction)?;
        if let Some(trace) = &self.trace {
            direction.trace = Some(Trace::read(&folder.join(trace))?);
        }
        Ok(())
    }

    fn apply_loss(&self, direction: &mut Direction) -> Result<(), LinkError> {
        direction.loss = match (self.loss, self.burst, self.gilbert_elliott) {
            (None, None, None) => return Ok(()),
            (Some(Share(loss)), None, None) => Loss::Random(loss),
            (loss, Some(length), None) => {
                let loss = loss.map_or(direction.loss.mean(), |share| share.0);
                if length.is_nan() || length < 1.0 || loss >= 1.0 {
                    return Err(LinkError::Input(format!(
                        "bursts of {length} frames cannot be: a burst is at least one frame, and a loss in bursts is \
                         below 100 %"
                    )));
                }
                Loss::Bursts(GilbertElliott::bursts(loss, length))
            }
            (None, None, Some(TwoStates { to_bad, to_good, bad, good })) => {
                Loss::Bursts(GilbertElliott { to_bad, to_good, bad, good })
            }
            (_, _, Some(_)) => {
                return Err(LinkError::Input(
                    "gilbert-elliott says everything about the loss: leave out loss and burst".to_owned(),
                ));
            }
        };
        Ok(())
    }
}

/// Names of the disciplines, as in scenarios.
pub const DISCIPLINES: [&str; 7] = ["drop-tail", "threshold", "red", "codel", "fq-codel", "pie", "priority"];

impl QueueShape {
    fn apply(&self, direction: &mut Direction) -> Result<(), LinkError> {
        direction.limit = self.limit.map(|limit| limit.0).or(direction.limit);
        let kind = self.kind.as_deref();
        let parameters = [
            ("mark-above", self.mark_above.is_some(), &["threshold"][..]),
            ("red", self.red.is_some(), &["red"]),
            ("codel", self.codel.is_some(), &["codel", "fq-codel"]),
            ("pie", self.pie.is_some(), &["pie"]),
        ];
        let astray = |kinds: &[&str]| kind.is_none_or(|kind| !kinds.contains(&kind));
        if let Some((name, _, kinds)) = parameters.into_iter().find(|(_, given, kinds)| *given && astray(kinds)) {
            let message = format!("queue.{name} is for a queue of kind {}: say so beside it", kinds.join(" or "));
            return Err(LinkError::Input(message));
        }
        let Some(kind) = kind else { return Ok(()) };
        direction.discipline = match kind {
            "drop-tail" => Discipline::DropTail,
            "threshold" => {
                Discipline::Threshold { mark_above: self.mark_above.map_or(Limit::Unlimited, |limit| limit.0) }
            }
            "red" => Discipline::Red(self.red.unwrap_or_default().spec()),
            "codel" => Discipline::Codel(self.codel.unwrap_or_default().spec()),
            "fq-codel" => Discipline::FqCodel(FqCodelSpec {
                codel: self.codel.unwrap_or_default().spec(),
                ..FqCodelSpec::default()
            }),
            "pie" => Discipline::Pie(self.pie.unwrap_or_default().spec()),
            // One for each class selector of RFC 2474.
            "priority" => Discipline::Priority { classes: 8 },
            _ => {
                let near = units::nearest(kind, DISCIPLINES)
                    .map_or_else(String::new, |near| format!(" (did you mean `{near}`?)"));
                let known = DISCIPLINES.join(", ");
                return Err(LinkError::Input(format!("`{kind}` is not a queue's discipline{near}: there are {known}")));
            }
        };
        Ok(())
    }
}

impl RedShape {
    fn spec(self) -> RedSpec {
        let usual = RedSpec::default();
        RedSpec {
            min: self.min.map(|limit| limit.0),
            max: self.max.map(|limit| limit.0),
            max_p: self.max_p.unwrap_or(usual.max_p),
            weight: self.weight,
            gentle: self.gentle.unwrap_or(usual.gentle),
            adaptive: self.adaptive.unwrap_or(usual.adaptive),
            ecn: self.ecn.unwrap_or(usual.ecn),
            ..usual
        }
    }
}

impl CodelShape {
    fn spec(self) -> CodelSpec {
        let usual = CodelSpec::default();
        CodelSpec {
            target: self.target.unwrap_or(usual.target),
            interval: self.interval.unwrap_or(usual.interval),
            ecn: self.ecn.unwrap_or(usual.ecn),
            ..usual
        }
    }
}

impl PieShape {
    fn spec(self) -> PieSpec {
        let usual = PieSpec::default();
        PieSpec {
            target: self.target.unwrap_or(usual.target),
            update: self.update.unwrap_or(usual.update),
            burst: self.burst.unwrap_or(usual.burst),
            ..usual
        }
    }
}
