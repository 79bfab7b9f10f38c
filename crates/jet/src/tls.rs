//! Mutual TLS 1.3 between gateways that know each other's keys, and what binds further streams to the first.

use crate::hint;
use crate::keys::{Fingerprint, Identity};
use crate::trust::Trusted;
use ring::hmac;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{AlwaysResolvesClientRawPublicKeys, Resumption};
use rustls::crypto::{WebPkiSupportedAlgorithms, verify_tls13_signature_with_raw_key};
use rustls::pki_types::{CertificateDer, ServerName, SubjectPublicKeyInfoDer, UnixTime};
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::server::{AlwaysResolvesServerRawPublicKeys, NoServerSessionStorage};
use rustls::{
    CertificateError, CipherSuite, ClientConfig, CommonState, ConnectionCommon, DigitallySignedStruct,
    DistinguishedName, Error, ServerConfig, SignatureScheme,
};
use std::sync::Arc;
use stripe::StreamId;

/// The protocol's name in TLS (RFC 7301).
const ALPN: &[u8] = b"trunkline-jet/1";
/// Labels of exporters.
const SESSION_LABEL: &[u8] = b"EXPORTER-trunkline-jet-session";
const JOIN_LABEL: &[u8] = b"EXPORTER-trunkline-jet-join";

/// Accepts the keys that are pinned at the moment, and no other.
#[derive(Debug)]
struct Pinned {
    trusted: Trusted,
    algorithms: WebPkiSupportedAlgorithms,
}

impl Pinned {
    fn check(&self, key: &CertificateDer<'_>) -> Result<(), Error> {
        let known = self.trusted.has(Fingerprint::of(key));
        if known { Ok(()) } else { Err(Error::InvalidCertificate(CertificateError::ApplicationVerificationFailure)) }
    }
}

/// The part that the verifiers of both ends share; they are two traits to the library.
macro_rules! judges_signatures {
    () => {
        fn verify_tls12_signature(
            &self,
            _message: &[u8],
            _cert: &CertificateDer<'_>,
            _dss: &DigitallySignedStruct,
        ) -> Result<HandshakeSignatureValid, Error> {
            Err(Error::General("TLS 1.2 is not spoken here".to_owned()))
        }
        fn verify_tls13_signature(
            &self,
            message: &[u8],
            cert: &CertificateDer<'_>,
            dss: &DigitallySignedStruct,
        ) -> Result<HandshakeSignatureValid, Error> {
            let key = SubjectPublicKeyInfoDer::from(cert.as_ref());
            verify_tls13_signature_with_raw_key(message, &key, dss, &self.algorithms)
        }
        fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
            self.algorithms.supported_schemes()
        }
        fn requires_raw_public_keys(&self) -> bool {
            true
        }
    };
}

impl ServerCertVerifier for Pinned {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        self.check(end_entity).map(|()| ServerCertVerified::assertion())
    }
    judges_signatures!();
}

impl ClientCertVerifier for Pinned {
    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        &[]
    }
    fn verify_client_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _now: UnixTime,
    ) -> Result<ClientCertVerified, Error> {
        self.check(end_entity).map(|()| ClientCertVerified::assertion())
    }
    judges_signatures!();
}

fn pinned(trusted: &Trusted) -> (Arc<rustls::crypto::CryptoProvider>, Arc<Pinned>) {
    let mut provider = rustls::crypto::ring::default_provider();
    // The library's order, but for this one: as strong as the keys that are shown (Ed25519), with fewer rounds.
    provider.cipher_suites.sort_by_key(|suite| suite.suite() != CipherSuite::TLS13_AES_128_GCM_SHA256);
    let provider = Arc::new(provider);
    let algorithms = provider.signature_verification_algorithms;
    (provider, Arc::new(Pinned { trusted: trusted.clone(), algorithms }))
}

