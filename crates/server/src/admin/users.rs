//! Users.
use super::{
    call::{Call, Reply},
    model::{EmailChange, List, NewUserDocument, PasswordChange, UserChange, UserDocument},
    operation::{IfMatch, Method, Operation, Outcome, handler},
    problem::Problem,
};
use http::StatusCode;
use signet_crypto::Secret;
use signet_directory::{
    Draft, Found, NewUser, User, UserError,
    passwords::{PoolError, check_new},
};

const LIST: &str = "/admin/v1/users";
const ONE: &str = "/admin/v1/users/{user_id}";
const EMAIL: &str = "/admin/v1/users/{user_id}/email";
const PASSWORD: &str = "/admin/v1/users/{user_id}/password";
const ENABLE: &str = "/admin/v1/users/{user_id}/enable";
const DISABLE: &str = "/admin/v1/users/{user_id}/disable";
const REVOKE: &str = "/admin/v1/users/{user_id}/revoke";

#[rustfmt::skip]
pub(super) const OPERATIONS: &[Operation] = &[
    Operation::new("listUsers", Method::Get, LIST, "List users", handler!(list))
        .paged().query(&[
            ("login", "the one user of this name or address, whole"),
            ("search", "only users whose name, address or full name has this in it, whatever its case"),
        ]).answers::<List<UserDocument>>(200),
    Operation::new("createUser", Method::Post, LIST, "Make an account", handler!(create))
        .takes::<NewUserDocument>().answers::<UserDocument>(201),
    Operation::new("showUser", Method::Get, ONE, "Show a user", handler!(show))
        .answers::<UserDocument>(200),
    Operation::new("replaceUser", Method::Put, ONE, "Replace a user's rights and profile", handler!(replace))
        .if_match(IfMatch::Required).takes::<UserChange>().answers::<UserDocument>(200),
    Operation::new("removeUser", Method::Delete, ONE, "Remove a user and end everything of theirs", handler!(remove)),
    Operation::new("setEmail", Method::Put, EMAIL, "Set or remove the e-mail address", handler!(set_email))
        .takes::<EmailChange>().answers::<UserDocument>(200),
    Operation::new("setPassword", Method::Put, PASSWORD, "Set or remove the password and end everything of theirs", handler!(set_password))
        .takes::<PasswordChange>(),
    Operation::new("enableUser", Method::Post, ENABLE, "Let a user in again", handler!(enable))
        .answers::<UserDocument>(200),
    Operation::new("disableUser", Method::Post, DISABLE, "Keep a user out and end everything of theirs", handler!(disable))
        .answers::<UserDocument>(200),
    Operation::new("revokeUser", Method::Post, REVOKE, "End every session, grant and token of a user", handler!(revoke)),
];

async fn list(call: Call) -> Outcome {
    let page = call.page()?;
    let now = call.now();
    if let Some(login) = call.context.query_params()?.get("login") {
        let found = call.realm().people.users.by_login(login, now).await?;
        let items = found.into_iter().map(UserDocument::from).collect();
        return Reply::ok(&List { items, next: None });
    }
    let search = call
        .context
        .query_params()?
        .get("search")
        .map(str::to_lowercase);
    let mut items: Vec<UserDocument> = Vec::new();
    let mut after = page.after.clone();
    // A search reads on until its page is full: nothing is indexed for it.
    loop {
        let at_once = READ_AT_ONCE.max(page.limit + 1);
        let users = &call.realm().people.users;
        let users = users.list(after.as_deref(), at_once, now).await?;
        let last = users.len() < READ_AT_ONCE.max(page.limit + 1);
        after = users.last().map(|user| user.id.clone());
        let found = users.into_iter().filter(|user| match &search {
            None => true,
            Some(words) => matches(user, words),
        });
        items.extend(found.map(UserDocument::from));
        if last || items.len() > page.limit {
            break;
        }
    }
    Reply::ok(&List::cut(items, page.limit, |user| user.id.clone()))
}

/// Users that are read at once.
const READ_AT_ONCE: usize = 100;

fn matches(user: &User, words: &str) -> bool {
    [
        Some(&user.username),
        user.email.as_ref(),
        user.profile.name.as_ref(),
    ]
    .into_iter()
    .flatten()
    .any(|text| text.to_lowercase().contains(words))
}

async fn hash(call: &Call, password: String, names: &[&str]) -> Result<String, Problem> {
    check_new(&password, names).map_err(Problem::invalid)?;
    let hashed = call.realm().people.users.hash(Secret::new(password));
    hashed.await.map_err(|error| match error {
        PoolError::Busy => Problem::unavailable(),
        other => Problem::invalid(other.to_string()),
    })
}

