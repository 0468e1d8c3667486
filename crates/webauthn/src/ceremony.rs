//! The two ceremonies: section 7.1 makes a credential, section 7.2 uses one.

use signet_crypto::hash::sha256;

use crate::attestation::{Attestation, AttestationObject};
use crate::authenticator_data::AuthenticatorData;
use crate::client_data::{self, Ceremony};
use crate::cose_key::CoseKey;
use crate::error::{Error, Result, ensure};
use crate::message::{Assertion, Registration};
use crate::{CHALLENGE_LEN, RelyingParty};

/// A credential that was made: what is kept of it (section 4, "credential record").
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NewCredential {
    /// Its id.
    pub id: Vec<u8>,
    /// Its public key, as COSE.
    pub key: Vec<u8>,
    /// How often it has signed.
    pub sign_count: u32,
    /// The model of its authenticator; zeros: it does not say.
    pub aaguid: [u8; 16],
    /// Whether the authenticator verified its user.
    pub user_verified: bool,
    /// Whether it may be on several devices.
    pub backup_eligible: bool,
    /// Whether it is.
    pub backed_up: bool,
    /// How its authenticator is reached.
    pub transports: Vec<String>,
    /// What stood behind it.
    pub attestation: Attestation,
}

/// Section 7.1, but for what the caller keeps: that the challenge was not answered before, and that
/// the id is new to the account. `verified`: the authenticator must have verified its user.
///
/// # Errors
/// The first comparison that does not hold.
pub fn register(
    party: &RelyingParty,
    challenge: &[u8; CHALLENGE_LEN],
    verified: bool,
    answer: &Registration,
) -> Result<NewCredential> {
    client_data::check(&answer.client_data, Ceremony::Create, challenge, party)?;
    let object = AttestationObject::parse(&answer.attestation_object)?;
    let data = AuthenticatorData::parse(object.authenticator_data)?;
    data.check(party, verified)?;
    let attested = data.attested.ok_or(Error::AuthenticatorData)?;
    ensure(attested.credential_id == answer.id, Error::Credential)?;
    let attestation = object.check(&attested.key, &sha256(&answer.client_data))?;
    Ok(NewCredential {
        id: answer.id.clone(),
        key: attested.key_bytes.to_vec(),
        sign_count: data.sign_count,
        aaguid: attested.aaguid,
        user_verified: data.flags.user_verified(),
        backup_eligible: data.flags.backup_eligible(),
        backed_up: data.flags.backed_up(),
        transports: answer.transports.clone(),
        attestation,
    })
}

/// What is known of the credential that is used.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Known<'a> {
    /// Its id.
    pub id: &'a [u8],
    /// Its public key, as COSE.
    pub key: &'a [u8],
    /// How often it had signed.
    pub sign_count: u32,
    /// As at its registration: it never changes (section 6.1.3).
    pub backup_eligible: bool,
}

/// What the counter says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Counter {
    /// It increased, or the credential does not count.
    Fine,
    /// It stood still or went back: there may be a second one of this credential (section 6.1.1).
    Cloned,
}

/// A credential that was used.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Used {
    /// Whether the authenticator verified its user.
    pub user_verified: bool,
    /// Whether it is on several devices now.
    pub backed_up: bool,
    /// How often it has signed.
    pub sign_count: u32,
    /// Compared with what was known.
    pub counter: Counter,
}

/// Section 7.2, but for what the caller keeps: that the challenge was not answered before, and
/// whose the credential is. The signature holds also where the counter says [`Counter::Cloned`]:
/// the caller refuses it and says so.
///
/// # Errors
/// The first comparison that does not hold.
pub fn authenticate(
    party: &RelyingParty,
    challenge: &[u8; CHALLENGE_LEN],
    verified: bool,
    known: &Known<'_>,
    answer: &Assertion,
) -> Result<Used> {
    ensure(known.id == answer.id, Error::Credential)?;
    client_data::check(&answer.client_data, Ceremony::Get, challenge, party)?;
    let data = AuthenticatorData::parse(&answer.authenticator_data)?;
    data.check(party, verified)?;
    // Section 6.3.3: an assertion never has a new credential in it.
    ensure(data.attested.is_none(), Error::AuthenticatorData)?;
    let same_kind = data.flags.backup_eligible() == known.backup_eligible;
    ensure(same_kind, Error::Backup)?;
    let hash = sha256(&answer.client_data);
    let signed = [&answer.authenticator_data[..], &hash].concat();
    CoseKey::parse(known.key)?.verify(&signed, &answer.signature)?;
    let counts = data.sign_count != 0 || known.sign_count != 0;
    let counter = match counts && data.sign_count <= known.sign_count {
        true => Counter::Cloned,
        false => Counter::Fine,
    };
    Ok(Used {
        user_verified: data.flags.user_verified(),
        backed_up: data.flags.backed_up(),
        sign_count: data.sign_count,
        counter,
    })
}
