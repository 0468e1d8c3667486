//! The administrator and the user.

use signet_crypto::password::{self, Cost};
use signet_directory::{Local, NewUser, Profile, UserError};

use super::{Account, DevFile};

/// Makes both where they are missing.
pub async fn seed_users(users: &Local, file: &DevFile, now: u64) -> Result<(), String> {
    let admin = Profile {
        name: Some("Administrator".into()),
        ..Profile::default()
    };
    let alice = Profile {
        name: Some("Alice Example".into()),
        given_name: Some("Alice".into()),
        family_name: Some("Example".into()),
        ..Profile::default()
    };
    make(users, &file.admin, true, admin, now).await?;
    make(users, &file.user, false, alice, now).await
}

async fn make(
    users: &Local,
    account: &Account,
    admin: bool,
    profile: Profile,
    now: u64,
) -> Result<(), String> {
    let failed =
        |e: &dyn std::fmt::Display| format!("the user {} cannot be made: {e}", account.username);
    if users
        .by_login(&account.username, now)
        .await
        .map_err(|e| failed(&e))?
        .is_some()
    {
        return Ok(());
    }
    let phc =
        password::hash(account.password.as_bytes(), Cost::default()).map_err(|e| failed(&e))?;
    let new = NewUser {
        username: account.username.clone(),
        email: account.email.clone(),
        email_verified: account.email.is_some(),
        password: Some(phc),
        must_change_password: false,
        admin,
        by_administrator: true,
        profile,
        ..NewUser::default()
    };
    match users.create(new, now).await {
        Ok(_) | Err(UserError::UsernameTaken) => Ok(()),
        Err(e) => Err(failed(&e)),
    }
}
