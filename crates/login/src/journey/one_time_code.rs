//! Six digits by mail.
//!
//! A code is bound to the interaction that asked for it: its row's key is a random id that only the
//! sealed interaction knows, and that is bound to one browser. The row holds a keyed hash, never
//! the digits. Each attempt first takes one from the row's remaining attempts, by a compare in the
//! store, and only then compares: a hundred attempts in parallel are still five. The right code
//! removes the row by the same compare, so it works once.
//!
//! An unknown address gets a row too, without a user: it costs the same, its attempts end the same,
//! and nothing ever fits. The digits leave this module for the mail alone.

use serde::{Deserialize, Serialize};
use signet_crypto::mac::HmacSha256Key;
use signet_crypto::seal::Keyring;
use signet_store::{Change, Key, Op, Outcome, Store, StoreError, Table};

/// Attempts per code.
pub const MAX_ATTEMPTS: u8 = 5;

signet_revocation::id_of_16_bytes! {
    /// Names a mailed code's row.
    MailedCodeId
}

#[derive(Serialize, Deserialize)]
struct CodeRow {
    /// None: the address was unknown.
    user_id: Option<String>,
    /// The address that the code was mailed to.
    email: Option<String>,
    hash: [u8; 32],
    attempts: u8,
}

/// A code that was made: the digits go into the mail and nowhere else.
pub struct NewCode {
    /// For the sealed interaction.
    pub id: MailedCodeId,
    /// Six digits.
    pub digits: String,
}

/// What an attempt came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Attempt {
    /// It was the code; now it is gone.
    Right {
        /// Who logged in.
        user_id: String,
        /// Shown to reach the person.
        email: String,
    },
    /// It was not, and more attempts are left.
    Wrong,
    /// The code counts no more: consumed, out of attempts, or expired.
    Ended,
}

fn key_of(id: &MailedCodeId) -> Key {
    Key::new(Table::OneTimeCode, id.as_bytes().as_slice())
}

/// The hash is keyed, because a million codes are quickly tried. The key comes from the keyring and
/// from nowhere else (known fault A10). A rotated keyring ends the codes that are under way, which
/// live for minutes.
fn hash(keyring: &Keyring, id: &MailedCodeId, digits: &str) -> [u8; 32] {
    let key = HmacSha256Key::new(keyring.derive("signet one-time code").expose());
    key.sign(&[id.as_bytes().as_slice(), digits.as_bytes()].concat())
}

/// Makes a code for a user, or a row that nothing fits for nobody. `lifetime` in seconds.
pub async fn create(
    store: &dyn Store,
    keyring: &Keyring,
    user: Option<(&str, &str)>,
    lifetime: u64,
    now: u64,
) -> Result<NewCode, StoreError> {
    let code = NewCode {
        id: MailedCodeId::new(signet_crypto::random::bytes()),
        digits: format!("{:06}", signet_crypto::random::below(1_000_000)),
    };
    keep(store, keyring, &code, user, lifetime, now).await?;
    Ok(code)
}

/// The same with a code whose randomness is handed in: [`attempt`] knows it from here on.
pub async fn keep(
    store: &dyn Store,
    keyring: &Keyring,
    code: &NewCode,
    user: Option<(&str, &str)>,
    lifetime: u64,
    now: u64,
) -> Result<(), StoreError> {
    let row = CodeRow {
        user_id: user.map(|(id, _)| id.to_owned()),
        email: user.map(|(_, email)| email.to_owned()),
        hash: hash(keyring, &code.id, &code.digits),
        attempts: MAX_ATTEMPTS,
    };
    let insert = Op::Insert {
        key: key_of(&code.id),
        value: encode(&row),
        end: Some(now + lifetime),
    };
    match commit(store, insert, now).await? {
        Outcome::Done { .. } => Ok(()),
        // 128 random bits that are taken: the store answers for another key.
        Outcome::Refused(_) => Err(StoreError::Corrupt("one-time code".into())),
    }
}

/// Whether the code still counts: it was not used, and has attempts left.
pub async fn counts(store: &dyn Store, id: &MailedCodeId, now: u64) -> Result<bool, StoreError> {
    let Some(row) = store.get(&key_of(id), now).await? else {
        return Ok(false);
    };
    let corrupt = |_| StoreError::Corrupt("one-time code".into());
    let code: CodeRow = serde_json::from_slice(&row.value).map_err(corrupt)?;
    Ok(code.attempts > 0)
}

/// Tries what was typed. Spaces are ignored; anything but six digits is wrong like any other.
pub async fn attempt(
    store: &dyn Store,
    keyring: &Keyring,
    id: &MailedCodeId,
    typed: &str,
    now: u64,
) -> Result<Attempt, StoreError> {
    let Some(mut row) = store.get(&key_of(id), now).await? else {
        return Ok(Attempt::Ended);
    };
    // At most MAX_ATTEMPTS others can be faster, and the right code one more.
    for _ in 0..=MAX_ATTEMPTS {
        let corrupt = |_| StoreError::Corrupt("one-time code".into());
        let mut code: CodeRow = serde_json::from_slice(&row.value).map_err(corrupt)?;
        if code.attempts == 0 {
            return Ok(Attempt::Ended);
        }
        code.attempts -= 1;
        let counted = Op::Replace {
            key: key_of(id),
            version: row.version,
            value: encode(&code),
            end: row.end,
        };
        let version = match commit(store, counted, now).await? {
            Outcome::Done { version } => version,
            Outcome::Refused(Some(current)) => {
                row = current;
                continue;
            }
            Outcome::Refused(None) => return Ok(Attempt::Ended),
        };
        let digits: String = typed
            .chars()
            .filter(|c| !c.is_whitespace())
            .take(16)
            .collect();
        let equal = signet_crypto::ct_eq(&hash(keyring, id, &digits), &code.hash);
        let (true, Some(user_id), Some(email)) = (equal, code.user_id, code.email) else {
            return Ok(if code.attempts == 0 {
                Attempt::Ended
            } else {
                Attempt::Wrong
            });
        };
        return remove(store, id, version, now)
            .await
            .map(|removed| match removed {
                true => Attempt::Right { user_id, email },
                false => Attempt::Ended,
            });
    }
    Ok(Attempt::Ended)
}

