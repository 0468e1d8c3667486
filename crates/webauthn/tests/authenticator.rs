//! An authenticator in software, and the browser around it: for tests, of which those of the server
//! include this file too. Everything that it says can be made wrong.
#![allow(dead_code)]

use signet_cbor::Encoder;
use signet_crypto::hash::sha256;
use signet_crypto::{Algorithm, PublicKey, SigningKey};
use signet_encoding::base64url;

/// One credential in it.
pub(crate) struct Held {
    pub(crate) id: Vec<u8>,
    pub(crate) user_handle: Vec<u8>,
    pub(crate) sign_count: u32,
    key: SigningKey,
}

/// See the module. The fields are what the next answers say.
pub(crate) struct Authenticator {
    pub(crate) origin: String,
    pub(crate) rp_id: String,
    pub(crate) algorithm: Algorithm,
    pub(crate) aaguid: [u8; 16],
    pub(crate) present: bool,
    pub(crate) verified: bool,
    pub(crate) backup_eligible: bool,
    pub(crate) backed_up: bool,
    /// Whether signatures are counted.
    pub(crate) counts: bool,
    pub(crate) cross_origin: bool,
    /// In place of the ceremony's own.
    pub(crate) client_type: Option<&'static str>,
    /// `packed` with the credential's own key in place of `none`.
    pub(crate) self_attestation: bool,
    pub(crate) held: Vec<Held>,
}

impl Authenticator {
    /// A phone at the page of `origin`, whose credentials are synchronised and verified by a PIN.
    pub(crate) fn new(origin: &str, rp_id: &str) -> Authenticator {
        Authenticator {
            origin: origin.to_owned(),
            rp_id: rp_id.to_owned(),
            algorithm: Algorithm::Es256,
            aaguid: [7; 16],
            present: true,
            verified: true,
            backup_eligible: true,
            backed_up: true,
            counts: true,
            cross_origin: false,
            client_type: None,
            self_attestation: false,
            held: Vec::new(),
        }
    }

    /// A key on a chain: bound to its hardware.
    pub(crate) fn security_key(origin: &str, rp_id: &str) -> Authenticator {
        Authenticator {
            backup_eligible: false,
            backed_up: false,
            ..Authenticator::new(origin, rp_id)
        }
    }

    fn client_data(&self, ceremony: &str, challenge: &[u8]) -> Vec<u8> {
        format!(
            r#"{{"type":"{}","challenge":"{}","origin":"{}","crossOrigin":{},"other_keys_can_be_added_here":"yes"}}"#,
            self.client_type.unwrap_or(ceremony),
            base64url::encode(challenge),
            self.origin,
            self.cross_origin,
        )
        .into_bytes()
    }

    fn data(&self, sign_count: u32, attested: &[u8]) -> Vec<u8> {
        let flags = [
            self.present,
            false,
            self.verified,
            self.backup_eligible,
            self.backed_up,
            false,
            !attested.is_empty(),
        ];
        let flags = flags
            .iter()
            .enumerate()
            .fold(0_u8, |byte, (at, set)| byte | u8::from(*set) << at);
        let mut data = sha256(self.rp_id.as_bytes()).to_vec();
        data.push(flags);
        data.extend(sign_count.to_be_bytes());
        data.extend(attested);
        data
    }

    /// `navigator.credentials.create()`: a new credential, as the browser's JSON.
    pub(crate) fn create(&mut self, challenge: &[u8], user_handle: &[u8]) -> String {
        let key = SigningKey::generate(self.algorithm).expect("a key");
        let id = signet_crypto::random::bytes::<16>().to_vec();
        let mut attested = self.aaguid.to_vec();
        attested.extend([0, 16]);
        attested.extend(&id);
        attested.extend(cose(&key));
        let data = self.data(0, &attested);
        let client_data = self.client_data("webauthn.create", challenge);
        let mut object = Encoder::new();
        object.map(3).text("fmt");
        if self.self_attestation {
            let signed = [&data[..], &sha256(&client_data)].concat();
            object.text("packed").text("attStmt").map(2);
            object.text("alg").int(number(self.algorithm));
            object.text("sig").bytes(&sign(&key, &signed));
        } else {
            object.text("none").text("attStmt").map(0);
        }
        object.text("authData").bytes(&data);
        self.held.push(Held {
            id: id.clone(),
            user_handle: user_handle.to_vec(),
            sign_count: 0,
            key,
        });
        format!(
            r#"{{"id":"{id}","rawId":"{id}","type":"public-key","authenticatorAttachment":"platform","response":{{"clientDataJSON":"{}","attestationObject":"{}","transports":["internal","hybrid"]}},"clientExtensionResults":{{"credProps":{{"rk":true}}}}}}"#,
            base64url::encode(&client_data),
            base64url::encode(&object.finish()),
            id = base64url::encode(&id),
        )
    }

