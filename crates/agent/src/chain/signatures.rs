//! All signatures of a chain, by one equation; those that are known already are not looked at.

use std::borrow::Cow;
use std::ops::Deref;
use std::sync::Arc;

use super::Cache;
use crate::cose::{self, Message};
use crate::error::{Refusal, Result};
use crate::keys::{KeySet, VerifyingKeys};

/// A key that has to have signed.
#[derive(Debug, Clone, Copy)]
pub(super) enum Key<'a> {
    /// From a verified document.
    Prepared(&'a VerifyingKeys),
    /// As a grant or a certificate names it.
    Bytes(&'a KeySet),
}

impl<'a> Key<'a> {
    fn set(&self) -> &'a KeySet {
        match self {
            Key::Prepared(keys) => keys.set(),
            Key::Bytes(set) => set,
        }
    }

    pub(super) fn prepare(self) -> Result<Cow<'a, VerifyingKeys>> {
        match self {
            Key::Prepared(keys) => Ok(Cow::Borrowed(keys)),
            Key::Bytes(set) => VerifyingKeys::new(set).map(Cow::Owned),
        }
    }
}

/// One message of the chain, with the key that has to have signed it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Signature<'a> {
    link: usize,
    message: &'a [u8],
    key: Key<'a>,
    again: bool,
}

impl<'a> Signature<'a> {
    /// Of a message that may come again: a grant, a certificate.
    pub(super) fn again(link: usize, message: &'a [u8], key: Key<'a>) -> Signature<'a> {
        Signature {
            link,
            message,
            key,
            again: true,
        }
    }

    /// Of a message that counts once: a proof of possession.
    pub(super) fn once(link: usize, message: &'a [u8], key: Key<'a>) -> Signature<'a> {
        Signature {
            again: false,
            ..Self::again(link, message, key)
        }
    }
}

/// A prepared key, whoever keeps it.
enum Ready<'a> {
    Ours(Cow<'a, VerifyingKeys>),
    Kept(Arc<VerifyingKeys>),
}

impl Deref for Ready<'_> {
    type Target = VerifyingKeys;

    fn deref(&self) -> &VerifyingKeys {
        match self {
            Ready::Ours(keys) => keys,
            Ready::Kept(keys) => keys,
        }
    }
}

/// Checks all of them as one batch.
///
/// # Errors
/// The link of one that does not hold, and why.
pub(super) fn check(
    signatures: &[Signature<'_>],
    mut cache: Option<&mut Cache>,
) -> std::result::Result<(), (usize, Refusal)> {
    let mut unknown = Vec::with_capacity(signatures.len());
    for signature in signatures {
        let at = |reason| (signature.link, reason);
        let mut name = None;
        let ready = match (&mut cache, signature.key) {
            (None, key) => Ready::Ours(key.prepare().map_err(at)?),
            (Some(cache), key) => {
                let hash = Cache::name(key.set(), signature.message);
                if cache.knows(&hash) {
                    continue;
                }
                name = signature.again.then_some(hash);
                match key {
                    Key::Prepared(keys) => Ready::Ours(Cow::Borrowed(keys)),
                    // The key of one proof may not come again; that of a grant's grantor does.
                    Key::Bytes(set) => Ready::Kept(cache.prepared(set).map_err(at)?),
                }
            }
        };
        let message = Message::parse(signature.message).map_err(|error| at(error.into()))?;
        unknown.push((signature.link, name, message, ready));
    }
    let batch: Vec<(Message<'_>, &VerifyingKeys)> = unknown
        .iter()
        .map(|(_, _, message, ready)| (message.clone(), &**ready))
        .collect();
    cose::verify_batch(batch).map_err(|(i, reason)| (unknown[i].0, reason))?;
    if let Some(cache) = cache {
        let names = unknown.iter().filter_map(|(_, name, ..)| *name);
        names.for_each(|name| cache.remember(name));
    }
    Ok(())
}
