//! `signet config`: every fault with its place, and the example that the documentation shows.

use std::path::Path;

use crate::support::{json, signet, text};

const GOOD: &str = "issuer = \"https://id.example\"\n\n[[listeners]]\naddress = \"127.0.0.1:8080\"\nprotocol = \"http\"\n";

fn check(content: &str) -> std::process::Output {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("signet.toml");
    std::fs::write(&file, content).unwrap();
    signet(&["config", "check", "--json", file.to_str().unwrap()])
}

#[test]
fn a_good_file_is_exit_0() {
    let output = check(GOOD);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert_eq!(json(&output)["valid"], true);
}

#[test]
fn the_file_is_named_by_itself_or_as_serve_takes_it() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("signet.toml");
    std::fs::write(&file, GOOD).unwrap();
    let file = file.to_str().unwrap();
    let code = |arguments: &[&str]| {
        let mut all = vec!["config", "check"];
        all.extend(arguments);
        signet(&all).status.code()
    };
    assert_eq!(code(&["--config", file]), Some(0));
    assert_eq!(code(&["--config", file, file]), Some(2));
}

/// What is misspelt, no length of time, no protocol and no URI: each with its line, in one run.
#[test]
fn mistakes_of_four_kinds_are_named_together_a_line_each() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("signet.toml");
    let config = "isuer = \"https://id.example\"\n[[listeners]]\naddress = \"127.0.0.1:8080\"\n\
                  protocol = \"htps\"\n[lifetimes]\ncode = \"soon\"\n[[clients]]\nclient_id = \"a\"\n\
                  token_endpoint_auth_method = \"none\"\nredirect_uris = [\"not a uri\"]\n";
    std::fs::write(&file, config).unwrap();
    let file = file.to_str().unwrap();
    let output = signet(&["config", "check", file]);
    assert_eq!(output.status.code(), Some(1));
    let said = text(&output.stderr);
    let lines: Vec<&str> = said.lines().collect();
    let expected = [
        ("line 1, column 1: ", "did you mean \"issuer\"?"),
        ("line 4, column 12: ", "did you mean \"https\"?"),
        ("line 6, column 8: ", "10m"),
        ("line 10, column 18: clients[0].redirect_uris[0]: ", "URI"),
    ];
    assert_eq!(lines.len(), expected.len(), "{said}");
    for (line, (place, what)) in lines.iter().zip(expected) {
        let place = format!("{file}: {place}");
        assert!(line.contains(&place) && line.contains(what), "{line}");
    }
}

#[test]
fn an_unknown_key_is_exit_1_with_line_and_suggestion() {
    let output = check(&format!("{GOOD}\n[lifetimes]\naccess_tokens = \"5m\"\n"));
    assert_eq!(output.status.code(), Some(1));
    let stderr = text(&output.stderr);
    assert!(
        stderr.contains("line 8") && stderr.contains("did you mean \"access_token\"?"),
        "{stderr}"
    );
    let answer = json(&output);
    assert_eq!(answer["error"], "invalid_configuration");
    assert_eq!(answer["problems"][0]["line"], 8);
    assert_eq!(answer["problems"][0]["suggestion"], "access_token");
}

#[test]
fn a_fault_of_meaning_names_its_line() {
    for (fault, line, words) in [
        (
            "[lifetimes]\ncode = \"2h\"\n",
            8,
            "lifetimes.code: must be from 5",
        ),
        (
            "[keys]\nid_token = \"HS256\"\n",
            8,
            "not a signature algorithm",
        ),
        ("[mail]\nfrom = \"a@b.c\"\n", 7, "one of smtp and directory"),
        (
            "[[users]]\nusername = \"a\"\npassword = { env = \"SIGNET_TEST_NO_SUCH\" }\n",
            9,
            "is not set",
        ),
        ("[lifetimes]\ncode = \"soon\"\n", 8, "number with a unit"),
        ("[log]\nformat = \"jsn\"\n", 8, "did you mean \"json\"?"),
        (
            "[proxy]\ntrusted = [\"127.0.0.1\"]\nclient_certificate_url = \"https://m.example\"\n",
            9,
            "client_certificate_header",
        ),
        ("[[users]]\nusername = \"a b\"\n", 8, ""),
        (
            "[[users]]\nusername = \"a\"\nemail = \"nobody\"\n",
            9,
            "mail",
        ),
        (
            "[login_limits]\nper_account = 0\n",
            8,
            "must be 1 or more, not 0",
        ),
        // A former name is read, and is the same table.
        (
            "[guessing]\nper_account = 5\n[login_limits]\nper_address = 5\n",
            1,
            "login_limits",
        ),
        (
            "[cluster]\nlisten = \"0.0.0.0:7443\"\n",
            7,
            "all interfaces",
        ),
        (
            "[cluster]\nlisten = \"127.0.0.1:7443\"\npeers = [\"node-2\"]\n",
            9,
            "with a port",
        ),
        (
            "[cluster]\nlisten = \"127.0.0.1:7443\"\nurl = \"https://node-1.example/\"\n",
            9,
            "without a slash",
        ),
        ("[log]\nrequests = \"some\"\n", 8, "refused"),
        ("[log\n", 7, ""),
    ] {
        let output = check(&format!("{GOOD}\n{fault}"));
        let stderr = text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{fault}");
        assert!(stderr.contains(&format!("line {line},")), "{fault}{stderr}");
        assert!(stderr.contains(words), "{fault}{stderr}");
    }
}