/// Of all who typed the right code, the one whose removal is done has used it.
async fn remove(
    store: &dyn Store,
    id: &MailedCodeId,
    mut version: u64,
    now: u64,
) -> Result<bool, StoreError> {
    for _ in 0..=MAX_ATTEMPTS {
        let key = key_of(id);
        match commit(store, Op::Remove { key, version }, now).await? {
            Outcome::Done { .. } => return Ok(true),
            // Another attempt was counted in between.
            Outcome::Refused(Some(row)) => version = row.version,
            Outcome::Refused(None) => return Ok(false),
        }
    }
    Ok(false)
}

fn encode(row: &CodeRow) -> Vec<u8> {
    // Invariant: strings, bytes and a number always serialize.
    serde_json::to_vec(row).expect("a code row serializes")
}

async fn commit(store: &dyn Store, first: Op, now: u64) -> Result<Outcome, StoreError> {
    let then = Vec::new();
    store.commit(Change { first, then }, now).await
}

#[cfg(test)]
mod tests {
    use super::*;
    use signet_crypto::seal::SealingKey;
    use signet_store::MemoryStore;

    fn keyring() -> Keyring {
        Keyring::new(SealingKey::generate(), Vec::new())
    }

    const ALICE: Option<(&str, &str)> = Some(("alice-id", "alice@example.test"));

    #[tokio::test]
    async fn the_code_works_once() {
        let (store, keyring) = (MemoryStore::new(), keyring());
        let code = create(&store, &keyring, ALICE, 300, 1000).await.unwrap();
        assert_eq!(code.digits.len(), 6);
        let typed = format!(" {} {} ", &code.digits[..3], &code.digits[3..]);
        let first = attempt(&store, &keyring, &code.id, &typed, 1001).await;
        assert!(matches!(first, Ok(Attempt::Right { .. })));
        let second = attempt(&store, &keyring, &code.id, &code.digits, 1001).await;
        assert_eq!(second.unwrap(), Attempt::Ended);
    }

    #[tokio::test]
    async fn the_code_ends_after_its_lifetime() {
        let (store, keyring) = (MemoryStore::new(), keyring());
        let code = create(&store, &keyring, ALICE, 300, 1000).await.unwrap();
        let late = attempt(&store, &keyring, &code.id, &code.digits, 1300).await;
        assert_eq!(late.unwrap(), Attempt::Ended);
    }

    #[tokio::test]
    async fn five_wrong_attempts_end_the_code() {
        let (store, keyring) = (MemoryStore::new(), keyring());
        let code = create(&store, &keyring, ALICE, 300, 1000).await.unwrap();
        for _ in 0..4 {
            let wrong = attempt(&store, &keyring, &code.id, "12345x", 1001).await;
            assert_eq!(wrong.unwrap(), Attempt::Wrong);
        }
        let fifth = attempt(&store, &keyring, &code.id, "", 1001).await;
        assert_eq!(fifth.unwrap(), Attempt::Ended);
        let right = attempt(&store, &keyring, &code.id, &code.digits, 1001).await;
        assert_eq!(right.unwrap(), Attempt::Ended);
    }

    #[tokio::test]
    async fn nothing_fits_the_code_of_an_unknown_address() {
        let (store, keyring) = (MemoryStore::new(), keyring());
        let code = create(&store, &keyring, None, 300, 1000).await.unwrap();
        let right = attempt(&store, &keyring, &code.id, &code.digits, 1001).await;
        assert_eq!(right.unwrap(), Attempt::Wrong);
    }

    #[tokio::test]
    async fn of_racing_right_attempts_one_succeeds() {
        let (store, keyring) = (
            std::sync::Arc::new(MemoryStore::new()),
            std::sync::Arc::new(keyring()),
        );
        let code = create(&*store, &keyring, ALICE, 300, 1000).await.unwrap();
        let racers: Vec<_> = (0..20)
            .map(|_| {
                let (store, keyring) = (store.clone(), keyring.clone());
                let (id, digits) = (code.id, code.digits.clone());
                tokio::spawn(async move { attempt(&*store, &keyring, &id, &digits, 1001).await })
            })
            .collect();
        let mut right = 0;
        for racer in racers {
            right += usize::from(matches!(racer.await.unwrap(), Ok(Attempt::Right { .. })));
        }
        assert_eq!(right, 1);
    }

    #[tokio::test]
    async fn the_store_never_sees_the_digits() {
        let (store, keyring) = (MemoryStore::new(), keyring());
        let code = create(&store, &keyring, ALICE, 300, 1000).await.unwrap();
        let row = store.get(&key_of(&code.id), 1000).await.unwrap().unwrap();
        assert!(!String::from_utf8(row.value).unwrap().contains(&code.digits));
    }
}
