//! What a realm keeps at hand for people, from its configuration: mail, brand, policies; and the
//! accounts that the file declares.

use std::path::Path;

use signet_audit::{self as audit, Action, Event};
use signet_config::{Config, apply, check, model};
use signet_crypto::{Secret, password};
use signet_directory::{Local, NewUser, Profile, UserError};
use signet_mail::{Mailer, SmtpOptions, SmtpSecurity};
use signet_realm::user_services::UserServiceOptions;

/// Creates the users of the configuration that do not exist yet.
pub(crate) async fn seed_users(
    config: &Config,
    base: &Path,
    users: &Local,
    now: u64,
) -> Result<(), String> {
    for user in &config.users {
        let failed =
            |e: &dyn std::fmt::Display| format!("the user {} cannot be made: {e}", user.username);
        if users
            .by_login(&user.username, now)
            .await
            .map_err(|e| failed(&e))?
            .is_some()
        {
            continue;
        }
        let phc = match &user.password {
            None => None,
            Some(reference) => {
                let secret = reference.read(base).map_err(|e| failed(&e))?;
                check::new_password(config, user, secret.expose()).map_err(|e| failed(&e))?;
                Some(
                    password::hash(secret.expose().as_bytes(), password::Cost::default())
                        .map_err(|e| failed(&e))?,
                )
            }
        };
        let new = NewUser {
            username: user.username.clone(),
            email: user.email.clone(),
            email_verified: user.email_verified,
            password: phc,
            must_change_password: false,
            admin: user.admin,
            by_administrator: true,
            profile: Profile {
                name: user.name.clone().or_else(|| user.profile.name.clone()),
                ..user.profile.clone()
            },
            ..NewUser::default()
        };
        let event = Event::new(Action::ADMIN, now.saturating_mul(1000))
            .subject("configuration")
            .operation("createUser");
        match audit::with_record(event, users.create(new, now)).await.0 {
            Ok(_) => tracing::info!(
                username = user.username,
                "created a user of the configuration"
            ),
            Err(UserError::UsernameTaken) => {}
            Err(e) => return Err(failed(&e)),
        }
    }
    Ok(())
}

pub(crate) fn services(config: &Config, base: &Path) -> Result<UserServiceOptions, String> {
    let brands = config.brand.read(base);
    let brands = brands.map_err(|(member, why)| format!("brand.{member}: {why}"))?;
    Ok(UserServiceOptions {
        mailer: mailer(config, base)?,
        limits: apply::login_limits(config),
        brands: brands.into(),
        passwords: apply::password_policy(config),
        // A directory that people come from is a line here.
        outside: Vec::new(),
    })
}

/// What mail leaves by; none where the configuration has no mail.
///
/// # Errors
/// What of it cannot be used, for the operator.
pub fn mailer(config: &Config, base: &Path) -> Result<Option<Mailer>, String> {
    let Some(mail) = &config.mail else {
        return Ok(None);
    };
    let made = match (&mail.smtp, &mail.directory) {
        (Some(smtp), _) => Mailer::smtp(&mail.from, smtp_options(smtp, base)?),
        (None, Some(directory)) => Mailer::directory(&mail.from, &base.join(directory)),
        (None, None) => return Err("mail: needs one of smtp and directory".into()),
    };
    made.map(Some).map_err(|e| format!("mail: {e}"))
}

fn smtp_options(smtp: &model::Smtp, base: &Path) -> Result<SmtpOptions, String> {
    let credentials = match (&smtp.username, &smtp.password) {
        (Some(name), Some(reference)) => {
            let secret: Secret<String> = reference.read(base).map_err(|e| format!("mail: {e}"))?;
            Some((name.clone(), secret))
        }
        _ => None,
    };
    let trust = match &smtp.trust {
        None => None,
        Some(file) => {
            let file = base.join(file);
            Some(std::fs::read(&file).map_err(|e| format!("{}: {e}", file.display()))?)
        }
    };
    Ok(SmtpOptions {
        host: smtp.host.clone(),
        port: smtp.port,
        security: match smtp.security {
            model::SmtpSecurity::Tls => SmtpSecurity::Tls,
            model::SmtpSecurity::Starttls => SmtpSecurity::StartTls,
            model::SmtpSecurity::Plain => SmtpSecurity::Plain,
        },
        credentials,
        trust,
    })
}
