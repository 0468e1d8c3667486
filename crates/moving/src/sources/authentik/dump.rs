//! The rows of a dump, by their models.

use std::collections::BTreeMap;

use super::form::{
    Application, Client, Connection, Consent, Flow, Group, Key, OAuthConnection, OAuthSource,
    Provider, Row, ScopeMapping, Source, TotpDevice, User,
};
use super::rows;
use crate::read::{Document, ReadError};
use crate::report::Report;

/// Everything of a dump that is read, by the keys of the rows.
///
/// A model that extends another has a row in the table of each, with one key.
#[derive(Default)]
pub(super) struct Dump {
    pub(super) users: BTreeMap<String, User>,
    pub(super) groups: BTreeMap<String, Group>,
    pub(super) apps: Vec<TotpDevice>,
    pub(super) consents: Vec<Consent>,
    pub(super) applications: BTreeMap<String, Application>,
    pub(super) providers: BTreeMap<String, Provider>,
    pub(super) clients: BTreeMap<String, Client>,
    pub(super) scopes: BTreeMap<String, ScopeMapping>,
    pub(super) flows: BTreeMap<String, Flow>,
    pub(super) sources: BTreeMap<String, Source>,
    pub(super) oauth_sources: BTreeMap<String, OAuthSource>,
    pub(super) connections: BTreeMap<String, Connection>,
    pub(super) oauth_connections: BTreeMap<String, OAuthConnection>,
}

impl Dump {
    /// Takes a row. One of a model that is not read is counted in the report.
    ///
    /// # Errors
    /// It is no row, or its fields have other types than the model's.
    pub(super) fn take(
        &mut self,
        document: Document,
        report: &mut Report,
    ) -> Result<(), ReadError> {
        let (Some(model), Some(key)) = (
            document.value.get("model").and_then(|model| model.as_str()),
            document.value.get("pk").and_then(Key::of),
        ) else {
            let _: Row = document.read("")?;
            return Ok(());
        };
        let key = key.0;
        match model {
            "authentik_core.user" => drop(self.users.insert(key, document.read("fields")?)),
            "authentik_core.group" => drop(self.groups.insert(key, document.read("fields")?)),
            "authentik_core.application" => {
                drop(self.applications.insert(key, document.read("fields")?));
            }
            "authentik_core.provider" => {
                drop(self.providers.insert(key, document.read("fields")?));
            }
            "authentik_core.source" => drop(self.sources.insert(key, document.read("fields")?)),
            "authentik_core.usersourceconnection" => {
                drop(self.connections.insert(key, document.read("fields")?));
            }
            "authentik_flows.flow" => drop(self.flows.insert(key, document.read("fields")?)),
            "authentik_providers_oauth2.oauth2provider" => {
                drop(self.clients.insert(key, document.read("fields")?));
            }
            "authentik_providers_oauth2.scopemapping" => {
                drop(self.scopes.insert(key, document.read("fields")?));
            }
            "authentik_sources_oauth.oauthsource" => {
                drop(self.oauth_sources.insert(key, document.read("fields")?));
            }
            "authentik_sources_oauth.useroauthsourceconnection" => {
                drop(self.oauth_connections.insert(key, document.read("fields")?));
            }
            "authentik_stages_authenticator_totp.totpdevice" => {
                self.apps.push(document.read("fields")?);
            }
            "authentik_stages_consent.userconsent" => {
                self.consents.push(document.read("fields")?);
            }
            other => {
                if let Some((row, detail)) = rows::of_model(other) {
                    report.add(row, "", detail);
                }
            }
        }
        Ok(())
    }

    /// The group that this one is in: its key, and it.
    pub(super) fn parent(&self, key: &str) -> Option<(&str, &Group)> {
        let group = self.groups.get(key)?;
        let parent = group.parent.as_ref().or(group.parents.first())?;
        let (key, parent) = self.groups.get_key_value(&parent.0)?;
        Some((key, parent))
    }
}
