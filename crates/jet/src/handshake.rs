//! The beginning of a stream: HELLO both ways, and what makes it a session's first stream or another one.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use stripe::wire::{Frame, FrameReader, Hello, Item, Refusal, WireError};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, ReadBuf};
use tokio::net::TcpStream;

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

/// A socket during the TLS handshake. The TLS library reads what there is and opens all whole records, but keeps the
/// beginning of an incomplete one to itself; so a copy is kept here for the record layer that follows.
pub(crate) struct Shaking {
    socket: TcpStream,
    begun: Vec<u8>,
}

impl Shaking {
    pub fn new(socket: TcpStream) -> Self {
        Self { socket, begun: Vec::new() }
    }
    /// The socket.
    pub fn socket(&self) -> &TcpStream {
        &self.socket
    }
    /// The socket, and the beginning of an incomplete record.
    pub fn into_parts(self) -> (TcpStream, Vec<u8>) {
        (self.socket, self.begun)
    }
    fn note(&mut self, bytes: &[u8]) {
        self.begun.extend_from_slice(bytes);
        let mut whole = 0;
        // Type, version and length (RFC 8446, section 5.1).
        while let Some([_, _, _, high, low]) = self.begun[whole..].first_chunk() {
            let end = whole + 5 + usize::from(u16::from_be_bytes([*high, *low]));
            if end > self.begun.len() {
                break;
            }
            whole = end;
        }
        self.begun.drain(..whole);
    }
}

impl AsyncRead for Shaking {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.socket).poll_read(cx, buffer))?;
        self.note(&buffer.filled()[before..]);
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Shaking {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.socket).poll_write(cx, bytes)
    }
    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.socket).poll_write_vectored(cx, slices)
    }
    fn is_write_vectored(&self) -> bool {
        self.socket.is_write_vectored()
    }
    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_flush(cx)
    }
    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_shutdown(cx)
    }
}