/// TLS configuration of a near gateway. No resumption and no early data: what they carry could be replayed (P-2).
pub(crate) fn client(identity: &Identity, trusted: &Trusted) -> Result<Arc<ClientConfig>, Error> {
    let (provider, pinned) = pinned(trusted);
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&rustls::version::TLS13])?
        .dangerous()
        .with_custom_certificate_verifier(pinned)
        .with_client_cert_resolver(Arc::new(AlwaysResolvesClientRawPublicKeys::new(Arc::clone(&identity.key))));
    config.alpn_protocols = vec![ALPN.to_vec()];
    config.resumption = Resumption::disabled();
    Ok(Arc::new(config))
}

/// TLS configuration of a far gateway.
pub(crate) fn server(identity: &Identity, trusted: &Trusted) -> Result<Arc<ServerConfig>, Error> {
    let (provider, pinned) = pinned(trusted);
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&rustls::version::TLS13])?
        .with_client_cert_verifier(pinned)
        .with_cert_resolver(Arc::new(AlwaysResolvesServerRawPublicKeys::new(Arc::clone(&identity.key))));
    config.alpn_protocols = vec![ALPN.to_vec()];
    config.session_storage = Arc::new(NoServerSessionStorage {});
    config.send_tls13_tickets = 0;
    Ok(Arc::new(config))
}

/// Whose key the other end has shown.
pub(crate) fn peer(state: &CommonState) -> Option<Fingerprint> {
    state.peer_certificates()?.first().map(|key| Fingerprint::of(key))
}

/// The name that a near gateway gives in TLS: a hint of who it is.
pub(crate) fn name(own: Fingerprint) -> Option<ServerName<'static>> {
    ServerName::try_from(hint::of(own)).ok()
}

/// Whether both ends speak this protocol (RFC 7301). TLS goes on if one end names no protocol at all.
pub(crate) fn speaks(state: &CommonState) -> bool {
    state.alpn_protocol() == Some(ALPN)
}

/// An exporter of a TLS connection (RFC 8446, section 7.5): a value that both its ends know, and nobody else.
fn export<D>(connection: &ConnectionCommon<D>, label: &[u8], context: &[u8]) -> Result<[u8; 32], Error> {
    connection.export_keying_material([0; 32], label, Some(context))
}

/// The secret of a session's first stream, which both ends keep (P-7).
pub(crate) struct Secret(hmac::Key);

