//! Whom an act is about, and whether its caller may have power over them.
//!
//! One rule ([`expect_over`]): nobody changes, resets, ends or makes an administrator, a client or
//! a key that may do what they may not themselves. Everything that has a way around the rows asks
//! here: what a path names, what a body names or gives, directories that declare, provisioning.
use crate::caller::Acting;
use crate::problem::Problem;
use crate::roles::{BuiltIn, Rights};
use signet_directory::User;
use signet_oauth::client::Client;
use signet_oauth::registry::Registry;
use signet_realm::state::Realm;
use signet_registry::kinds::RecordKind;

/// Whether somebody with `rights` may have power over `whom`, who may do what `theirs` says.
///
/// # Errors
/// `insufficient_role`, with the roles of the other.
pub fn expect_over(rights: &Rights, theirs: &Rights, whom: &str) -> Result<(), Problem> {
    if rights.cover(theirs) {
        return Ok(());
    }
    let roles = theirs.roles().join(", ");
    Err(Problem::insufficient_role(format!(
        "{whom} may do what you may not ({roles}): an administrator with these rights, or an owner, is needed"
    )))
}

/// Whether somebody may have power over an account.
///
/// # Errors
/// As [`expect_over`].
pub fn expect_over_user(rights: &Rights, user: &User, registry: &Registry) -> Result<(), Problem> {
    let theirs = Rights::of_user(user, registry);
    expect_over(rights, &theirs, &format!("the account {}", user.username))
}

/// Whether somebody may have power over a client.
///
/// # Errors
/// As [`expect_over`].
pub fn expect_over_client(rights: &Rights, client: &Client) -> Result<(), Problem> {
    let theirs = Rights::of_client(client);
    expect_over(rights, &theirs, &format!("the client {}", client.client_id))
}

/// Whether somebody may give an account these roles.
///
/// # Errors
/// 400 for what is no role; as [`expect_over`] where the roles may do more than they.
pub async fn expect_may_give(
    rights: &Rights,
    realm: &Realm,
    roles: &[String],
) -> Result<(), Problem> {
    for name in roles {
        if BuiltIn::named(name).is_none() {
            realm.learn(RecordKind::AdministratorRole, name).await?;
        }
    }
    may_give(rights, &realm.snapshot().registry, roles)
}

/// The same, of the roles that a registry has.
///
/// # Errors
/// As [`expect_may_give`].
pub fn may_give(rights: &Rights, registry: &Registry, roles: &[String]) -> Result<(), Problem> {
    for name in roles {
        if BuiltIn::named(name).is_none() && !registry.administrator_roles.contains_key(name) {
            return Err(Problem::invalid(format!(
                "admin_roles: there is no role of administrators {name}"
            )));
        }
        let theirs = Rights::of_roles(std::slice::from_ref(name), registry);
        expect_over(rights, &theirs, &format!("the role {name}"))?;
    }
    Ok(())
}

/// Whether the caller may have power over whom a path names: the account, the client.
///
/// # Errors
/// As [`expect_over`]; the store's.
pub(crate) async fn expect_over_named(
    acting: &Acting,
    named: &[(&'static str, String)],
) -> Result<(), Problem> {
    let (realm, rights) = (&acting.realm, &acting.admin.rights);
    if rights.is_owner() {
        return Ok(());
    }
    for (segment, name) in named {
        match *segment {
            "user_id" => over_user_of_id(realm, rights, name).await?,
            "client_id" => over_client_of_id(realm, rights, name).await?,
            _ => {}
        }
    }
    Ok(())
}

/// Whether somebody may have power over the account of an id; over one that is not there they may.
///
/// # Errors
/// As [`expect_over`]; the store's.
pub async fn over_user_of_id(realm: &Realm, rights: &Rights, id: &str) -> Result<(), Problem> {
    match realm.people.users.found(id, realm.now()).await? {
        Some(found) => expect_over_user(rights, &found.user, &realm.snapshot().registry),
        None => Ok(()),
    }
}

/// The same of a client.
///
/// # Errors
/// As [`expect_over`]; the store's.
pub async fn over_client_of_id(realm: &Realm, rights: &Rights, id: &str) -> Result<(), Problem> {
    realm.learn(RecordKind::Client, id).await?;
    match realm.snapshot().registry.clients.get(id) {
        Some(client) => expect_over_client(rights, client),
        None => Ok(()),
    }
}
