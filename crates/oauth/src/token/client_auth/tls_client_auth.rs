//! `tls_client_auth`: a certificate of an authority that the operator trusts, with the registered
//! subject (RFC 8705 section 2.1).
use super::{Attempt, Proof, WRONG_METHOD};
use crate::client::TlsClientAuth;
use crate::token::decision::SingleUse;

pub(super) fn verify(attempt: &Attempt<'_>) -> Result<Option<SingleUse>, &'static str> {
    let Proof::Nothing = attempt.proof else {
        return Err(WRONG_METHOD);
    };
    let peer = attempt.certificate.ok_or("no client certificate")?;
    // Without a chain, the subject is only what the certificate's maker wrote.
    if !peer.trusted {
        return Err("the client certificate's chain is not trusted");
    }
    let certificate = peer.certificate;
    let now = attempt.context.now();
    if now < certificate.not_before || now > certificate.not_after {
        return Err("the client certificate is not valid now");
    }
    let found = match attempt
        .client
        .tls_client_auth
        .as_ref()
        .ok_or("no certificate subject is registered")?
    {
        TlsClientAuth::SubjectDn(dn) => certificate.subject_dn == *dn,
        TlsClientAuth::SanDns(name) => certificate
            .san_dns
            .iter()
            .any(|own| own.eq_ignore_ascii_case(name)),
        TlsClientAuth::SanUri(uri) => certificate.san_uri.contains(uri),
        TlsClientAuth::SanIp(address) => certificate.san_ip.contains(address),
        TlsClientAuth::SanEmail(address) => certificate.san_email.contains(address),
    };
    match found {
        true => Ok(None),
        false => Err("the client certificate has another subject"),
    }
}
