//! Recovery codes: a list that is shown once, of which each works once, in the place of a factor
//! that is not at hand.
//!
//! A code has 120 random bits, more than the 112 from which a hash alone protects it at rest (NIST
//! SP 800-63B-4 section 3.1.2.2). The row holds salted hashes. A code is used up by the write that
//! takes its hash away, which has the row that was read as its condition.

use serde::{Deserialize, Serialize};
use signet_crypto::Secret;
use signet_crypto::hash::sha256;
use signet_directory::{Accounts, CredentialKind, CredentialName, StoredCredential, User};
use signet_store::StoreError;

use super::budgets::Standing;
use super::method::{Answer, Attempt, Method, MethodPage, Page, Step, Verdict, step_page};
use crate::freshness::Fresh;
use signet_pages::Html;
use signet_realm::attempts::Kind;
use signet_request::access::Entrance;
use signet_request::security_mail::{self, SecurityEvent};

/// Codes of a list.
pub const CODES: usize = 10;
/// Characters of a code, without the hyphens: five bits each.
pub const CODE_CHARS: usize = 24;
/// How often a row that other logins write at the same time is tried.
const MAX_TRIES: usize = 8;
/// Without what is read for something else: i, l, o, u (as Crockford's base 32).
const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

/// See the module.
pub const METHOD: Method = Method {
    name: "recovery_code",
    shows: &["recovery_code"],
    step: Step::Second,
    guess: Kind::Factor,
    offered: |_| true,
    usable: |_, user| user.has(CredentialKind::RecoveryCodes),
    decision: "recovery",
    label: "factors-recovery-button",
    start: None,
    script: None,
    page: Page::Step(page),
    verify: |attempt| verify(attempt),
    wrong: "factors-recovery-wrong",
    expired: "",
};

fn page(page: &MethodPage<'_>, user: &User) -> Html {
    signet_pages::recovery_step(&page.browser.face(), &step_page(page, user))
}

fn verify<'a>(attempt: &'a Attempt<'a>) -> Answer<'a, Verdict> {
    Box::pin(async move {
        let Some(user) = attempt.user else {
            return Ok(Verdict::Wrong);
        };
        let typed = match attempt.standing {
            Standing::Open => attempt.form.get("recovery_code").unwrap_or(""),
            Standing::UsedUp => "",
        };
        let context = &attempt.browser.context;
        let users = &context.realm.people.users;
        let left = accept(users, &user.id, typed, context.now()).await?;
        Ok(match left {
            Some(_) if Entrance::Login.opens(user, context.now()) => {
                security_mail::send(attempt.browser, user, SecurityEvent::RecoveryCodeUsed).await;
                Verdict::Proven(Box::new(user.clone()))
            }
            Some(_) | None => Verdict::Wrong,
        })
    })
}

/// What the row has in it.
#[derive(Serialize, Deserialize)]
struct ListRow {
    salt: [u8; 16],
    /// Of the codes that are left.
    hashes: Vec<[u8; 32]>,
}

fn hash(salt: &[u8; 16], code: &str) -> [u8; 32] {
    sha256(&[salt, code.as_bytes()].concat())
}

fn read(credential: &StoredCredential) -> Result<ListRow, StoreError> {
    let corrupt = |_| StoreError::Corrupt("recovery codes".into());
    serde_json::from_slice(credential.data.expose()).map_err(corrupt)
}

fn write(row: &ListRow) -> Vec<u8> {
    // Invariant: bytes always serialize.
    serde_json::to_vec(row).expect("recovery codes serialize")
}

/// As typed, or as printed: case, hyphens and spaces mean nothing, and what looks alike is alike.
fn folded(typed: &str) -> String {
    let read = |c: char| match c.to_ascii_lowercase() {
        'o' => Some('0'),
        'i' | 'l' => Some('1'),
        '-' => None,
        c if c.is_whitespace() => None,
        c => Some(c),
    };
    typed
        .chars()
        .filter_map(read)
        .take(2 * CODE_CHARS)
        .collect()
}

/// A new list: the credential, and the codes as they are shown, once.
fn generate(now: u64) -> (StoredCredential, Vec<String>) {
    let salt = signet_crypto::random::bytes();
    let code = || -> String {
        let bytes = signet_crypto::random::bytes::<CODE_CHARS>();
        let chars = bytes.iter().map(|byte| ALPHABET[usize::from(byte & 31)]);
        chars.map(char::from).collect()
    };
    let codes: Vec<String> = (0..CODES).map(|_| code()).collect();
    let row = ListRow {
        salt,
        hashes: codes.iter().map(|code| hash(&salt, code)).collect(),
    };
    let credential = StoredCredential::new(CredentialName::RECOVERY_CODES, "", write(&row), now);
    let shown = codes.iter().map(|code| {
        let groups: Vec<&str> = (0..CODE_CHARS)
            .step_by(4)
            .map(|at| &code[at..at + 4])
            .collect();
        groups.join("-")
    });
    (credential, shown.collect())
}

/// Puts a new list in the place of the account's: the account, and the codes as they are shown,
/// once.
///
/// # Errors
/// The store's.
pub(crate) async fn replace(
    users: &Accounts,
    fresh: &Fresh<'_>,
    now: u64,
) -> Result<(User, Vec<String>), StoreError> {
    let (list, codes) = generate(now);
    let change = users.change(&fresh.user().id, now, |draft| draft.put_credential(&list));
    Ok((change.await?, codes))
}

/// How many codes are left.
///
/// # Errors
/// A row that is none.
pub(crate) fn left(credential: &StoredCredential) -> Result<usize, StoreError> {
    Ok(read(credential)?.hashes.len())
}

/// Uses a code up. How many are left after it; None: it is none of the account's, or no more.
///
/// # Errors
/// The store's.
pub(crate) async fn accept(
    users: &Accounts,
    user_id: &str,
    typed: &str,
    now: u64,
) -> Result<Option<usize>, StoreError> {
    let typed = folded(typed);
    let name = CredentialName::RECOVERY_CODES;
    for _ in 0..MAX_TRIES {
        let Some(mut credential) = users.credential(user_id, &name, now).await? else {
            return Ok(None);
        };
        let mut row = read(&credential)?;
        let of_typed = hash(&row.salt, &typed);
        let before = row.hashes.len();
        // All are compared, whichever it is.
        row.hashes
            .retain(|hash| !signet_crypto::ct_eq(hash, &of_typed));
        if row.hashes.len() == before {
            return Ok(None);
        }
        credential.data = Secret::new(write(&row));
        credential.used_at = Some(now);
        if users.rewrite_credential(user_id, &credential, now).await? {
            return Ok(Some(row.hashes.len()));
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_is_read_as_it_is_printed_and_as_people_type_it() {
        let (credential, codes) = generate(1);
        assert_eq!(codes.len(), CODES);
        let row = read(&credential).unwrap();
        for code in &codes {
            let typed = format!(
                " {} ",
                code.to_uppercase().replace('-', " ").replace('0', "O")
            );
            assert!(
                row.hashes.contains(&hash(&row.salt, &folded(&typed))),
                "{code}"
            );
        }
        let text = String::from_utf8(credential.data.expose().clone()).unwrap();
        assert!(codes.iter().all(|code| !text.contains(&folded(code))));
    }
}