impl Secret {
    /// Out of the first stream's TLS connection.
    pub fn of<D>(first: &ConnectionCommon<D>, session: &[u8; 16]) -> Result<Self, Error> {
        Ok(Self(hmac::Key::new(hmac::HMAC_SHA256, &export(first, SESSION_LABEL, session)?)))
    }
    /// The proof that a stream belongs to the session. It covers the exporter of the stream's own TLS connection, so it
    /// is of no use on another (P-8).
    pub fn proof<D>(&self, connection: &ConnectionCommon<D>, stream: StreamId) -> Result<[u8; 32], Error> {
        let message = export(connection, JOIN_LABEL, &stream.0.to_be_bytes())?;
        let mut proof = [0; 32];
        proof.copy_from_slice(hmac::sign(&self.0, &message).as_ref());
        Ok(proof)
    }
    /// Whether a proof is right; in constant time.
    pub fn accepts<D>(&self, connection: &ConnectionCommon<D>, stream: StreamId, proof: &[u8; 32]) -> bool {
        let message = export(connection, JOIN_LABEL, &stream.0.to_be_bytes());
        message.is_ok_and(|message| hmac::verify(&self.0, &message, proof).is_ok())
    }
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Secret(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustls::{ClientConnection, ServerConnection};
    use std::io::{Read, Write};

    fn pin(identity: &Identity) -> Trusted {
        let mut peers = crate::keys::Peers::default();
        peers.pin(identity.fingerprint(), "peer").expect("a name");
        Trusted::new(peers)
    }
    /// Two ends of a TLS connection, shaken hands in memory.
    fn connect(
        near: &Identity,
        far: &Identity,
        trusts: [&Identity; 2],
    ) -> Result<(ClientConnection, ServerConnection), Error> {
        let name = ServerName::try_from("trunkline-jet").expect("a name");
        let mut client = ClientConnection::new(client(near, &pin(trusts[0]))?, name)?;
        let mut server = ServerConnection::new(server(far, &pin(trusts[1]))?)?;
        while client.is_handshaking() || server.is_handshaking() {
            let mut bytes = Vec::new();
            while client.wants_write() {
                client.write_tls(&mut bytes).expect("memory");
            }
            let mut input = bytes.as_slice();
            while !input.is_empty() {
                server.read_tls(&mut input).expect("memory");
                server.process_new_packets()?;
            }
            let mut bytes = Vec::new();
            while server.wants_write() {
                server.write_tls(&mut bytes).expect("memory");
            }
            let mut input = bytes.as_slice();
            while !input.is_empty() {
                client.read_tls(&mut input).expect("memory");
                client.process_new_packets()?;
            }
        }
        Ok((client, server))
    }

    #[test]
    fn only_pinned_keys_come_together() {
        let keys: [Identity; 3] = std::array::from_fn(|_| Identity::generate().expect("a key"));
        let [near, far, other] = &keys;
        let (client, server) = connect(near, far, [far, near]).expect("they know each other");
        assert_eq!(peer(&server), Some(near.fingerprint()));
        assert_eq!(peer(&client), Some(far.fingerprint()));
        assert_eq!(client.protocol_version(), Some(rustls::ProtocolVersion::TLSv1_3));
        let suite = client.negotiated_cipher_suite().map(|suite| suite.suite());
        assert_eq!(suite, Some(CipherSuite::TLS13_AES_128_GCM_SHA256));
        assert!(connect(near, far, [other, near]).is_err() && connect(near, far, [far, other]).is_err());
    }

    #[test]
    fn a_proof_is_of_use_on_its_own_connection_alone() {
        let (near, far) = (Identity::generate().expect("a key"), Identity::generate().expect("a key"));
        let pair = || connect(&near, &far, [&far, &near]).expect("they know each other");
        let session = [7; 16];
        let (first_near, first_far) = pair();
        let near_secret = Secret::of(&*first_near, &session).expect("an exporter");
        let far_secret = Secret::of(&*first_far, &session).expect("an exporter");
        let (second_near, second_far) = pair();
        let proof = near_secret.proof(&*second_near, StreamId(2)).expect("an exporter");
        assert!(far_secret.accepts(&*second_far, StreamId(2), &proof));
        // Replayed on another connection; for another stream; by one who was at another session's beginning; with a bit
        // changed.
        let (third_near, third_far) = pair();
        assert!(!far_secret.accepts(&*third_far, StreamId(2), &proof));
        assert!(!far_secret.accepts(&*second_far, StreamId(3), &proof));
        let others = Secret::of(&*third_near, &session).expect("an exporter");
        let forged = others.proof(&*second_near, StreamId(2)).expect("an exporter");
        assert!(!far_secret.accepts(&*second_far, StreamId(2), &forged));
        let other_session = Secret::of(&*first_near, &[8; 16]).expect("an exporter");
        let forged = other_session.proof(&*second_near, StreamId(2)).expect("an exporter");
        assert!(!far_secret.accepts(&*second_far, StreamId(2), &forged));
        let mut changed = proof;
        changed[31] ^= 1;
        assert!(!far_secret.accepts(&*second_far, StreamId(2), &changed));
    }

    #[test]
    fn what_is_said_is_not_read_by_others() {
        let (near, far) = (Identity::generate().expect("a key"), Identity::generate().expect("a key"));
        let (mut client, mut server) = connect(&near, &far, [&far, &near]).expect("they know each other");
        client.writer().write_all(b"SELECT secret").expect("memory");
        let mut bytes = Vec::new();
        client.write_tls(&mut bytes).expect("memory");
        assert!(!bytes.windows(6).any(|window| window == b"secret"));
        server.read_tls(&mut bytes.as_slice()).expect("memory");
        server.process_new_packets().expect("whole");
        let mut received = [0; 13];
        server.reader().read_exact(&mut received).expect("whole");
        assert_eq!(&received, b"SELECT secret");
    }
}