    /// `navigator.credentials.get()` with the latest credential, as the browser's JSON.
    pub(crate) fn get(&mut self, challenge: &[u8]) -> String {
        let at = self.held.len() - 1;
        self.get_with(at, challenge)
    }

    /// The same with one of them.
    pub(crate) fn get_with(&mut self, at: usize, challenge: &[u8]) -> String {
        self.held[at].sign_count += u32::from(self.counts);
        let data = self.data(self.held[at].sign_count, &[]);
        let client_data = self.client_data("webauthn.get", challenge);
        let signed = [&data[..], &sha256(&client_data)].concat();
        let held = &self.held[at];
        format!(
            r#"{{"id":"{id}","rawId":"{id}","type":"public-key","response":{{"clientDataJSON":"{}","authenticatorData":"{}","signature":"{}","userHandle":"{}"}},"clientExtensionResults":{{}}}}"#,
            base64url::encode(&client_data),
            base64url::encode(&data),
            base64url::encode(&sign(&held.key, &signed)),
            base64url::encode(&held.user_handle),
            id = base64url::encode(&held.id),
        )
    }
}

/// The COSE number of an algorithm.
pub(crate) fn number(algorithm: Algorithm) -> i64 {
    match algorithm {
        Algorithm::Es256 => -7,
        Algorithm::EdDsa => -8,
        Algorithm::Rs256 => -257,
        Algorithm::MlDsa44 => -48,
        Algorithm::MlDsa65 => -49,
        Algorithm::MlDsa87 => -50,
        other => panic!("{other:?} is no algorithm of an authenticator"),
    }
}

/// The COSE form of a public key.
pub(crate) fn cose(key: &SigningKey) -> Vec<u8> {
    let alg = number(key.algorithm());
    let mut out = Encoder::new();
    match key.public().expect("a public key") {
        PublicKey::P256 { x, y } => {
            out.map(5).int(1).int(2).int(3).int(alg).int(-1).int(1);
            out.int(-2).bytes(x).int(-3).bytes(y);
        }
        PublicKey::Ed25519 { x } => {
            out.map(4).int(1).int(1).int(3).int(alg).int(-1).int(6);
            out.int(-2).bytes(x);
        }
        PublicKey::Rsa { n, e } => {
            out.map(4).int(1).int(3).int(3).int(alg);
            out.int(-1).bytes(n).int(-2).bytes(e);
        }
        PublicKey::MlDsa { public, .. } => {
            out.map(3)
                .int(1)
                .int(7)
                .int(3)
                .int(alg)
                .int(-1)
                .bytes(public);
        }
        other => panic!("{other:?} is no key of an authenticator"),
    }
    out.finish()
}

/// A signature as authenticators write it.
fn sign(key: &SigningKey, message: &[u8]) -> Vec<u8> {
    let mut fixed = Vec::new();
    key.sign_into(message, &mut fixed).expect("a signature");
    match key.algorithm() {
        Algorithm::Es256 => {
            let body = [integer(&fixed[..32]), integer(&fixed[32..])].concat();
            [&[0x30, body.len() as u8], &body[..]].concat()
        }
        _ => fixed,
    }
}

fn integer(number: &[u8]) -> Vec<u8> {
    let zeros = number.iter().take_while(|byte| **byte == 0).count();
    let number = &number[zeros..];
    let pad = usize::from(number[0] >= 0x80);
    let mut out = vec![2, (number.len() + pad) as u8];
    out.extend(std::iter::repeat_n(0, pad));
    out.extend(number);
    out
}
