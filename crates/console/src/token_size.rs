//! How long an access token of a client would be: an estimate, without a signature and without a
//! token.
//!
//! The claims are written by the function that writes every token's. What differs from one token to
//! the next (times, ids) has one length. What a request adds (a bound key, an actor, single claims)
//! is not in it.

use signet_directory::User;
use signet_oauth::client::Client;
use signet_oauth::id::GrantId;
use signet_oauth::issued::format::{AccessTokenFormat, Stamp, write_access_token};
use signet_oauth::issued::session::UserClaims;
use signet_oauth::people::claim_rules::Target;
use signet_oauth::people::mapped_claims::{About, Mapped, Room, mapped};
use signet_oauth::token::decision::AccessToken;
use signet_oauth::token::target::audience_of;
use signet_realm::state::Snapshot;

/// From this length on, proxies and applications begin to refuse tokens, bytes.
pub(crate) const LARGE: usize = 4096;
/// A header with the longest names that there are, before base64url: `alg`, `typ`, `kid`.
const HEADER: usize = 82;

/// Characters of base64url.
const fn encoded(bytes: usize) -> usize {
    (bytes * 4).div_ceil(3)
}

/// The length of an access token for this person, or of the client's own, with every scope that the
/// client may ask for, in bytes. As a JWT: a compact token is shorter.
pub(crate) fn estimate(
    snapshot: &Snapshot,
    client: &Client,
    person: Option<&User>,
    now: u64,
) -> usize {
    let settings = &snapshot.settings;
    let audience = audience_of(settings, &client.resources);
    let algorithm = client.access_token_signed_response_alg;
    let algorithm = algorithm.unwrap_or(settings.access_token_alg);
    // The key that would sign it says how long its signatures are.
    let signer = snapshot.keys.signer(algorithm);
    let signature = signer.map_or(0, |signer| signer.key().signature_len());
    let claims: Option<UserClaims> = person.map(User::claims);
    let token = AccessToken {
        client_id: client.client_id.clone(),
        sub: claims
            .as_ref()
            .map_or_else(|| client.client_id.clone(), |claims| claims.sub.clone()),
        audience: audience.clone(),
        scope: client.scope.clone(),
        lifetime: settings.access_token_lifetime,
        format: AccessTokenFormat::default(),
        algorithm,
        grant_id: person.map(|_| GrantId::new([0; 16])),
        sid: person.map(|_| "0".repeat(22)),
        auth_time: person.map(|_| now),
        acr: person.map(|_| "urn:signet:acr:two-factors".to_owned()),
        amr: person.map_or_else(Vec::new, |_| vec!["pwd".to_owned(), "otp".to_owned()]),
        confirmation: None,
        act: None,
        subject_jtis: Vec::new(),
        claims: None,
        chain: None,
    };
    let about = About {
        client: Some(client),
        scope: &token.scope,
        audience: &audience,
        single: &[],
    };
    let said = claims.as_ref().map_or_else(Mapped::default, |claims| {
        mapped(
            &snapshot.registry,
            about,
            Target::AccessToken,
            claims,
            Room::JSON,
        )
    });
    let stamp = Stamp {
        issuer: &settings.issuer,
        id: Stamp::id(0, [0; 10]),
        now,
        mapped: &said,
    };
    let mut payload = Vec::with_capacity(1024);
    write_access_token(&token, &stamp, &mut payload);
    encoded(HEADER) + 1 + encoded(payload.len()) + 1 + encoded(signature)
}
