//! `/console/connection/{client}`: a client and its application: a program to paste, whether the
//! record can work, what the application asked last, and how long its tokens are.

use maud::{Markup, html};
use serde_json::Value;
use signet_connect::{Connection, Kind};
use signet_oauth::client::{ApplicationType, AuthMethod, Client, GrantType};
use signet_pages::Face;
use signet_request::http::{Context, Response};
use signet_texts::Arg;

use super::{audit, parts, programs};
use crate::call::{self, Call};
use crate::engine::catalog::Catalog;
use crate::session::Session;
use crate::token_size::{LARGE, estimate};
use crate::view::shell::{Frame, encoded, href};
use crate::view::timeline;

const SHOW: &str = "showClient";

/// The kind that a record is of: by what it may do, and how it shows who it is.
fn kind_of(client: &Client) -> Option<&'static Kind> {
    let has = |grant: GrantType| client.grant_types.contains(&grant);
    let is_public = client.token_endpoint_auth_method == AuthMethod::None;
    Kind::named(match () {
        () if client.may_exchange_agent_grants => "agent",
        () if has(GrantType::DeviceCode) => "device",
        () if has(GrantType::AuthorizationCode) => match (is_public, client.application_type) {
            (true, ApplicationType::Native) => "native",
            (true, ApplicationType::Web) => "spa",
            (false, _) => "web",
        },
        () => "service",
    })
}

/// GET.
pub(crate) async fn show(context: Context) -> Response {
    let session = match Session::of(context).await {
        Ok(session) => session,
        Err(answer) => return answer,
    };
    let (t, catalog) = (session.face(), Catalog::house());
    let id = session
        .context
        .param("client")
        .unwrap_or_default()
        .to_owned();
    let Some(row) = catalog.operation(SHOW) else {
        return parts::not_found(session);
    };
    // Read as an administrator reads it: what they may not see is not here either.
    let read = call::read(&session, row, Call::of(Some("client_id"), &id)).await;
    if let Err(problem) = read {
        return parts::refused(session, &id, "/clients", &problem);
    }
    let snapshot = session.realm().snapshot();
    let Some(client) = snapshot.registry.clients.get(&id).cloned() else {
        return parts::not_found(session);
    };
    let query = session.context.query_params().ok();
    let named = query.as_ref().and_then(|query| query.get("user"));
    let named = named.map(str::trim).unwrap_or_default().to_owned();
    let users = &session.realm().people.users;
    let now = session.context.now();
    let person = match &*named {
        "" => Some(session.user().clone()),
        named => users.by_login(named, now).await.unwrap_or_default(),
    };
    let is_own = !client.grant_types.contains(&GrantType::AuthorizationCode)
        && !client.grant_types.contains(&GrantType::DeviceCode);
    let length = match (is_own, &person) {
        (true, _) => Some(estimate(&snapshot, &client, None, now)),
        (false, Some(person)) => Some(estimate(&snapshot, &client, Some(person), now)),
        (false, None) => None,
    };
    let lines = audit::of_client(&session, &id).await;
    let at = format!("/clients/{}", encoded(&id));
    let name = client.client_name.clone().unwrap_or_else(|| id.clone());
    let mut frame = Frame::new(&t, name, "/clients");
    let clients = catalog.kind("clients");
    let clients = clients
        .map(|kind| parts::kind_text(&t, &kind))
        .unwrap_or_default();
    frame.way = vec![
        (clients.into(), "/clients".to_owned()),
        (id.clone().into(), at),
    ];
    let kind = kind_of(&client);
    let of = Connection {
        issuer: &snapshot.settings.issuer,
        client_id: &id,
        client_secret: (!client.secrets.is_empty()).then_some("…"),
        redirect_uri: client.redirect_uris.first().map(|uri| uri.as_str()),
        resource: None,
        authority: None,
    };
    let person_name = match &*named {
        "" => session.user().username.clone(),
        named => named.to_owned(),
    };
    let content = html! {
        @if let Some(kind) = kind {
            @let (name, about) = programs::texts(&t, kind);
            p .lead { strong { (name) } " · " (about) }
        }
        div .columns {
            div {
                (checks(&t, &session, &client))
                section .panel {
                    h2 { (t.text("console-test")) }
                    p .soft { (t.text("console-test-about")) }
                    div #live aria-live="polite" data-refresh="3" { (asked(&t, &lines)) }
                }
            }
            div {
                section .panel #size {
                    h2 { (t.text("console-token-size")) }
                    (length_of(&t, length))
                    @if !is_own {
                        form .inline method="get" action=(href(&t, &format!("/connection/{}", encoded(&id)))) {
                            label for="user" { (t.text("console-the-person")) }
                            input #user name="user" value=(person_name) autocomplete="off" autocapitalize="off" spellcheck="false";
                            button type="submit" { (t.text("console-show")) }
                        }
                    }
                }
            }
        }
        @if let Some(kind) = kind { (programs::pasted(&t, kind, &of)) }
    };
    let page = frame.render(&session.visitor(), &catalog, &content);
    session.finish(page)
}

