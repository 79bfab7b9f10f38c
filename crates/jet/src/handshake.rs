//! How a stream begins: HELLO both ways, and what makes it the first of a session or one more.

use std::io;
use std::time::Duration;
use stripe::wire::{Frame, FrameReader, Hello, Item, Refusal, WireError};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

/// A peer that takes longer than this for TLS and its HELLO is not waited for.
pub(crate) const PATIENCE: Duration = Duration::from_secs(10);

/// Why a stream has not come about.
#[derive(Debug, thiserror::Error)]
pub(crate) enum HandshakeError {
    #[error("{0}")]
    Io(#[from] io::Error),
    #[error("{0}")]
    Wire(#[from] WireError),
    #[error("TLS: {0}")]
    Tls(#[from] rustls::Error),
    #[error("the peer did not begin as the protocol has it")]
    Order,
    #[error("the peer refuses the stream: {0}")]
    Refused(Refusal),
    #[error("no answer within {} s", PATIENCE.as_secs())]
    Silence,
}

/// What a far gateway is asked for.
#[derive(Debug)]
pub(crate) enum Request {
    /// The first stream of a session.
    Start,
    /// One more, with its proof.
    Join([u8; 32]),
}

/// A stream's beginning, read frame by frame; what comes behind is kept for the carrier.
#[derive(Debug)]
pub(crate) struct Opening {
    reader: FrameReader,
    bytes: Vec<u8>,
}

impl Opening {
    pub fn new(max_payload: u32) -> Self {
        Self { reader: FrameReader::new(max_payload), bytes: Vec::new() }
    }
    /// The next frame.
    async fn next(&mut self, stream: &mut (impl AsyncRead + Unpin)) -> Result<Frame, HandshakeError> {
        loop {
            let mut input = self.bytes.as_slice();
            let frame = match self.reader.next(&mut input)? {
                Some(Item::Frame { frame, .. }) => Some(frame),
                Some(Item::Payload { .. }) => return Err(HandshakeError::Order),
                None => None,
            };
            let read = self.bytes.len() - input.len();
            self.bytes.drain(..read);
            if let Some(frame) = frame {
                return Ok(frame);
            }
            let mut chunk = [0; 4096];
            let count = stream.read(&mut chunk).await?;
            if count == 0 {
                return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into());
            }
            self.bytes.extend_from_slice(&chunk[..count]);
        }
    }
    /// The peer's HELLO (P-3), or its refusal.
    pub async fn hello(&mut self, stream: &mut (impl AsyncRead + Unpin)) -> Result<Hello, HandshakeError> {
        match self.next(stream).await? {
            Frame::Hello(hello) => Ok(hello),
            Frame::Refuse(refusal) => Err(HandshakeError::Refused(refusal)),
            _ => Err(HandshakeError::Order),
        }
    }
    /// What the near gateway wants the stream for.
    pub async fn request(&mut self, stream: &mut (impl AsyncRead + Unpin)) -> Result<Request, HandshakeError> {
        match self.next(stream).await? {
            Frame::Start => Ok(Request::Start),
            Frame::Join { proof } => Ok(Request::Join(proof)),
            _ => Err(HandshakeError::Order),
        }
    }
    /// What the carrier goes on with.
    pub fn into_parts(self) -> (FrameReader, Vec<u8>) {
        (self.reader, self.bytes)
    }
}

/// Sends the session's own frames.
pub(crate) async fn say(stream: &mut (impl AsyncWrite + Unpin), frames: &[Frame]) -> io::Result<()> {
    let mut bytes = Vec::new();
    for frame in frames {
        frame.encode(0, &mut bytes);
    }
    stream.write_all(&bytes).await?;
    stream.flush().await
}
