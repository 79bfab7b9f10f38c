//! The beginning of a stream: HELLO both ways, and what makes it a session's first stream or another one.

use std::io;
use std::time::Duration;
use stripe::wire::{Frame, FrameReader, Hello, Item, Refusal, WireError};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

/// Time for a peer's TLS handshake and HELLO.
pub(crate) const PATIENCE: Duration = Duration::from_secs(10);

/// Errors of a handshake.
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
    #[error("the peer does not say in TLS that it speaks trunkline-jet/1 (ALPN)")]
    Protocol,
    #[error("the peer refuses the stream: {0}")]
    Refused(Refusal),
    #[error("it is refused: {0}")]
    Dismissed(Refusal),
    #[error("the far gateway does not know this gateway's key, or no more")]
    Unpinned,
    #[error("no answer within {} s", PATIENCE.as_secs())]
    Silence,
    #[error("too many handshakes are under way: most are from there, or it was the slowest")]
    NoPlace,
}

impl HandshakeError {
    /// The far gateway's TLS has refused this gateway's key. It does so behind its own handshake (RFC 8446, section
    /// 4.4.2.4), so nobody else can have said it.
    pub fn unpinned(self) -> Self {
        let refused = rustls::Error::AlertReceived(rustls::AlertDescription::AccessDenied);
        let inner = match &self {
            Self::Io(error) => error.get_ref(),
            _ => None,
        };
        let is_refused = inner.and_then(|inner| inner.downcast_ref::<rustls::Error>()) == Some(&refused);
        if is_refused { Self::Unpinned } else { self }
    }
}

/// A near gateway's request: a new session, or another stream of one.
#[derive(Debug)]
pub(crate) enum Request {
    /// The first stream of a session.
    Start,
    /// Another stream of a session, with its proof.
    Join([u8; 32]),
}

/// Reads the beginning of a stream frame by frame; what follows is kept for the stream's task.
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
    /// Reads what the near gateway wants the stream for.
    pub async fn request(&mut self, stream: &mut (impl AsyncRead + Unpin)) -> Result<Request, HandshakeError> {
        match self.next(stream).await? {
            Frame::Start => Ok(Request::Start),
            Frame::Join { proof } => Ok(Request::Join(proof)),
            _ => Err(HandshakeError::Order),
        }
    }
    /// What the stream's task continues with: the reader, and bytes read beyond the request.
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
