//! Reasons for the number of streams.

/// The reason for the present number of streams.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reason {
    /// The number that tuning began with.
    Start,
    /// More are being tried.
    TryMore,
    /// Fewer are being tried.
    TryFewer,
    /// A model of random losses recommends more: each stream carries too little for what the path has delivered.
    Modelled,
    /// More gained enough.
    Gained,
    /// More gained too little for the policy: reverted.
    TooLittle,
    /// More streams lost more segments: reverted.
    Lossy,
    /// Fewer carry as much.
    AsGood,
    /// Fewer carry less: reverted.
    Needed,
    /// A queue stands on the path, so the path is full: more streams would only take from others.
    Full,
    /// Windows and buffers are not the limit, and `polite` wants more streams for nothing else.
    Enough,
    /// Losses have become far more frequent: halved.
    Emergency,
    /// The peer's credit holds the streams back: its program is slow, or its memory used up.
    Credit,
    /// The application has not enough to send.
    Idle,
}

impl Reason {
    /// The reason in a sentence.
    pub const fn text(self) -> &'static str {
        match self {
            Self::Start => "it is where it began",
            Self::TryMore => "more are being tried",
            Self::TryFewer => "fewer are being tried",
            Self::Modelled => {
                "at the losses seen it takes these to carry what the path has been seen to deliver: tried"
            }
            Self::Gained => "more gained enough",
            Self::TooLittle => "more gained too little for the policy",
            Self::Lossy => "more lost more",
            Self::AsGood => "fewer do as well",
            Self::Needed => "fewer carried less",
            Self::Full => "a queue stands on the path, so that it is full: more would only take from others",
            Self::Enough => "windows and buffers are not the limit, and the policy is polite",
            Self::Emergency => "losses have become far more frequent",
            Self::Credit => "the peer takes no more at a time: its program is slow, or its memory used up",
            Self::Idle => "the application has not enough to send",
        }
    }
    /// A short stable name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::TryMore => "try-more",
            Self::TryFewer => "try-fewer",
            Self::Modelled => "modelled",
            Self::Gained => "gained",
            Self::TooLittle => "too-little",
            Self::Lossy => "lossy",
            Self::AsGood => "as-good",
            Self::Needed => "needed",
            Self::Full => "full",
            Self::Enough => "enough",
            Self::Emergency => "emergency",
            Self::Credit => "credit",
            Self::Idle => "idle",
        }
    }
}
