//! docs/moving-out.md: the forms' tables, as the code has them.

use super::FORMS;

/// The members of a line, and what each is.
#[rustfmt::skip]
pub const MEMBERS: &[(&str, &str)] = &[
    ("id", "16 bytes in base64url: the `sub` of their tokens"),
    ("username", "what they log in as"),
    ("email", "their address"),
    ("email_verified", "whether it is known to be theirs"),
    ("admin", "whether they may administer"),
    (
        "admin_roles",
        "what they may do as an administrator ([administrators.md](administrators.md))",
    ),
    ("enabled", "whether they may log in"),
    ("has_password", "whether they have a password here; nothing is made of it"),
    ("must_change_password", "the next login sets another password"),
    ("expires_at", "Unix seconds from which the account is as a disabled one"),
    ("invitation", "an invitation that is open; nothing is made of it"),
    ("awaits_person", "somebody was invited to take it over, and has not"),
    ("must_accept_terms", "the next login accepts the terms"),
    ("terms", "the terms that were accepted: `version`, `accepted_at`"),
    ("deletion", "the account is to be erased: it is not imported"),
    ("directory", "a directory outside keeps the account: it is not imported"),
    ("created_at", "Unix seconds"),
    ("updated_at", "Unix seconds; nothing is made of it"),
    ("profile", "standard claims (OpenID Connect Core section 5.1): `name`, `given_name` and the rest"),
    ("groups", "names of groups"),
    ("roles", "whole names of roles: `NAME`, or `CLIENT_ID/NAME`"),
    ("attributes", "by the schema: texts, lists of texts, numbers, true or false"),
    ("unverified_attributes", "names of attributes that nobody vouches for"),
    ("password_hash", "a PHC string, or in modular crypt form"),
    ("totp", "code apps: `secret` (base32), `algorithm` (`SHA1`, `SHA256`, `SHA512`), `digits`, `period` (seconds), `label`, `created_at`"),
    ("passkeys", "`rp_id` (host), `id` (base64url), `public_key` (COSE, base64url), `sign_count`, `aaguid`, `backup_eligible`, `transports`, `user_verified`, `label`, `created_at`"),
    ("identities", "at identity providers: `provider`, `subject`, `name`"),
    ("consents", "`client_id`, `scope` (separated by spaces), `granted_at`"),
];

/// The page.
pub fn page() -> String {
    let mut page = String::from(
        "# Moving out\n\n\
        `signet export DIR --people` writes a realm's people beside its declarations. With `--with-credentials` the file has what they log in\n\
        with: hashes of passwords, secrets of code apps, public keys of passkeys. With it people log in at another server as they did here.\n\n\
        \x20   signet export moved/ --people --with-credentials --recipient age1... --login alice\n\
        \x20   signet export moved/ --people --with-credentials --passphrase-file passphrase.txt --login alice\n\
        \x20   signet apply moved/ --yes --server https://new.example            # groups, roles, attributes, clients\n\
        \x20   signet import signet moved/ --passphrase-file passphrase.txt --server https://new.example\n\n\
        - A file with credentials is encrypted always, in the format age-encryption.org/v1: to a passphrase (scrypt), or to an X25519 recipient\n\
        \x20 (`age-keygen` makes one). `age --decrypt` reads it, and so does `signet import` (`--passphrase-file`, `--identity`). A passphrase is\n\
        \x20 asked for at the terminal or read from a file, and is no argument. The server sends the credentials over TLS and encrypts nothing itself.\n\
        - Credentials are given to a person alone who may administer and has shown two factors in the last 10 minutes: a password and a code of\n\
        \x20 an app, or a passkey. `--login NAME` with SIGNET_PASSWORD and SIGNET_TOTP does it, and so does a browser. A client's credentials, a\n\
        \x20 token that was exchanged and a remembered browser are refused with `insufficient_user_authentication` (RFC 9470). No setting changes\n\
        \x20 that: a person who can write the configuration could read everybody's hashes.\n\
        - Each page of 100 people is a record of the audit trail (`exportUsersWithCredentials`), durable before the page is read. A refusal is one, too.\n\
        - Without `--with-credentials` an auditor may export people. The file is encrypted where somebody says to whom.\n\
        - The file is its owner's alone (mode 0600). It takes its name when it is whole: a failed export leaves none.\n\
        - The declarations of such an export have no `users.toml`: people are in their own file. An access rule that names a person can be applied\n\
        \x20 when the person is there: leave its file out of the first `apply`.\n\
        - A person who changes something while an export runs is in it as they were before or after. Nobody is in it twice, or left out.\n\n\
        ## The form\n\n\
        JSON Lines: one JSON object a line, UTF-8. The first line is `{\"credentials\":true,\"signet\":\"people\",\"version\":1}`, the last one\n\
        `{\"count\":2,\"end\":\"people\"}` with the number of accounts between them. A file without its last line was cut off, and is refused.\n\
        Times are Unix seconds. A member that is not there is at its default. Each line between them is an account:\n\n\
        | member | what |\n|---|---|\n",
    );
    for (name, what) in MEMBERS {
        page.push_str(&format!("| `{name}` | {what} |\n"));
    }
    page.push_str(
        "\nA version of Signet reads files of the same `version`. `signet user import` takes the accounts without the first and last line.\n\n\
        This page is made of the tables that the writers run on: `SIGNET_WRITE_DOCS=1 cargo test -p signet-moving` writes it.\n",
    );
    for form in FORMS {
        let (title, name, file, taken) = (form.title, form.name, form.file, form.taken);
        page.push_str(&format!(
            "\n## To {title}\n\n    signet export DIR --people --with-credentials --form {name}\n\n`{file}.age`. {taken}\n\n| here | | there |\n|---|---|---|\n"
        ));
        for row in form.rows {
            let (what, fate, note) = (row.what, row.fate.as_str(), row.note);
            page.push_str(&format!("| {what} | {fate} | {note} |\n"));
        }
    }
    page
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_manual_of_moving_out_is_the_table() {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/moving-out.md");
        let page = super::page();
        if std::env::var_os("SIGNET_WRITE_DOCS").is_some() {
            std::fs::write(file, &page).unwrap();
        }
        assert_eq!(
            std::fs::read_to_string(file).unwrap_or_default(),
            page,
            "docs/moving-out.md is not what the tables say: SIGNET_WRITE_DOCS=1 cargo test -p signet-moving"
        );
    }
}
