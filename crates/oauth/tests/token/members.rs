//! The table of a client's members, and the page of the manual that is made from it.
use crate::support::*;
use signet_encoding::json::{self, Limits, Writer};
use signet_oauth::client::{
    Client,
    metadata::{MEMBERS, Member, SetBy, Shape},
};

#[test]
fn a_record_survives_its_stored_form_member_by_member() {
    // One value of each shape that differs from every default.
    let value = |member: &Member| match (member.name, member.shape) {
        ("application_type", _) => r#""native""#.to_owned(),
        ("token_endpoint_auth_method", _) => r#""private_key_jwt""#.to_owned(),
        ("refresh_rotation", _) => r#""keep""#.to_owned(),
        ("consent", _) => r#""implicit""#.to_owned(),
        ("response_types", _) => "[]".to_owned(),
        ("redirect_uris" | "post_logout_redirect_uris", _) => {
            r#"["https://a.example/x"]"#.to_owned()
        }
        ("enabled" | "require_pkce", _) => "false".to_owned(),
        ("tls_client_auth_san_ip", _) => r#""192.0.2.1""#.to_owned(),
        (_, Shape::Text) => r#""text""#.to_owned(),
        (_, Shape::Scope) => r#""openid""#.to_owned(),
        (_, Shape::Url) => r#""https://a.example/x""#.to_owned(),
        (_, Shape::List) => r#"["https://a.example"]"#.to_owned(),
        (_, Shape::Name(names)) => format!("{:?}", names().last().unwrap()),
        (_, Shape::NameList(names)) => format!("[{:?}]", names().last().unwrap()),
        (_, Shape::Flag) => "true".to_owned(),
        (_, Shape::Seconds | Shape::Time) => "77".to_owned(),
        (_, Shape::ClaimTable) => r#"["groups"]"#.to_owned(),
        (_, Shape::KeySet) => {
            let mut out = Vec::new();
            ClientKey::new(Some("k"))
                .jwks()
                .write_value(&mut Writer::new(&mut out));
            String::from_utf8(out).unwrap()
        }
    };
    for member in MEMBERS {
        let mut client = Client::new("c", 1);
        // What only counts beside another member.
        if member.name == "token_endpoint_auth_signing_alg" {
            client.token_endpoint_auth_method = signet_oauth::client::AuthMethod::ClientSecretJwt;
        }
        let before = client.clone();
        let text = value(member);
        let value = json::parse(text.as_bytes(), &Limits::default()).unwrap();
        member
            .read(&value, &mut client)
            .unwrap_or_else(|e| panic!("{}: {e:?}", member.name));
        assert_ne!(client, before, "{}", member.name);
        assert_eq!(
            Client::from_json(&client.to_json()).unwrap(),
            client,
            "{}",
            member.name
        );
        let mut copied = before;
        member.copy(&client, &mut copied);
        assert_eq!(copied, client, "{}", member.name);
    }
}

#[test]
fn a_wrong_value_is_refused_with_the_members_name() {
    for member in MEMBERS {
        let wrong = json::parse(br#"{"a":[1]}"#, &Limits::default()).unwrap();
        let error = member.read(&wrong, &mut Client::new("c", 1)).unwrap_err();
        let named = error.description.contains(member.name)
            || member.name.ends_with("redirect_uris")
                && error.description.contains("redirect URIs")
            || error.description.contains("jwks");
        assert!(named, "{}: {}", member.name, error.description);
    }
}

#[test]
fn every_member_has_one_row() {
    for (i, member) in MEMBERS.iter().enumerate() {
        assert!(
            MEMBERS[..i].iter().all(|other| other.name != member.name),
            "{}",
            member.name
        );
        assert!(!member.doc.is_empty());
    }
}

/// `docs/client-members.md` is this table. To write it again: `SIGNET_WRITE_DOCS=1 cargo test -p
/// signet-oauth --test token members`.
#[test]
fn the_manual_has_every_member() {
    let kind = |shape: Shape| match shape {
        Shape::Text => "text".to_owned(),
        Shape::Url => "URL".to_owned(),
        Shape::List => "list of texts".to_owned(),
        Shape::NameList(names) => format!("list of `{}`", names().join("`, `")),
        Shape::Name(names) => format!("`{}`", names().join("`, `")),
        Shape::Flag => "true or false".to_owned(),
        Shape::Seconds => "seconds; in a file also \"10m\"".to_owned(),
        Shape::Time => "Unix seconds".to_owned(),
        Shape::Scope => "scopes, separated by spaces; in a file a list".to_owned(),
        Shape::KeySet => "JWK Set; in a file the path of one".to_owned(),
        Shape::ClaimTable => "list of rows, see claims.md".to_owned(),
    };
    let mut page = "# The members of a client's record\n\n\
        Each has this name in a registration (RFC 7591), in the admin API, in `signet client`, and in `[[clients]]` of a configuration file. A file has \
        `client_id` and `client_secrets` besides; `rotate_refresh_tokens` and `ask_for_consent` say `refresh_rotation` and `consent` as a yes or no. This \
        page is made from the table in crates/oauth/src/client/metadata/members.rs.\n"
        .to_owned();
    for (set_by, title) in [
        (
            SetBy::Registrant,
            "Metadata: whoever registers the client, and the operator",
        ),
        (SetBy::Operator, "Policy: the operator alone"),
    ] {
        page += &format!("\n## {title}\n\n| member | value | what it says |\n|---|---|---|\n");
        for member in MEMBERS.iter().filter(|member| member.set_by == set_by) {
            page += &format!(
                "| `{}` | {} | {} |\n",
                member.name,
                kind(member.shape),
                member.doc
            );
        }
    }
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/client-members.md");
    if std::env::var_os("SIGNET_WRITE_DOCS").is_some() {
        std::fs::write(file, &page).unwrap();
    }
    assert_eq!(std::fs::read_to_string(file).unwrap_or_default(), page);
}
