//! The console, `/console`: pages on which people administer.
//!
//! It performs the typed operations of the admin API itself, as an administrator whose right is
//! asked for at each of them by the function that the API asks, and has nothing beside them: its
//! kinds of records, columns, filters, fields and their help are read off the same rows
//! ([`engine`]). So whatever it can do, a program and a command can, and a member or a kind that is
//! added there is here.
//!
//! - [`session`]: who is there, since when, and what a form must show.
//! - [`engine`]: kinds and fields, made of the rows.
//! - [`call`]: an operation is performed for the administrator.
//! - [`view`]: from plain data to HTML.
//! - [`pages`]: one file a page.
//!
//! Pages are plain forms that work without a script.
#![forbid(unsafe_code)]

mod assets;
mod call;
mod engine;
pub mod first;
mod pages;
mod session;
#[cfg(test)]
mod tests;
mod token_size;
mod view;

use signet_login::administrator;
use signet_request::http::Router;

/// Adds the console's routes.
pub fn routes(router: &mut Router) {
    router
        .get("/console", pages::overview::show)
        .get("/console/", pages::overview::without_slash)
        .post("/console/leave", pages::leave::submit)
        .get(first::PATH, pages::first::show)
        .post(first::PATH, pages::first::submit)
        .post(administrator::PASSKEY, administrator::submit)
        .get("/console/audit", pages::audit::show)
        .get("/console/audit/lines.ndjson", pages::audit::export)
        .get("/console/agents", pages::agents::show)
        .get("/console/brand", pages::brand::show)
        .get("/console/cluster", pages::cluster::show)
        .get("/console/drift", pages::drift::show)
        .get("/console/explain", pages::explain::show)
        .get("/console/mail", pages::mail::show)
        .get("/console/wizard", pages::wizard::show)
        .post("/console/wizard", pages::wizard::submit)
        .get("/console/connection/{client}", pages::connection::show)
        .post("/console/bulk/{kind}", pages::bulk::submit)
        .get("/console/settings", pages::settings::show)
        .get("/console/keys", pages::keys::show)
        .get("/console/token", pages::token::show)
        .post("/console/token", pages::token::submit)
        .get("/console/operations", pages::operations::show)
        .get("/console/assets/{file}", assets::send)
        .get("/console/do/{operation}", pages::operation::show)
        .post("/console/do/{operation}", pages::operation::submit)
        .get("/console/{kind}", pages::list::show)
        .get("/console/{kind}/{id}", pages::record::show);
}
