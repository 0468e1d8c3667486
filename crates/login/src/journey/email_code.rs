//! A one-time code by mail: six digits, bound to the browser that asked.

use super::budgets::Standing;
use super::link;
use super::method::{Answer, Attempt as Try, Method, MethodPage, Page, Start, Step, Verdict};
use super::one_time_code::{self, Attempt, MailedCodeId};
use signet_directory::User;
use signet_pages::words::name_of;
use signet_pages::{CodePage, Html, MethodButton};
use signet_realm::attempts::Kind;
use signet_realm::letters::Sending;
use signet_request::access::Entrance;
use signet_request::browser_request::BrowserRequest;
use signet_request::http::letters;

/// See the module.
pub const METHOD: Method = Method {
    name: "email_code",
    shows: &["email_code"],
    step: Step::Either,
    guess: Kind::Code,
    offered: |browser| browser.context.realm.people.mailer.is_some(),
    usable: |browser, user| browser.context.realm.people.mailer.is_some() && user.email.is_some(),
    decision: "email",
    label: "login-email-button",
    start: Some(Start {
        counts: Kind::Mail,
        needs_name: true,
        run: |browser, user| send(browser, user),
        keep: Some(|browser, state, sealed| Box::pin(link::keep(browser, state, sealed))),
        again: "login-email-again",
    }),
    script: None,
    page: Page::Own(code_page),
    verify: |attempt| verify(attempt),
    wrong: "login-email-wrong",
    expired: "login-email-expired",
};

const PASSWORD_INSTEAD: MethodButton = MethodButton {
    decision: "password",
    label: "login-use-password",
};

fn code_page(page: &MethodPage<'_>) -> Html {
    signet_pages::code(
        &page.browser.face(),
        &CodePage {
            action: page.action,
            interaction: page.interaction,
            typed: page.typed,
            minutes: page.browser.context.snapshot.settings.otp_lifetime / 60,
            can_cancel: page.can_cancel,
            others: match page.step_up_of {
                None => &[PASSWORD_INSTEAD],
                Some(_) => page.others,
            },
            notice: page.notice.clone(),
        },
    )
}

/// Makes a code, and mails it if there is somebody to mail it to. What the browser sees is the same
/// either way.
fn send<'a>(browser: &'a BrowserRequest, user: Option<&'a User>) -> Answer<'a, Vec<u8>> {
    Box::pin(async move {
        let context = &browser.context;
        let (realm, settings) = (&context.realm, &context.snapshot.settings);
        let now = context.now();
        let receiver = user.filter(|user| Entrance::MailedCode.opens(user, now));
        let receiver = receiver.and_then(|user| Some((&*user.id, user.email.as_deref()?)));
        let keyring = realm.keyring().clone();
        let lifetime = settings.otp_lifetime;
        let code = one_time_code::create(&*realm.store, &keyring, receiver, lifetime, now).await?;
        if let Some((user_id, email)) = receiver {
            let clients = &context.snapshot.registry.clients;
            let client = context.noted_client().and_then(|id| clients.get(id));
            let letter = signet_pages::login_code(
                &browser.face(),
                &signet_pages::LoginCode {
                    server: &settings.issuer,
                    client_name: client.map(|client| name_of(client)),
                    digits: &code.digits,
                    url: &link::url(browser, &code)?,
                    minutes: lifetime / 60,
                },
            );
            let sending = Sending {
                user_id: Some(user_id),
                to: email,
                what: "login_code",
                expires_at: now.saturating_add(lifetime),
            };
            letters::send(context, &sending, &letter).await;
        } else {
            letters::send_nothing(context).await;
        }
        Ok(code.id.as_bytes().to_vec())
    })
}

fn verify<'a>(attempt: &'a Try<'a>) -> Answer<'a, Verdict> {
    Box::pin(async move {
        let context = &attempt.browser.context;
        let (realm, now) = (&context.realm, context.now());
        let Some(id) = MailedCodeId::from_slice(attempt.state) else {
            return Ok(Verdict::Expired);
        };
        let typed = match attempt.standing {
            Standing::Open => attempt.form.get("otp").unwrap_or(""),
            // No code: it counts against the code's own tries, as a wrong one does.
            Standing::UsedUp => "",
        };
        let keyring = realm.keyring().clone();
        let users = &realm.people.users;
        match one_time_code::attempt(&*realm.store, &keyring, &id, typed, now).await? {
            Attempt::Right { user_id, email } => {
                // Between the mail and the code the account may have moved to another address, or
                // been disabled.
                let user = users.by_id(&user_id, now).await?;
                let user = user.filter(|user| {
                    Entrance::MailedCode.opens(user, now) && user.email.as_deref() == Some(&*email)
                });
                let Some(user) = user else {
                    return Ok(Verdict::Void);
                };
                if user.email_verified {
                    return Ok(Verdict::Proven(Box::new(user)));
                }
                // Mail to the address has reached the person.
                let verified = users.change(&user_id, now, |draft| {
                    let user = &mut draft.user;
                    user.email_verified = user.email.as_deref() == Some(&*email);
                });
                let verified = verified.await?;
                Ok(Verdict::Proven(Box::new(verified)))
            }
            Attempt::Wrong => Ok(Verdict::Wrong),
            Attempt::Ended => Ok(Verdict::Expired),
        }
    })
}