/// The length, as a bar that ends where trouble begins.
fn length_of(t: &Face, length: Option<usize>) -> Markup {
    let Some(length) = length else {
        return html! { p .empty { (t.text("console-none")) } };
    };
    let is_large = length >= LARGE;
    let shown = (length * 100 / LARGE).min(100);
    html! {
        p .soft { (t.text("console-token-size-about")) }
        p .length { strong data-token-bytes=(length) { (t.with("console-bytes", &[("count", Arg::Number(length as u64))])) } " " span .soft { "/ 4096" } }
        svg .gauge viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true" data-large[is_large] {
            rect .rest x="0" y="0" width="100" height="6" {}
            rect .part x="0" y="0" width=(shown) height="6" {}
        }
        @if is_large { p .wrong role="status" { (t.text("console-token-size-large")) } }
    }
}

/// What can be said of the record before anybody asks.
fn checks(t: &Face, session: &Session, client: &Client) -> Markup {
    let snapshot = session.realm().snapshot();
    let needs_redirect = client.grant_types.contains(&GrantType::AuthorizationCode);
    let has_key =
        client.jwks.is_some() || client.jwks_uri.is_some() || client.tls_client_auth.is_some();
    let is_public = client.token_endpoint_auth_method == AuthMethod::None;
    let defined = |scope: &str| {
        snapshot
            .registry
            .scopes
            .iter()
            .any(|known| known.name == scope)
    };
    let all = [
        ("console-check-enabled", client.enabled),
        (
            "console-check-redirect",
            !needs_redirect || !client.redirect_uris.is_empty(),
        ),
        (
            "console-check-proof",
            is_public || has_key || !client.secrets.is_empty(),
        ),
        ("console-check-scope", client.scope.iter().all(defined)),
    ];
    let metadata = format!(
        "{}/.well-known/openid-configuration",
        snapshot.settings.issuer
    );
    html! {
        section .panel {
            h2 { (t.text("console-connection")) }
            ul .checks {
                @for (text, holds) in all {
                    li data-holds=(holds) { span .tick aria-hidden="true" {} (t.language.find(text).unwrap_or_default()) @if !holds { " " span .state data-state="failure" { (t.text("console-no")) } } }
                }
                li data-holds="true" { span .tick aria-hidden="true" {} (t.text("console-check-metadata")) " " a href=(metadata) { code { (metadata) } } }
            }
            p { a href=(href(t, &format!("/explain?client={}", encoded(&client.client_id)))) { (t.text("console-explain")) } }
        }
    }
}

/// What the application asked of this server, as far as the trail says.
fn asked(t: &Face, lines: &[Value]) -> Markup {
    html! {
        @if lines.is_empty() {
            p .waiting { span .pulse aria-hidden="true" {} (t.text("console-test-waiting")) }
        } @else {
            (timeline::lines(t, lines))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_of_the_kind_that_made_it() {
        let mut client = Client::new("c", 0);
        client.grant_types = vec![GrantType::AuthorizationCode, GrantType::RefreshToken];
        let name = |client: &Client| kind_of(client).map(|kind| kind.name);
        assert_eq!(name(&client), Some("web"));
        client.token_endpoint_auth_method = AuthMethod::None;
        assert_eq!(name(&client), Some("spa"));
        client.application_type = ApplicationType::Native;
        assert_eq!(name(&client), Some("native"));
        client.grant_types = vec![GrantType::DeviceCode];
        assert_eq!(name(&client), Some("device"));
        client.grant_types = vec![GrantType::ClientCredentials];
        assert_eq!(name(&client), Some("service"));
        client.may_exchange_agent_grants = true;
        assert_eq!(name(&client), Some("agent"));
    }

    #[test]
    fn from_four_kilobytes_on_a_warning_stands_beside_the_length() {
        let t = Face::default();
        let shown = |length| length_of(&t, Some(length)).into_string();
        assert!(
            !shown(LARGE - 1).contains("console-token-size-large")
                && !shown(LARGE - 1).contains("4 KB")
        );
        assert!(shown(LARGE).contains("4 KB"));
    }
}
