//! One end of the protocol, written after docs/reference/protocol.md and not after the code: it does the handshake as
//! it should, and then whatever a test likes.

use jet::keys::{Fingerprint, Peers};
use ring::rand::SystemRandom;
use ring::{hmac, signature::Ed25519KeyPair};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, WebPkiSupportedAlgorithms, verify_tls13_signature_with_raw_key};
use rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer, ServerName, SubjectPublicKeyInfoDer, UnixTime};
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::sign::CertifiedKey;
use rustls::{ClientConfig, DigitallySignedStruct, DistinguishedName, Error, ServerConfig, SignatureScheme, version};
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::{TlsAcceptor, TlsConnector, TlsStream};

/// P-1.
const ALPN: &[u8] = b"trunkline-jet/1";

pub const HELLO: u8 = 1;
pub const DATA: u8 = 2;
pub const ACK: u8 = 3;
pub const RESET: u8 = 4;
pub const GONE: u8 = 6;
pub const START: u8 = 7;
pub const JOIN: u8 = 8;
pub const REFUSE: u8 = 9;
pub const OPEN: u8 = 10;
pub const OPENED: u8 = 11;
pub const ALLOW: u8 = 13;
pub const PING: u8 = 15;

/// A key, as a gateway has one.
#[derive(Clone)]
pub struct Key(Arc<CertifiedKey>);

impl Key {
    pub fn new() -> Self {
        let pkcs8 = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new()).expect("randomness");
        let signer =
            rustls::crypto::ring::sign::any_eddsa_type(&PrivatePkcs8KeyDer::from(pkcs8.as_ref())).expect("a key");
        let public = signer.public_key().expect("Ed25519 has one").to_vec();
        Self(Arc::new(CertifiedKey::new(vec![CertificateDer::from(public)], signer)))
    }
    pub fn fingerprint(&self) -> Fingerprint {
        Fingerprint::of(&self.0.cert[0])
    }
    pub fn pinned(&self, name: &str, peers: &mut Peers) {
        peers.pin(self.fingerprint(), name).expect("a name");
    }
}

/// Takes any key.
#[derive(Debug)]
struct Anyone(WebPkiSupportedAlgorithms);

impl Anyone {
    fn check(
        &self,
        message: &[u8],
        key: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature_with_raw_key(message, &SubjectPublicKeyInfoDer::from(key.as_ref()), signature, &self.0)
    }
}

macro_rules! signatures {
    () => {
        fn verify_tls12_signature(
            &self,
            _: &[u8],
            _: &CertificateDer<'_>,
            _: &DigitallySignedStruct,
        ) -> Result<HandshakeSignatureValid, Error> {
            Err(Error::General("TLS 1.3 alone".to_owned()))
        }
        fn verify_tls13_signature(
            &self,
            message: &[u8],
            key: &CertificateDer<'_>,
            signature: &DigitallySignedStruct,
        ) -> Result<HandshakeSignatureValid, Error> {
            self.check(message, key, signature)
        }
        fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
            self.0.supported_schemes()
        }
        fn requires_raw_public_keys(&self) -> bool {
            true
        }
    };
}

impl ServerCertVerifier for Anyone {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        Ok(ServerCertVerified::assertion())
    }
    signatures!();
}

impl ClientCertVerifier for Anyone {
    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        &[]
    }
    fn verify_client_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: UnixTime,
    ) -> Result<ClientCertVerified, Error> {
        Ok(ClientCertVerified::assertion())
    }
    signatures!();
}

fn provider() -> (Arc<CryptoProvider>, Arc<Anyone>) {
    let provider = rustls::crypto::ring::default_provider();
    let anyone = Anyone(provider.signature_verification_algorithms);
    (Arc::new(provider), Arc::new(anyone))
}

/// A stream of the protocol: TLS with keys shown both ways.
pub struct Peer {
    pub tls: TlsStream<TcpStream>,
    heard: Vec<u8>,
}

/// A frame that was heard.
#[derive(Debug, PartialEq, Eq)]
pub struct Heard {
    pub kind: u8,
    pub connection: u32,
    pub offset: u64,
    pub body: Vec<u8>,
}

/// A frame.
pub fn frame(kind: u8, connection: u32, offset: u64, body: &[u8]) -> Vec<u8> {
    let length = body.len() as u32;
    [&[kind, 0, 1, 0][..], &length.to_be_bytes(), &connection.to_be_bytes(), &offset.to_be_bytes(), body].concat()
}
/// P-3: session, initial credit, longest payload, most streams.
pub fn hello(session: [u8; 16], stream: u32, credit: u64, payload: u32, streams: u16) -> Vec<u8> {
    let body = [&session[..], &credit.to_be_bytes(), &payload.to_be_bytes(), &streams.to_be_bytes()].concat();
    frame(HELLO, 0, u64::from(stream), &body)
}
/// A HELLO as an honest end says it.
pub fn usual_hello(session: [u8; 16], stream: u32) -> Vec<u8> {
    hello(session, stream, 1 << 20, 1 << 18, 128)
}
/// P-11: OPEN to an IPv4 address.
pub fn open(connection: u32, to: SocketAddr) -> Vec<u8> {
    let SocketAddr::V4(to) = to else { panic!("IPv4") };
    frame(OPEN, connection, 0, &[&[4][..], &to.port().to_be_bytes(), &to.ip().octets()].concat())
}

