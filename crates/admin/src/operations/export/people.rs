//! People who leave for another server, in the members that `importUsers` takes. Without
//! credentials, as an auditor sees them; with everything that they log in with, for an
//! administrator who has just shown two factors.
use crate::operations::import::brought::{
    ConsentImport, IdentityImport, PasskeyImport, TotpImport,
};
use crate::operations::model::{List, UserDocument};
use futures_util::{StreamExt, TryStreamExt, stream};
use schemars::JsonSchema;
use serde::Serialize;
use signet_directory::{CredentialKind, StoredCredential, User, consent};
use signet_login::journey::totp;
use signet_login::passkeys::{Passkey, relying_party};
use signet_oauth::people::passkeys::Aaguid;
use signet_operation::adapter::Row;
use signet_operation::facts::Method;
use signet_operation::input::Page;
use signet_operation::operation::{Operation, run};
use signet_operation::output::Json;
use signet_operation::problem::Problem;
use signet_operation::right::Area;
use signet_operation::right::Right::{Read, Reveal};
use signet_realm::records::groups;
use signet_realm::state::Realm;
use signet_store::{Change, Key, Op, Table};
use std::sync::Arc;

const EXPORT: &str = "/admin/v1/user-export";
/// How many people are read at the same time.
const AT_ONCE: usize = 25;
/// Seconds for which the row stays that carried the record of a page.
const ROW_SECONDS: u64 = 60;

#[rustfmt::skip]
pub(crate) const OPERATIONS: &[&dyn Row] = &[
    &Operation::new("exportUsers", Area::Exports, Read, Method::Get, EXPORT, "People as `importUsers` takes them, without what they log in with", run!(plain)),
    &Operation::new("exportUsersWithCredentials", Area::Exports, Reveal, Method::Post, EXPORT, "People as `importUsers` takes them, with what they log in with, for an administrator who has just shown two factors", run!(whole)),
];

/// An account as `importUsers` takes it. What `user show` has beside, and nothing is made of, is in
/// it too.
#[derive(Serialize, JsonSchema)]
pub(crate) struct ExportedUser {
    #[serde(flatten)]
    account: UserDocument,
    /// A PHC string, or in modular crypt form.
    #[serde(skip_serializing_if = "Option::is_none")]
    password_hash: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    totp: Vec<TotpImport>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    passkeys: Vec<PasskeyImport>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    identities: Vec<IdentityImport>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    consents: Vec<ConsentImport>,
}

async fn plain(realm: Arc<Realm>, page: Page) -> Result<Json<List<ExportedUser>>, Problem> {
    people(&realm, page, false).await.map(Json)
}

async fn whole(realm: Arc<Realm>, page: Page) -> Result<Json<List<ExportedUser>>, Problem> {
    // The line of the trail is in a change of the store: the page is recorded, whatever happens to
    // this process, before it is read.
    let change = Change::new(Op::Insert {
        key: Key::new(
            Table::Once,
            [
                b"people-export".as_slice(),
                &signet_crypto::random::id::<16>(),
            ]
            .concat(),
        ),
        value: Vec::new(),
        end: Some(realm.now() + ROW_SECONDS),
    });
    if !realm.store.commit(change, realm.now()).await?.is_done() {
        return Err(Problem::unavailable());
    }
    people(&realm, page, true).await.map(Json)
}

async fn people(
    realm: &Arc<Realm>,
    page: Page,
    credentials: bool,
) -> Result<List<ExportedUser>, Problem> {
    let users = &realm.people.users;
    let read = users.list(page.after.as_deref(), page.limit + 1, realm.now());
    let List { items, next } = List::cut(read.await?, page.limit, |user| user.id.clone());
    let read = stream::iter(items).map(|user| one(realm, user, credentials));
    let items = read.buffered(AT_ONCE).try_collect().await?;
    Ok(List { items, next })
}