async fn create(mut call: Call) -> Outcome {
    let wanted: NewUserDocument = call.read().await?;
    let names: Vec<&str> = std::iter::once(&*wanted.username)
        .chain(wanted.email.as_deref())
        .collect();
    let password = match wanted.password {
        Some(password) => Some(hash(&call, password, &names).await?),
        None => None,
    };
    let new = NewUser {
        username: wanted.username,
        email: wanted.email,
        email_verified: wanted.email_verified,
        password,
        admin: wanted.admin,
        profile: wanted.profile,
    };
    let user = call.realm().people.users.create(new, call.now()).await?;
    let found = read(&call, &user.id).await?;
    let reply = Reply::json(StatusCode::CREATED, &UserDocument::from(found.user))?;
    Ok(reply.revision(found.version))
}

async fn read(call: &Call, id: &str) -> Result<Found, Problem> {
    let users = &call.realm().people.users;
    let found = users.found(id, call.now()).await?;
    found.ok_or_else(Problem::not_found)
}

async fn reply(call: &Call) -> Outcome {
    let found = read(call, call.segment("user_id")).await?;
    Ok(Reply::ok(&UserDocument::from(found.user))?.revision(found.version))
}

async fn show(call: Call) -> Outcome {
    reply(&call).await
}

async fn replace(mut call: Call) -> Outcome {
    let wanted: UserChange = call.read().await?;
    let found = read(&call, call.segment("user_id")).await?;
    if call.if_match() != Some(found.version) {
        return Err(Problem::changed());
    }
    let realm = call.realm();
    // Whoever is to be disabled is ended also where they were disabled before: an earlier call may have got only so far.
    // Tokens say what their holder might do when they were made: they end with the right.
    let ends = !wanted.enabled || (found.user.admin && !wanted.admin);
    let change = |draft: &mut Draft| {
        let user = &mut draft.user;
        user.admin = wanted.admin;
        user.enabled = wanted.enabled;
        user.profile = wanted.profile;
    };
    let replaced = match ends {
        true => realm.replace_user_and_end_everything(found, change).await?,
        false => {
            let users = &realm.people.users;
            users.change_found(found, call.now(), change).await?
        }
    };
    match replaced {
        Some(_) => reply(&call).await,
        None => Err(Problem::changed()),
    }
}

async fn remove(call: Call) -> Outcome {
    let user = read(&call, call.segment("user_id")).await?.user;
    let (realm, now) = (call.realm(), call.now());
    if !realm.people.users.may(&user).remove {
        return Err(UserError::KeptElsewhere("the account").into());
    }
    // From here on nothing new begins, and everything has ended; then the record goes. Each step can be repeated.
    end_with(&call, &user.id, |draft| draft.user.enabled = false).await?;
    loop {
        let consents = crate::consent::list(&*realm.store, &user.id, now).await?;
        if consents.is_empty() {
            break;
        }
        for (client_id, _) in consents {
            crate::consent::withdraw(&*realm.store, &user.id, &client_id, now).await?;
        }
    }
    realm.people.users.remove(&user.id, now).await?;
    Reply::done()
}

/// Changes the record, and ends everything of the user in the same change.
async fn end_with(call: &Call, id: &str, change: impl Fn(&mut Draft)) -> Result<(), Problem> {
    let changed = call
        .realm()
        .change_user_and_end_everything(id, |_| true, change);
    changed.await?.map(drop).ok_or_else(Problem::changed)
}

async fn set_email(mut call: Call) -> Outcome {
    let wanted: EmailChange = call.read().await?;
    let users = &call.realm().people.users;
    let id = call.segment("user_id");
    users
        .set_email(id, wanted.email.as_deref(), wanted.verified, call.now())
        .await?;
    reply(&call).await
}

async fn set_password(mut call: Call) -> Outcome {
    let wanted: PasswordChange = call.read().await?;
    let user = read(&call, call.segment("user_id")).await?.user;
    let names: Vec<&str> = std::iter::once(&*user.username)
        .chain(user.email.as_deref())
        .collect();
    let phc = match wanted.password {
        Some(password) => Some(hash(&call, password, &names).await?),
        None => None,
    };
    let now = call.now();
    // Whoever knew the old one is out.
    end_with(&call, &user.id, |draft| {
        draft.set_password(phc.as_deref(), now);
    })
    .await?;
    Reply::done()
}

async fn enable(call: Call) -> Outcome {
    let users = &call.realm().people.users;
    let id = call.segment("user_id");
    users.set_enabled(id, true, call.now()).await?;
    reply(&call).await
}

async fn disable(call: Call) -> Outcome {
    end_with(&call, call.segment("user_id"), |draft| {
        draft.user.enabled = false;
    })
    .await?;
    reply(&call).await
}

async fn revoke(call: Call) -> Outcome {
    let user = read(&call, call.segment("user_id")).await?.user;
    call.realm().revoke_everything_of(&user.id).await?;
    Reply::done()
}
