//! The JSON that the page's script sends on: the forms of section 5.1 that
//! `PublicKeyCredential.toJSON()` writes.

use std::borrow::Cow;

use signet_encoding::base64url;
use signet_encoding::json::{JsonError, Kind, Limits, Reader};

use crate::error::{Error, Result, ensure};
use crate::{MAX_CLIENT_DATA, MAX_CREDENTIAL_ID, MAX_MESSAGE, MAX_TRANSPORTS, MAX_USER_HANDLE};

/// A new credential (`RegistrationResponseJSON`).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Registration {
    /// The credential's id.
    pub id: Vec<u8>,
    /// The client data as it was hashed.
    pub client_data: Vec<u8>,
    /// The attestation object.
    pub attestation_object: Vec<u8>,
    /// How the authenticator is reached: for later requests. Names that nobody knows are allowed.
    pub transports: Vec<String>,
}

/// A use of a credential (`AuthenticationResponseJSON`).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Assertion {
    /// The credential's id.
    pub id: Vec<u8>,
    /// The client data as it was hashed.
    pub client_data: Vec<u8>,
    /// The authenticator data as it was signed.
    pub authenticator_data: Vec<u8>,
    /// The signature.
    pub signature: Vec<u8>,
    /// Whose it is: always there where the credential is discoverable.
    pub user_handle: Option<Vec<u8>>,
}

/// What both have around their `response`.
struct Outer {
    id: Option<Vec<u8>>,
    raw_id: Option<Vec<u8>>,
    kind: bool,
}

fn bytes(reader: &mut Reader<'_>) -> Result<Vec<u8>> {
    base64url::decode(reader.string()?.as_bytes()).map_err(|_| Error::Message)
}

fn read<'a>(
    text: &'a str,
    mut member: impl FnMut(&mut Reader<'a>, Cow<'a, str>) -> Result<()>,
) -> Result<Vec<u8>> {
    let limits = Limits {
        bytes: MAX_MESSAGE,
        depth: 8,
        members: 128,
    };
    let mut outer = Outer {
        id: None,
        raw_id: None,
        kind: false,
    };
    let mut reader = Reader::of_text(text, &limits)?;
    let mut has_response = false;
    reader.object(|reader, name| -> Result<()> {
        match &*name {
            "id" => outer.id = Some(bytes(reader)?),
            "rawId" => outer.raw_id = Some(bytes(reader)?),
            "type" => outer.kind = reader.string()? == "public-key",
            "response" => {
                has_response = true;
                reader.object(&mut member)?;
            }
            _ => {}
        }
        Ok(())
    })?;
    reader.finish().map_err(|_: JsonError| Error::Message)?;
    let id = outer.id.ok_or(Error::Message)?;
    ensure(has_response && outer.kind, Error::Message)?;
    ensure(outer.raw_id.is_none_or(|raw| raw == id), Error::Message)?;
    ensure((1..=MAX_CREDENTIAL_ID).contains(&id.len()), Error::Message)?;
    Ok(id)
}

fn required(value: Option<Vec<u8>>) -> Result<Vec<u8>> {
    value.ok_or(Error::Message)
}

impl Registration {
    /// Reads one.
    ///
    /// # Errors
    /// [`Error::Message`].
    pub fn parse(text: &str) -> Result<Registration> {
        let (mut client_data, mut attestation_object) = (None, None);
        let mut transports = Vec::new();
        let id = read(text, |reader, name| {
            match &*name {
                "clientDataJSON" => client_data = Some(bytes(reader)?),
                "attestationObject" => attestation_object = Some(bytes(reader)?),
                "transports" if reader.kind()? == Kind::Array => {
                    let named = reader.strings()?;
                    transports = named.into_iter().map(Cow::into_owned).collect();
                }
                _ => {}
            }
            Ok(())
        })?;
        // Only a hint to browsers: what is no name of one is left out.
        transports.retain(|name: &String| {
            let letters = name.bytes().all(|b| b.is_ascii_lowercase() || b == b'-');
            letters && (1..=16).contains(&name.len())
        });
        transports.truncate(MAX_TRANSPORTS);
        let client_data = required(client_data)?;
        ensure(client_data.len() <= MAX_CLIENT_DATA, Error::Message)?;
        Ok(Registration {
            id,
            client_data,
            attestation_object: required(attestation_object)?,
            transports,
        })
    }
}

impl Assertion {
    /// Reads one.
    ///
    /// # Errors
    /// [`Error::Message`].
    pub fn parse(text: &str) -> Result<Assertion> {
        let (mut client_data, mut authenticator_data) = (None, None);
        let (mut signature, mut user_handle) = (None, None);
        let id = read(text, |reader, name| {
            match &*name {
                "clientDataJSON" => client_data = Some(bytes(reader)?),
                "authenticatorData" => authenticator_data = Some(bytes(reader)?),
                "signature" => signature = Some(bytes(reader)?),
                "userHandle" if reader.kind()? != Kind::Null => {
                    user_handle = Some(bytes(reader)?);
                }
                _ => {}
            }
            Ok(())
        })?;
        let client_data = required(client_data)?;
        ensure(client_data.len() <= MAX_CLIENT_DATA, Error::Message)?;
        let handle_fits = |handle: &Vec<u8>| (1..=MAX_USER_HANDLE).contains(&handle.len());
        ensure(user_handle.as_ref().is_none_or(handle_fits), Error::Message)?;
        Ok(Assertion {
            id,
            client_data,
            authenticator_data: required(authenticator_data)?,
            signature: required(signature)?,
            user_handle,
        })
    }
}
