//! `self_signed_tls_client_auth`: a certificate that the client registered in its `jwks` (RFC 8705
//! section 2.2). Its issuer and subject mean nothing; the key does, and the handshake proved it.
use super::{Attempt, ClientKeys, Proof, WRONG_METHOD};
use crate::token::decision::SingleUse;

pub(super) fn verify(attempt: &Attempt<'_>) -> Result<Option<SingleUse>, &'static str> {
    let Proof::Nothing = attempt.proof else {
        return Err(WRONG_METHOD);
    };
    let certificate = attempt
        .certificate
        .ok_or("no client certificate")?
        .certificate;
    let inline;
    let keys = match (attempt.keys, &attempt.client.jwks) {
        (Some(keys), _) => keys,
        (None, Some(jwks)) => {
            inline = ClientKeys::from_jwks(jwks);
            &inline
        }
        (None, None) => return Err("no keys of the client are known"),
    };
    match keys.has_certificate(certificate) {
        true => Ok(None),
        false => Err("the client certificate is not registered"),
    }
}