async fn one(realm: &Realm, user: User, credentials: bool) -> Result<ExportedUser, Problem> {
    let (users, now, snapshot) = (&realm.people.users, realm.now(), realm.snapshot());
    let people = &snapshot.registry.people;
    let links = users.links(&user, now).await?.into_values();
    let identities = links.map(|link| IdentityImport {
        provider: link.provider,
        subject: link.subject,
        name: link.name,
    });
    let consents = consent::all(&*realm.store, &user.id, now).await?;
    let consents = consents
        .into_iter()
        .map(|(client_id, consent)| ConsentImport {
            client_id,
            scope: consent.scope.to_string(),
            granted_at: Some(consent.granted_at),
        });
    let mut exported = ExportedUser {
        password_hash: None,
        totp: Vec::new(),
        passkeys: Vec::new(),
        identities: identities.collect(),
        consents: consents.collect(),
        account: UserDocument::new(user.clone(), people),
    };
    // What a provider says of groups, it says again at the next login.
    exported.account.groups = groups::group_names(people, &user.groups);
    if !credentials {
        return Ok(exported);
    }
    // Nothing is kept from who takes everything: also what the schema shows to nobody.
    let unverified = user
        .attributes
        .iter()
        .filter(|(_, stored)| !stored.verified);
    exported.account.unverified_attributes = unverified.map(|(name, _)| name.clone()).collect();
    let attributes = user.attributes.iter();
    let attributes = attributes.map(|(name, stored)| (name.clone(), stored.value.clone()));
    exported.account.attributes = attributes.collect();
    let hash = users.password_hash(&user, now).await?;
    exported.password_hash = hash.map(|hash| hash.expose().clone());
    for credential in users.credentials(&user.id, now).await? {
        if !user.credentials().contains(&credential.name) {
            continue;
        }
        match credential.name.kind {
            CredentialKind::Totp => exported.totp.push(app(realm, &user, &credential)?),
            CredentialKind::Passkey => exported.passkeys.extend(passkey(realm, &credential)?),
            // Codes that work once and remembered browsers are made again; links are above.
            CredentialKind::Password
            | CredentialKind::RecoveryCodes
            | CredentialKind::RememberedBrowser
            | CredentialKind::Provider => {}
        }
    }
    Ok(exported)
}

/// An app that cannot be read ends the export: its person would arrive without their second factor.
fn app(realm: &Realm, user: &User, credential: &StoredCredential) -> Result<TotpImport, Problem> {
    let secret = totp::opened(credential, &realm.keyring(), &user.id)?;
    let unreadable = || {
        let why = format!(
            "the code app {} of user {} cannot be opened: remove it, and export again",
            credential.name.id, user.id
        );
        Problem::new(http::StatusCode::CONFLICT, "unreadable_credential", why)
    };
    let secret = secret.ok_or_else(unreadable)?;
    let form = secret.form();
    Ok(TotpImport {
        secret: secret.base32(),
        algorithm: form.algorithm,
        digits: form.digits,
        period: form.period,
        label: credential.label.clone(),
        created_at: Some(credential.created_at),
    })
}

/// A passkey. None where passkeys are off in the realm, so that none is of use.
fn passkey(realm: &Realm, credential: &StoredCredential) -> Result<Option<PasskeyImport>, Problem> {
    let Some(party) = relying_party(&realm.snapshot().settings) else {
        return Ok(None);
    };
    let passkey = Passkey::read(credential.data.expose())?;
    let is_known = passkey.aaguid != [0; 16];
    Ok(Some(PasskeyImport {
        rp_id: party.id().to_owned(),
        id: passkey.id,
        public_key: passkey.key,
        sign_count: passkey.sign_count,
        aaguid: is_known.then(|| Aaguid(passkey.aaguid).to_string()),
        backup_eligible: (!passkey.backup_unknown).then_some(passkey.backup_eligible),
        transports: passkey.transports,
        user_verified: passkey.verifies,
        label: credential.label.clone(),
        created_at: Some(credential.created_at),
    }))
}