#[test]
fn plain_http_beyond_loopback_needs_a_proxy() {
    let output = check(&GOOD.replace("127.0.0.1", "0.0.0.0"));
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("needs [proxy]"));
}

#[test]
fn a_file_that_cannot_be_read_is_exit_2() {
    assert_eq!(
        signet(&["config", "check", "/nonexistent.toml"])
            .status
            .code(),
        Some(2)
    );
    assert_eq!(signet(&["config", "check"]).status.code(), Some(2));
    assert_eq!(
        signet(&["serve", "--config", "/nonexistent.toml"])
            .status
            .code(),
        Some(2)
    );
}

#[test]
fn the_schema_names_every_section() {
    let schema = json(&signet(&["config", "schema"]));
    for section in [
        "issuer",
        "listeners",
        "tls",
        "store",
        "mail",
        "keys",
        "lifetimes",
        "clients",
        "users",
        "limits",
        "log",
    ] {
        assert!(schema["properties"][section].is_object(), "{section}");
    }
}

#[test]
fn the_example_is_printed_and_is_a_good_file_in_both_lengths() {
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/signet.example.toml");
    let dir = tempfile::tempdir().unwrap();
    for name in ["tls/chain.pem", "tls/key.pem"] {
        let path = dir.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, "").unwrap();
    }
    let whole = text(&signet(&["config", "example", "--all"]).stdout);
    assert_eq!(whole, std::fs::read_to_string(example).unwrap());
    let first = text(&signet(&["config", "example"]).stdout);
    assert!(first.len() < whole.len() / 10);
    for printed in [whole, first] {
        let file = dir.path().join("signet.toml");
        std::fs::write(&file, printed).unwrap();
        let file = file.to_str().unwrap();
        let output = signet(&["config", "check", "--without-secrets", file]);
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    }
}

#[test]
fn a_scope_that_the_file_does_not_define_is_said_and_is_no_fault() {
    let output = check(&format!(
        "{GOOD}\n[[scopes]]\nname = \"orders:read\"\ndescription = \"See\"\n\
         [[resources]]\nidentifier = \"https://api.example\"\nscopes = [\"orders:raed\"]\n"
    ));
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let notes = json(&output)["notes"].to_string();
    assert!(
        notes.contains("orders:read") && notes.contains("resources[0].scopes"),
        "{notes}"
    );
}

#[test]
fn a_text_of_a_scope_in_what_is_no_language_is_named_by_its_place() {
    let with = |language: &str| {
        check(&format!(
            "{GOOD}\n[[scopes]]\nname = \"orders:read\"\ndescription = \"See\"\n\
             descriptions = {{ {language} = \"Sehen\" }}\n"
        ))
    };
    assert_eq!(with("de").status.code(), Some(0));
    let output = with("de_AT");
    assert_eq!(output.status.code(), Some(1));
    let faults = json(&output).to_string();
    assert!(
        faults.contains("scopes[0].descriptions") && faults.contains("RFC 5646"),
        "{faults}"
    );
}

#[test]
fn a_person_of_the_file_has_a_profile() {
    let output = check(&format!(
        "{GOOD}\n[[users]]\nusername = \"ada\"\nprofile = {{ given_name = \"Ada\", locale = \"en\" }}\n"
    ));
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
}

/// The exit codes of `config check` and of `serve`, given the same file; the server of one that is
/// good would go on, and so it is not started.
fn both(dir: &Path, content: &str) -> (Option<i32>, Option<i32>) {
    let file = dir.join("signet.toml");
    std::fs::write(&file, content).unwrap();
    let file = file.to_str().unwrap();
    let check = signet(&["config", "check", file]).status.code();
    let serve = match check {
        Some(0) => None,
        _ => signet(&["serve", "--config", file]).status.code(),
    };
    (check, serve)
}

