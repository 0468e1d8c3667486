//! What an authenticator signs (section 6.1): whose it is for, what happened, and at a registration
//! the new key.

use signet_cbor::Value;

use crate::cose_key::CoseKey;
use crate::error::{Error, Result, ensure};
use crate::{MAX_CREDENTIAL_ID, RelyingParty};

/// The flags, in one byte.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Flags(u8);

impl Flags {
    const fn bit(self, at: u8) -> bool {
        self.0 >> at & 1 == 1
    }

    /// UP: somebody was there.
    pub const fn user_present(self) -> bool {
        self.bit(0)
    }

    /// UV: the authenticator verified who (by a PIN, a finger).
    pub const fn user_verified(self) -> bool {
        self.bit(2)
    }

    /// BE: the credential can be backed up: it may be on several devices.
    pub const fn backup_eligible(self) -> bool {
        self.bit(3)
    }

    /// BS: it is.
    pub const fn backed_up(self) -> bool {
        self.bit(4)
    }

    const fn attested(self) -> bool {
        self.bit(6)
    }

    const fn extensions(self) -> bool {
        self.bit(7)
    }
}

/// A new credential (section 6.5.1).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Attested<'a> {
    /// The authenticator's model; zeros: it does not say.
    pub aaguid: [u8; 16],
    /// The credential's id.
    pub credential_id: &'a [u8],
    /// Its public key.
    pub key: CoseKey,
    /// The key as it was written: canonical, so it is the only way to write it.
    pub key_bytes: &'a [u8],
}

/// Authenticator data, whole.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AuthenticatorData<'a> {
    /// SHA-256 of the relying party's id.
    pub rp_id_hash: &'a [u8; 32],
    /// What happened.
    pub flags: Flags,
    /// How often the credential has signed; 0: it does not count.
    pub sign_count: u32,
    /// The new credential, at a registration.
    pub attested: Option<Attested<'a>>,
}

impl<'a> AuthenticatorData<'a> {
    /// Reads all of it. Extensions are read for their form: none is asked for.
    ///
    /// # Errors
    /// [`Error::AuthenticatorData`] for what is not of this form, too short, or has bytes after the
    /// end; [`Error::Key`].
    pub fn parse(data: &'a [u8]) -> Result<AuthenticatorData<'a>> {
        const MALFORMED: Error = Error::AuthenticatorData;
        let (rp_id_hash, rest) = data.split_first_chunk::<32>().ok_or(MALFORMED)?;
        let (&[flags], rest) = rest.split_first_chunk::<1>().ok_or(MALFORMED)?;
        let (count, mut rest) = rest.split_first_chunk::<4>().ok_or(MALFORMED)?;
        let flags = Flags(flags);
        // Section 6.1.3: what cannot be backed up is not.
        let backup_agrees = flags.backup_eligible() || !flags.backed_up();
        ensure(backup_agrees, Error::Backup)?;
        let mut attested = None;
        if flags.attested() {
            let (aaguid, behind) = rest.split_first_chunk::<16>().ok_or(MALFORMED)?;
            let (length, behind) = behind.split_first_chunk::<2>().ok_or(MALFORMED)?;
            let length = usize::from(u16::from_be_bytes(*length));
            ensure((1..=MAX_CREDENTIAL_ID).contains(&length), MALFORMED)?;
            let (credential_id, behind) = behind.split_at_checked(length).ok_or(MALFORMED)?;
            let (key, read) = CoseKey::read(behind)?;
            let (key_bytes, behind) = behind.split_at_checked(read).ok_or(MALFORMED)?;
            attested = Some(Attested {
                aaguid: *aaguid,
                credential_id,
                key,
                key_bytes,
            });
            rest = behind;
        }
        if flags.extensions() {
            let extensions = Value::decode(rest).map_err(|_| MALFORMED)?;
            ensure(matches!(extensions, Value::Map(_)), MALFORMED)?;
        } else {
            ensure(rest.is_empty(), MALFORMED)?;
        }
        Ok(AuthenticatorData {
            rp_id_hash,
            flags,
            sign_count: u32::from_be_bytes(*count),
            attested,
        })
    }

    /// What both ceremonies compare (section 7.1 steps 14 to 17, section 7.2 steps 16 to 18).
    pub(crate) fn check(&self, party: &RelyingParty, verified: bool) -> Result<()> {
        ensure(self.rp_id_hash == party.id_hash(), Error::RelyingParty)?;
        ensure(self.flags.user_present(), Error::NotPresent)?;
        ensure(!verified || self.flags.user_verified(), Error::NotVerified)
    }
}
