//! What the server answers at its own address.

use std::net::IpAddr;
use std::sync::Arc;

use http::StatusCode;
use jiff::fmt::rfc2822::DateTimeParser;
use serde_json::Value;
use signet_admin_client::http_client::Answer;
use signet_store::{Engine, PostgresStore};
use tokio::net::lookup_host;

use super::Finding;
use super::subject::Subject;
use crate::moment::now;

/// How far clocks may be apart, seconds: answers say whole seconds, and take their time.
const NEAR: u64 = 2;
/// Beyond it, what other servers sign is refused, and what this one signs elsewhere, seconds.
const FAR: u64 = 30;

const SYNCHRONIZE: &str = "synchronize the clock: timedatectl set-ntp true";

async fn ask(subject: &Subject, url: &str, headers: &[(&str, &str)]) -> Result<Answer, String> {
    subject.client.get(url, headers).await
}

fn silent(why: &str) -> Finding {
    Finding::wrong(
        why,
        "start the server, or see what is in front of it: `signet status` asks the same",
    )
}

/// Who answers says that it is this issuer, and is ready.
pub(crate) async fn issuer(subject: Arc<Subject>) -> Finding {
    let issuer = &subject.issuer;
    let metadata = format!("{issuer}/.well-known/openid-configuration");
    let answer = match ask(&subject, &metadata, &[]).await {
        Ok(answer) => answer,
        Err(why) => return silent(&why),
    };
    let said: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
    match said["issuer"].as_str() {
        Some(said) if said == issuer => {}
        Some(said) => {
            return Finding::wrong(
                format!("what answers at {issuer} says that it is {said}"),
                "correct `issuer`, or where the name or the proxy leads",
            );
        }
        None => {
            return Finding::wrong(
                format!(
                    "what answers at {metadata} is no authorization server ({})",
                    answer.status
                ),
                "let the proxy pass everything below the issuer on, /.well-known/ among it",
            );
        }
    }
    // The default realm's path is the origin's: an issuer with a path has health above it.
    let health = format!("{}/health/ready", origin(issuer));
    match ask(&subject, &health, &[]).await {
        Err(why) => silent(&why),
        Ok(answer) => {
            let text = String::from_utf8_lossy(&answer.body);
            let line: String = text
                .lines()
                .next()
                .unwrap_or_default()
                .chars()
                .filter(|c| !c.is_control())
                .take(200)
                .collect();
            match (answer.status, line.starts_with("degraded")) {
                (StatusCode::OK, false) => Finding::ok(format!("{issuer} answers, and is ready")),
                (StatusCode::OK, true) => {
                    Finding::warning(line, "see docs/operations.md, A full disk")
                }
                (StatusCode::NOT_FOUND, _) => Finding::warning(
                    format!("{issuer} answers; {health} is not passed on"),
                    "ask /health/ready at the listener itself, for the balancer and for you",
                ),
                _ => Finding::wrong(
                    format!("not ready: {line}"),
                    "see the log of the server, and docs/operations.md, Logs, health, metrics",
                ),
            }
        }
    }
}

fn origin(issuer: &str) -> &str {
    let begins = issuer.find("://").map_or(0, |at| at + 3);
    let end = issuer[begins..].find('/').map(|at| begins + at);
    &issuer[..end.unwrap_or(issuer.len())]
}

/// Seconds by which a `Date` is ahead of this clock (RFC 9110 section 5.6.7).
pub(crate) fn ahead(date: &str, now: u64) -> Option<i64> {
    let timestamp = DateTimeParser::new().parse_timestamp(date).ok()?;
    Some(timestamp.as_second() - i64::try_from(now).ok()?)
}

/// What differences of clocks mean. `found`: whose, and seconds by which it is ahead.
pub(crate) fn of_clocks(found: &[(&str, i64)]) -> Finding {
    let worst = found.iter().max_by_key(|(_, ahead)| ahead.unsigned_abs());
    let Some((whose, ahead)) = worst else {
        return Finding::warning("no other clock was seen", "start the server");
    };
    let side = match ahead {
        ..0 => "behind",
        _ => "ahead of",
    };
    let text = format!(
        "{whose} is {} s {side} this machine's clock",
        ahead.unsigned_abs()
    );
    let apart = ahead.unsigned_abs();
    if apart > FAR {
        return Finding::wrong(text, SYNCHRONIZE);
    }
    if apart > NEAR {
        return Finding::warning(text, SYNCHRONIZE);
    }
    let names: Vec<&str> = found.iter().map(|(whose, _)| *whose).collect();
    Finding::ok(format!("as {} has it", names.join(" and ")))
}

