//! Lengths of messages on connections to the store: those of HTTP with the fields that S3A and S3 send, rounded.

use units::Bytes;

/// A request's header, signed (AWS Signature Version 4), with the end of the client's handshake if it is the first.
pub(super) const HEAD: Bytes = Bytes::new(900);
/// `100 Continue`.
pub(super) const CONTINUE: Bytes = Bytes::new(25);
/// The header of an answer.
pub(super) const ANSWER: Bytes = Bytes::new(400);
/// `503 Slow Down`, with its error in XML.
pub(super) const SLOW_DOWN: Bytes = Bytes::new(700);
/// TLS 1.3: the client's hello; the server's, with a chain of certificates.
pub(super) const CLIENT_HELLO: Bytes = Bytes::new(500);
pub(super) const SERVER_HELLO: Bytes = Bytes::new(4_500);
/// Grain of bodies.
pub(super) const PIECE: Bytes = Bytes::new(128 << 10);
/// What a sender hands to its connection ahead of acknowledgements.
pub(super) const SEND_BUFFER: Bytes = Bytes::from_mib(4);
/// How far the store sends ahead of a reader: the client's receive buffer.
pub(super) const WINDOW: Bytes = Bytes::from_mib(1);
/// Bodies of listings, of a small file of a committer, of its `_SUCCESS`, of a multipart upload's beginning and end: by
/// the testbed's logs of S3A of Hadoop 3.5.0 on S3Proxy with 2 files of output, 0.4 to 0.7 KB, 2.3 (`.pendingset`) to
/// 3.9 KB (`.pending`), 9.3 (`directory`) to 12.0 KB (`magic`), 0.1 to 0.4 KB.
pub(super) const LISTING: Bytes = Bytes::new(1_000);
pub(super) const MANIFEST: Bytes = Bytes::new(4_000);
pub(super) const SUMMARY: Bytes = Bytes::new(10_000);
pub(super) const XML: Bytes = Bytes::new(500);
