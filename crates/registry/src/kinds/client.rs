//! Clients, by `client_id`.
use crate::record_kind::{InRegistry, KindRow, RecordKind, Rows, Rule, Stored};
use signet_oauth::client::Client;
use signet_oauth::client::metadata::{Member, Shape};
use signet_oauth::command_line;
use signet_oauth::registry::Registry;
use signet_store::Table;
use std::sync::Arc;

pub(super) const ROW: KindRow = KindRow {
    kind: RecordKind::Client,
    number: 16,
    what: "clients",
    rows: Rows::Table(Table::Client),
    rule: rule_of_client,
    registry: Some(InRegistry::of::<Client>()),
};

/// What grants something, among the lists of clients.
const GRANTING: [&str; 4] = ["grant_types", "resources", "may_act_for", "allowed_origins"];

fn rule_of_client(member: &str) -> Rule {
    if member == "secrets" {
        return Rule::RemoveWins;
    }
    match Member::named(member).map(|row| row.shape) {
        Some(Shape::List | Shape::NameList(_)) if GRANTING.contains(&member) => Rule::RemoveWins,
        Some(Shape::List | Shape::NameList(_)) => Rule::AddWins,
        Some(Shape::Scope) => Rule::Words,
        Some(
            Shape::Text
            | Shape::Url
            | Shape::Name(_)
            | Shape::Flag
            | Shape::Seconds
            | Shape::Time
            | Shape::KeySet
            | Shape::ClaimTable,
        )
        | None => Rule::LastWriter,
    }
}

impl Stored for Client {
    const ROW: &'static KindRow = &ROW;

    fn name(&self) -> &str {
        &self.client_id
    }
    fn revision(&self) -> Option<u64> {
        Some(self.revision)
    }
    fn set_revision(&mut self, revision: u64) {
        self.revision = revision;
    }
    fn write(&self) -> Vec<u8> {
        self.to_json()
    }
    fn read(stored: &[u8]) -> Result<Client, String> {
        Client::from_json(stored).map_err(|error| error.to_string())
    }
    /// The command line's.
    fn built_in(name: &str) -> Option<Client> {
        let client = (name == command_line::CLIENT_ID).then(command_line::client)?;
        client.ok()
    }
    fn get(registry: &Registry, name: &str) -> Option<Arc<Client>> {
        registry.clients.get(name).cloned()
    }
    fn set(registry: &mut Registry, name: &str, record: Option<Arc<Client>>) {
        match record {
            Some(client) => registry.clients.insert(name.to_owned(), client),
            None => registry.clients.remove(name),
        }
    }
    fn names(registry: &Registry) -> Vec<String> {
        registry.clients.keys().map(str::to_owned).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_list_of_a_client_is_a_set() {
        for member in signet_oauth::client::metadata::MEMBERS {
            let is_list = matches!(member.shape, Shape::List | Shape::NameList(_));
            let rule = rule_of_client(member.name);
            let is_set = matches!(rule, Rule::AddWins | Rule::RemoveWins);
            assert_eq!(is_set, is_list, "{}", member.name);
        }
        assert_eq!(rule_of_client("scope"), Rule::Words);
        assert_eq!(rule_of_client("redirect_uris"), Rule::AddWins);
        assert_eq!(rule_of_client("secrets"), Rule::RemoveWins);
    }
}