#[test]
fn what_serve_refuses_config_check_refuses() {
    let dir = tempfile::tempdir().unwrap();
    let put = |name: &str, text: &str| std::fs::write(dir.path().join(name), text).unwrap();
    let ca = signet_crypto::certificate::DevelopmentCa::generate().unwrap();
    let issue = || ca.issue_server(&["id.example".to_owned()]).unwrap();
    let (chain, key) = issue();
    put("chain.pem", &chain);
    put("key.pem", key.expose());
    put("other.pem", issue().1.expose());
    put("ca.pem", &ca.cert_pem());
    put("empty.pem", "no certificate\n");
    put("file", "");
    put("short", "short");
    put("secret", &"0".repeat(64));
    let tls = |key: &str, client_ca: &str| {
        format!(
            "{GOOD}\n[tls]\ncertificate = \"chain.pem\"\nkey = \"{key}\"\nclient_ca = \"{client_ca}\"\n"
        )
    };
    let mail = |directory: &str| {
        format!("{GOOD}\n[mail]\nfrom = \"id@id.example\"\ndirectory = \"{directory}\"\n")
    };
    let proxy = |file: &str| {
        format!("{GOOD}\n[proxy]\ntrusted = [\"127.0.0.1\"]\nsecret_file = \"{file}\"\n")
    };
    for good in [tls("key.pem", "ca.pem"), mail("mails/out"), proxy("secret")] {
        assert_eq!(both(dir.path(), &good), (Some(0), None), "{good}");
    }
    assert!(!dir.path().join("mails").exists(), "a check leaves nothing");
    for bad in [
        tls("other.pem", "ca.pem"),
        tls("key.pem", "empty.pem"),
        mail("file/below"),
        proxy("short"),
    ] {
        assert_eq!(both(dir.path(), &bad), (Some(1), Some(2)), "{bad}");
    }
}

#[test]
fn a_password_that_no_new_account_may_have_makes_none_by_the_configuration_either() {
    let dir = tempfile::tempdir().unwrap();
    for (name, admin, password, good) in [
        ("root", true, "password1", false),
        ("alice", false, "alice", false),
        ("bob", false, "12345678", false),
        // Long enough for a person, and not for an administrator.
        ("root", true, "thick-otter", false),
        ("carol", false, "thick-otters-swim", true),
        ("root", true, "thick-otters-swim-slowly", true),
    ] {
        std::fs::write(dir.path().join("password"), password).unwrap();
        let content = format!(
            "{GOOD}\n[[users]]\nusername = \"{name}\"\nadmin = {admin}\npassword = {{ file = \"password\" }}\n"
        );
        let expected = match good {
            true => (Some(0), None),
            false => (Some(1), Some(2)),
        };
        assert_eq!(both(dir.path(), &content), expected, "{password}");
    }
    // Where there is a database, the account may be in it: a note, and the start decides.
    std::fs::write(dir.path().join("password"), "password1").unwrap();
    std::fs::create_dir(dir.path().join("data")).unwrap();
    std::fs::write(dir.path().join("data/signet.db"), "").unwrap();
    let content = format!(
        "data_dir = \"data\"\n{GOOD}\n[[users]]\nusername = \"root\"\npassword = {{ file = \"password\" }}\n"
    );
    let file = dir.path().join("signet.toml");
    std::fs::write(&file, content).unwrap();
    let output = signet(&["config", "check", "--json", file.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let notes = json(&output)["notes"].to_string();
    assert!(notes.contains("users[0].password"), "{notes}");
}

/// One name for a setting, wherever an operator meets it.
#[test]
fn a_setting_is_explained_by_the_name_that_the_file_has_for_it() {
    let output = signet(&["explain", "lifetimes.code"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let shown = text(&output.stdout);
    for words in ["Authorization codes", "from 5s to 10m", "\"1m\"", "SIGHUP"] {
        assert!(shown.contains(words), "{words}: {shown}");
    }
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("signet.toml");
    std::fs::write(&file, format!("{GOOD}\n[lifetimes]\ncode = 30\n")).unwrap();
    let file = file.to_str().unwrap();
    let output = signet(&["explain", "--json", "lifetimes", "--config", file]);
    let answer = json(&output);
    let settings = answer["settings"].as_array().unwrap();
    let of = |path: &str| settings.iter().find(|one| one["path"] == path).unwrap();
    assert_eq!(of("lifetimes.code")["value"], "30s");
    assert_eq!(of("lifetimes.code")["line"], 8);
    assert_eq!(of("lifetimes.session")["value"], "7d");
    assert_eq!(of("lifetimes.session")["line"], serde_json::Value::Null);

    let output = signet(&["explain", "lifetime.code"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("did you mean \"lifetimes.code\"?"));
}
