//! docs/moving.md: the sources' tables, as the code has them.

use crate::sources::SOURCES;

/// The page.
pub fn page() -> String {
    let mut page = String::from(
        "# Moving in\n\n\
        `signet import SOURCE FILE` reads what another server exported and makes it here, through the admin API: attributes, clients, roles,\n\
        groups, identity providers, then people. `--dry-run` reads the file, prints the same report and does nothing; it needs no server.\n\n\
        \x20   signet import keycloak export/ --dry-run\n\
        \x20   signet import keycloak export/ --server https://id.example.com --credentials admin.json\n\n\
        - What is there already stays as it is and is counted, so an import that was cut off is done again.\n\
        - People keep their password: its hash is verified as it is, and replaced by Argon2id at their next login. Their code apps keep algorithm,\n\
        \x20 digits and period. A passkey works where its relying party is the host of the issuer here; others are left out and reported.\n\
        - A code app that the tables below say stays behind is reported, and its account comes without it: its person adds an app. One that the\n\
        \x20 server refuses keeps its account out. Passkeys, links and consents that the server refuses are left out, and the account is made\n\
        \x20 (`left_out` in the answer).\n\
        - A file of another shape is refused with its place, before anything is done: `acme-realm.json: clients[3].redirectUris: expected a sequence\n\
        \x20 (line 812, column 20)`. No error, report or log repeats a value of the file that may be a secret.\n\
        - Exit 0: everything was made or was there. Exit 1: something was refused, each with its reason; or the file is no export. Exit 2: the server\n\
        \x20 is out of reach.\n\
        - A file that is encrypted as `age` does it is opened by `--passphrase-file FILE` or `--identity FILE`, whatever its source.\n\
        - `signet user import FILE` takes accounts of any server as JSON Lines, with the same members (docs/accounts.md).\n\
        - Where there is no export, people can move one by one, at their first login ([migrating.md](migrating.md)).\n\n\
        This page is made of the tables that the readers run on: `SIGNET_WRITE_DOCS=1 cargo test -p signet-moving` writes it.\n",
    );
    for source in SOURCES {
        page.push_str(&format!(
            "\n## {}\n\n    signet import {} FILE\n\n{}\n\n| there | | here |\n|---|---|---|\n",
            source.title, source.name, source.takes
        ));
        for row in source.rows {
            let (what, fate, note) = (row.what, row.fate.as_str(), row.note);
            page.push_str(&format!("| {what} | {fate} | {note} |\n"));
        }
    }
    page
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_manual_is_the_table() {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/moving.md");
        let page = super::page();
        if std::env::var_os("SIGNET_WRITE_DOCS").is_some() {
            std::fs::write(file, &page).unwrap();
        }
        assert_eq!(
            std::fs::read_to_string(file).unwrap_or_default(),
            page,
            "docs/moving.md is not what the tables say: SIGNET_WRITE_DOCS=1 cargo test -p signet-moving"
        );
    }
}