/// This machine's clock.
pub(crate) async fn clock(subject: Arc<Subject>) -> Finding {
    let mut found = Vec::new();
    let url = format!("{}/.well-known/openid-configuration", subject.issuer);
    if let Ok(answer) = ask(&subject, &url, &[]).await
        && let Some(ahead) = answer.header("date").and_then(|date| ahead(date, now()))
    {
        found.push(("the issuer's answer", ahead));
    }
    if let Engine::Postgres { options, .. } = &subject.place.engine {
        let options = options.clone();
        let position = tokio::task::spawn_blocking(move || PostgresStore::position(&options));
        // That it cannot be reached is the row of the store.
        if let Ok(Ok(position)) = position.await {
            let seconds = i64::try_from(position.now_ms / 1000).unwrap_or(i64::MAX);
            let now = i64::try_from(now()).unwrap_or(i64::MAX);
            found.push(("the database", seconds - now));
        }
    }
    of_clocks(&found)
}

/// What a caller that is not this machine is answered at `/metrics`: plainly, and when it says that
/// it is this machine.
pub(crate) struct Asked {
    pub(crate) plain: bool,
    pub(crate) forged: bool,
}

/// What the configured proxies mean.
pub(crate) async fn proxy(subject: Arc<Subject>) -> Finding {
    let Some(found) = &subject.place.configuration else {
        return Finding::ok(match subject.place.dev {
            Some(_) => "a development server believes no proxy",
            None => "without a configuration file nothing is known of it",
        });
    };
    let config = &found.config;
    let meaning = match &config.proxy {
        None => "no proxy: headers about callers are ignored".to_owned(),
        Some(proxy) => {
            let trusted: Vec<String> = proxy.trusted.iter().map(ToString::to_string).collect();
            let secret = match proxy.secret_file {
                Some(_) => " with the proxy's secret",
                None => "",
            };
            let header = match proxy.forwarded_header {
                signet_config::model::ForwardedHeader::XForwardedFor => "X-Forwarded-For",
                signet_config::model::ForwardedHeader::Forwarded => "Forwarded",
            };
            format!("{header} counts from {}{secret}", trusted.join(", "))
        }
    };
    if let Some(proxy) = &config.proxy
        && proxy.secret_file.is_none()
        && proxy.trusted.iter().any(IpAddr::is_loopback)
    {
        return Finding::warning(
            format!("{meaning}: every program of this machine counts as the proxy"),
            "set proxy.secret_file, and let the proxy send it (docs/operations.md, Behind a reverse proxy)",
        );
    }
    // From this machine itself everything is allowed: only where the way leads over another
    // address does an answer say something.
    let addresses = lookup_host((subject.host.as_str(), subject.port)).await;
    let is_outside = addresses.is_ok_and(|found| {
        let mut found = found.peekable();
        found.peek().is_some() && found.all(|address| !address.ip().is_loopback())
    });
    if !is_outside || config.metrics.open {
        return Finding::ok(format!(
            "{meaning} (not tried: the issuer is this machine's own)"
        ));
    }
    let url = format!("{}/metrics", origin(&subject.issuer));
    let opens = async |headers: &[(&str, &str)]| {
        let answer = ask(&subject, &url, headers).await;
        answer.is_ok_and(|answer| answer.status == StatusCode::OK)
    };
    let asked = Asked {
        plain: opens(&[]).await,
        forged: opens(&[
            ("x-forwarded-for", "127.0.0.1"),
            ("forwarded", "for=127.0.0.1"),
        ])
        .await,
    };
    of_answers(&meaning, &asked)
}

/// What those answers mean.
pub(crate) fn of_answers(meaning: &str, asked: &Asked) -> Finding {
    match asked {
        Asked { plain: true, .. } => Finding::wrong(
            format!(
                "{meaning}; but a caller from outside is taken for this machine: /metrics opens to it"
            ),
            "name the proxy in proxy.trusted, and let it send the caller's address",
        ),
        Asked { forged: true, .. } => Finding::wrong(
            format!("{meaning}; but a caller is believed that says it is this machine"),
            "let the proxy overwrite the header (nginx: proxy_set_header X-Forwarded-For $remote_addr)",
        ),
        _ => Finding::ok(format!("{meaning}; a caller cannot say who it is")),
    }
}