impl Peer {
    /// A client with this key; whom it reaches it does not ask.
    pub async fn connect(to: SocketAddr, key: &Key) -> io::Result<Self> {
        Self::connect_speaking(to, key, &[ALPN]).await
    }
    /// A client that names these protocols (RFC 7301).
    pub async fn connect_speaking(to: SocketAddr, key: &Key, protocols: &[&[u8]]) -> io::Result<Self> {
        let (provider, anyone) = provider();
        let resolver = rustls::client::AlwaysResolvesClientRawPublicKeys::new(Arc::clone(&key.0));
        let mut config = ClientConfig::builder_with_provider(provider)
            .with_protocol_versions(&[&version::TLS13])
            .expect("TLS 1.3")
            .dangerous()
            .with_custom_certificate_verifier(anyone)
            .with_client_cert_resolver(Arc::new(resolver));
        config.alpn_protocols = protocols.iter().map(|name| name.to_vec()).collect();
        let name = ServerName::try_from("hostile.example").expect("a name");
        let tls = TlsConnector::from(Arc::new(config)).connect(name, TcpStream::connect(to).await?).await?;
        Ok(Self { tls: tls.into(), heard: Vec::new() })
    }
    /// A server with this key, for one stream.
    pub async fn accept(stream: TcpStream, key: &Key) -> io::Result<Self> {
        Self::accept_speaking(stream, key, &[ALPN]).await
    }
    /// A server that names these protocols.
    pub async fn accept_speaking(stream: TcpStream, key: &Key, protocols: &[&[u8]]) -> io::Result<Self> {
        let (provider, anyone) = provider();
        let resolver = rustls::server::AlwaysResolvesServerRawPublicKeys::new(Arc::clone(&key.0));
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_protocol_versions(&[&version::TLS13])
            .expect("TLS 1.3")
            .with_client_cert_verifier(anyone)
            .with_cert_resolver(Arc::new(resolver));
        config.alpn_protocols = protocols.iter().map(|name| name.to_vec()).collect();
        let tls = TlsAcceptor::from(Arc::new(config)).accept(stream).await?;
        Ok(Self { tls: tls.into(), heard: Vec::new() })
    }
    /// The first stream of a session, and the session's secret (P-7).
    pub async fn start(to: SocketAddr, key: &Key, session: [u8; 16]) -> io::Result<(Self, hmac::Key)> {
        let mut peer = Self::connect(to, key).await?;
        let secret = hmac::Key::new(hmac::HMAC_SHA256, &peer.export(b"EXPORTER-trunkline-jet-session", &session));
        peer.say(&[usual_hello(session, 1), frame(START, 0, 0, &[])].concat()).await?;
        let answer = peer.hear().await?;
        if answer.kind == HELLO { Ok((peer, secret)) } else { Err(io::Error::other(format!("{answer:?}"))) }
    }
    /// P-8: what proves that a stream joins the session of a secret.
    pub fn proof(&self, secret: &hmac::Key, stream: u32) -> Vec<u8> {
        let own = self.export(b"EXPORTER-trunkline-jet-join", &stream.to_be_bytes());
        hmac::sign(secret, &own).as_ref().to_vec()
    }
    fn export(&self, label: &[u8], context: &[u8]) -> [u8; 32] {
        let exported = match &self.tls {
            TlsStream::Client(tls) => tls.get_ref().1.export_keying_material([0; 32], label, Some(context)),
            TlsStream::Server(tls) => tls.get_ref().1.export_keying_material([0; 32], label, Some(context)),
        };
        exported.expect("the handshake is over")
    }
    pub async fn say(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.tls.write_all(bytes).await?;
        self.tls.flush().await
    }
    /// Renews the keys of what it says from now on (KeyUpdate).
    pub async fn renew_keys(&mut self) -> io::Result<()> {
        match &mut self.tls {
            TlsStream::Client(tls) => tls.get_mut().1.refresh_traffic_keys(),
            TlsStream::Server(tls) => tls.get_mut().1.refresh_traffic_keys(),
        }
        .expect("the handshake is over");
        self.tls.flush().await
    }
    /// Renews the keys and says nothing, until the other end has had enough.
    pub async fn renew_keys_endlessly(&mut self) {
        for _ in 0..100 {
            if self.renew_keys().await.is_err() {
                break;
            }
        }
        assert!(self.is_cut_off().await, "keys may be renewed without end");
    }
    /// Asks to join, and gives the answer.
    pub async fn join(&mut self, session: [u8; 16], stream: u32, proof: &[u8]) -> Heard {
        self.say(&[usual_hello(session, stream), frame(JOIN, 0, 0, proof)].concat()).await.expect("TLS is up");
        self.hear().await.expect("an answer")
    }
    /// The next frame.
    pub async fn hear(&mut self) -> io::Result<Heard> {
        loop {
            if let Some((header, rest)) = self.heard.split_first_chunk::<20>() {
                let number =
                    |at: usize| u32::from_be_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]]);
                let length = number(4) as usize;
                if rest.len() >= length {
                    let heard = Heard {
                        kind: header[0],
                        connection: number(8),
                        offset: u64::from(number(12)) << 32 | u64::from(number(16)),
                        body: rest[..length].to_vec(),
                    };
                    self.heard.drain(..20 + length);
                    return Ok(heard);
                }
            }
            let mut chunk = vec![0; 1 << 16];
            let count = timeout(Duration::from_secs(20), self.tls.read(&mut chunk)).await??;
            if count == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            self.heard.extend(&chunk[..count]);
        }
    }
    /// The next frame of a kind.
    pub async fn hear_kind(&mut self, kind: u8) -> io::Result<Heard> {
        loop {
            let heard = self.hear().await?;
            if heard.kind == kind {
                return Ok(heard);
            }
        }
    }
    /// Until the other end has had enough: all that it still says, and then the end or an error.
    pub async fn is_cut_off(&mut self) -> bool {
        timeout(Duration::from_secs(10), async { while self.hear().await.is_ok() {} }).await.is_ok()
    }
}
