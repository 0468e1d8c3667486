//! The password, on the login page.

use signet_crypto::Secret;

use super::budgets::Standing;
use super::method::{Answer, Attempt, Method, MethodPage, Verdict};
use crate::attempts::Kind;
use crate::page::Html;
use signet_directory::passwords::PoolError;

/// See the module.
pub const METHOD: Method = Method {
    name: "password",
    amr: "pwd",
    guess: Kind::Password,
    offered: |_| true,
    usable: |_, user| user.password.is_some(),
    start: None,
    page,
    verify: |attempt| verify(attempt),
    wrong: "The user name or password is not right.",
    expired: "",
};

/// Its fields stand on the login page.
fn page(page: &MethodPage<'_>) -> Html {
    super::flow::login_page(page)
}

fn verify<'a>(attempt: &'a Attempt<'a>) -> Answer<'a, Verdict> {
    Box::pin(async move {
        let password = attempt.form.get("password").unwrap_or("");
        let password = Secret::new(password.to_owned());
        let user = attempt.user.filter(|_| attempt.standing == Standing::Open);
        let stored = user.and_then(|user| user.password.as_deref());
        let pool = &attempt.visit.context.realm.host.passwords;
        let right = match pool.verify(password, stored).await {
            Ok(right) => right,
            Err(PoolError::TooLong | PoolError::Parameters) => false,
            Err(PoolError::Busy) => return Ok(Verdict::Busy),
        };
        Ok(match user {
            Some(user) if right && user.enabled => Verdict::Proven(Box::new(user.clone())),
            _ => Verdict::Wrong,
        })
    })
}
