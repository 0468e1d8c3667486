//! `signet compact` as scripts use it.

use std::path::Path;
use std::process::{Command, Output};

fn signet(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_signet"))
        .args(arguments)
        .output()
        .expect("the binary runs")
}

fn text(output: &Output) -> String {
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout.clone())
        .expect("UTF-8")
        .trim()
        .to_owned()
}

fn path(directory: &Path, name: &str) -> String {
    directory.join(name).to_str().expect("UTF-8").to_owned()
}

fn json(output: &Output) -> serde_json::Value {
    serde_json::from_str(&text(output)).expect("JSON")
}

#[test]
fn a_token_is_signed_and_verified_with_files_and_base64url() {
    for (algorithm, bytes) in [("hmac-sha256", 107), ("ed25519", 139), ("ml-dsa-44", 2496)] {
        let directory = tempfile::tempdir().expect("a directory");
        let (key, public) = (
            path(directory.path(), "key"),
            path(directory.path(), "public"),
        );
        let shared = algorithm == "hmac-sha256";
        let mut keygen = vec!["compact", "keygen", "--alg", algorithm, "--out", &key];
        if !shared {
            keygen.extend(["--public-out", &public]);
        }
        text(&signet(&keygen));
        assert_eq!(
            signet(&keygen).status.code(),
            Some(2),
            "a key is not overwritten"
        );
        let sign = [
            "compact",
            "sign",
            "--key",
            &key,
            "--subject",
            "user:alice",
            "--audience",
            "api.example.com",
            "--scope",
            "write",
            "--scope",
            "read",
            "--scope",
            "read",
            "--issued-at",
            "1000000",
            "--expires-at",
            "18446744073709551615",
        ];
        let token = text(&signet(&sign));
        assert_eq!(token.len(), (bytes * 4_usize).div_ceil(3), "{algorithm}");
        let check = if shared { &key } else { &public };
        let verify = |more: &[&str], token: &str| {
            signet(
                &[
                    &["compact", "verify", "--json", "--key", check][..],
                    more,
                    &[token],
                ]
                .concat(),
            )
        };
        let claims = json(&verify(&["--audience", "api.example.com"], &token));
        assert_eq!(claims["scope"], serde_json::json!(["read", "write"]));
        assert_eq!(
            (&claims["subject"], &claims["version"]),
            (&"user:alice".into(), &0.into())
        );
        assert_eq!(
            json(&verify(&[], &token))["not_checked"],
            serde_json::json!(["audience"])
        );
        assert_eq!(
            verify(&["--audience", "another"], &token).status.code(),
            Some(1)
        );
        assert_eq!(verify(&[], "").status.code(), Some(1));
        assert_eq!(verify(&[], "not a token").status.code(), Some(1));
        assert_eq!(
            verify(&[], &token[..token.len() - 1]).status.code(),
            Some(1)
        );
        assert_eq!(
            verify(&["--now", "0"], &token).status.code(),
            Some(1),
            "issued later"
        );
        let missing = signet(&["compact", "verify", "--key", "/no/such/file", &token]);
        assert_eq!(missing.status.code(), Some(2));
        if !shared {
            let private = signet(&["compact", "verify", "--key", &key, &token]);
            assert_eq!(
                private.status.code(),
                Some(2),
                "a private key is no verifying key"
            );
        }
    }
}

#[test]
fn a_version_1_claim_makes_a_version_1_token() {
    let directory = tempfile::tempdir().expect("a directory");
    let key = path(directory.path(), "key");
    text(&signet(&[
        "compact",
        "keygen",
        "--alg",
        "hmac-sha256",
        "--out",
        &key,
    ]));
    let token = text(&signet(&[
        "compact",
        "sign",
        "--key",
        &key,
        "--subject",
        "s",
        "--expires-at",
        "4000000000",
        "--issuer",
        "https://login.example.com",
        "--claim",
        "client_id=\"service\"",
        "--claim",
        "auth_time=5",
    ]));
    let claims = json(&signet(&[
        "compact", "verify", "--json", "--key", &key, &token,
    ]));
    assert_eq!(claims["version"], 1);
    assert_eq!(
        claims["claims"],
        serde_json::json!({ "auth_time": 5, "client_id": "service" })
    );
    let refused = signet(&[
        "compact",
        "verify",
        "--json",
        "--key",
        &key,
        "--issuer",
        "https://other.example.com",
        &token,
    ]);
    assert_eq!(refused.status.code(), Some(1));
    let answer: serde_json::Value = serde_json::from_slice(&refused.stdout).expect("JSON");
    assert_eq!(answer["error"], "invalid_token");
}

fn signet_in(directory: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_signet"))
        .args(arguments)
        .current_dir(directory)
        .output()
        .expect("the binary runs")
}

#[test]
fn a_proof_and_a_certificate_by_command() {
    let directory = tempfile::tempdir().expect("a directory");
    let run = |arguments: &str| {
        let arguments: Vec<&str> = arguments.split(' ').collect();
        signet_in(directory.path(), &arguments)
    };
    let made =
        run("compact keygen --alg groth16-poseidon --out holder.key --public-out holder.public");
    assert!(
        String::from_utf8_lossy(&made.stderr).contains("FOR DEVELOPMENT ONLY"),
        "the first use says what it made"
    );
    text(&made);
    let token = text(&run(
        "compact sign --key holder.key --subject user:alice --audience api.example.com --expires-at 1900000000",
    ));
    for key in ["holder.public", "holder.key"] {
        text(&run(&format!(
            "compact verify --key {key} --audience api.example.com --now 1800000000 {token}"
        )));
    }
    // The key file has all that a verifier needs, but for the reason to believe it: see the test of
    // whom a verifier believes.
    text(&run(&format!(
        "compact verify --key holder.public --development --data-dir elsewhere --now 1800000000 {token}"
    )));
    let other = "compact keygen --alg groth16-poseidon --out other.key --public-out other.public";
    let again = run(other);
    assert!(
        !String::from_utf8_lossy(&again.stderr).contains("DEVELOPMENT"),
        "the parameters are there"
    );
    text(&again);
    for (key, audience) in [
        ("other.public", "api.example.com"),
        ("holder.public", "other"),
    ] {
        let refused = run(&format!(
            "compact verify --key {key} --audience {audience} --now 1800000000 {token}"
        ));
        assert_eq!(refused.status.code(), Some(1));
    }

    text(&run(
        "compact keygen --alg ed25519 --out daily.key --public-out daily.public",
    ));
    text(&run(
        "compact certificate issue --key holder.key --public-key daily.public --expires-at 1850000000 --out daily.certificate",
    ));
    let says = json(&run(
        "--json compact certificate verify --key holder.public --now 1800000000 daily.certificate",
    ));
    assert_eq!(says["algorithm"], "ed25519");
    assert_eq!(
        run("compact certificate verify --key other.public --now 1800000000 daily.certificate")
            .status
            .code(),
        Some(1)
    );
    let token = text(&run(
        "compact sign --key daily.key --certificate daily.certificate --subject user:alice --expires-at 1900000000",
    ));
    let verify = |now: u64| {
        run(&format!(
            "compact verify --key holder.public --certificate daily.certificate --now {now} {token}"
        ))
    };
    text(&verify(1_800_000_000));
    assert_eq!(verify(1_850_000_001).status.code(), Some(1));
    assert_eq!(
        run(&format!(
            "compact verify --key daily.public --now 1800000000 {token}"
        ))
        .status
        .code(),
        Some(1),
        "a token that names a certificate needs it"
    );
}

#[test]
fn c10_a_ceremony_by_command_and_development_parameters_say_what_they_are() {
    let directory = tempfile::tempdir().expect("a directory");
    let run = |arguments: &str| {
        let arguments: Vec<&str> = arguments.split(' ').collect();
        signet_in(directory.path(), &arguments)
    };
    text(&run(
        "compact ceremony contribute --alg groth16-poseidon --out 1",
    ));
    text(&run("compact ceremony contribute --in 1 --out 2"));
    let third = json(&run(
        "--json compact ceremony contribute --in 2 --phase 2 --out 3",
    ));
    assert_eq!(
        run("compact ceremony verify 3").status.code(),
        Some(1),
        "one contributor is none"
    );
    text(&run("compact ceremony contribute --in 3 --out 4"));
    let verified = json(&run("--json compact ceremony verify 4 --install"));
    assert_eq!(verified["phase_2"][0], third["contribution"]);
    let made = run("compact keygen --alg groth16-poseidon --out key --public-out public");
    assert!(
        !String::from_utf8_lossy(&made.stderr).contains("DEVELOPMENT"),
        "the ceremony's parameters are used"
    );
    text(&made);
    // The answer says which parameters a key is made for.
    let origin = |data_dir: &str, key: &str| {
        let keygen = format!(
            "--json compact keygen --alg groth16-poseidon --data-dir {data_dir} --out {key}"
        );
        json(&run(&keygen))["parameters"].clone()
    };
    assert_eq!(origin(".signet", "ceremonial.key"), "ceremony");
    assert_eq!(origin("elsewhere", "development.key"), "development");
    // What the ceremony's verifier prints is what others pin.
    assert_eq!(
        json(&run("--json compact public --key ceremonial.key"))["verifying_key_sha256"],
        verified["verifying_key_sha256"]
    );
    let token = text(&run(
        "compact sign --key key --subject user:alice --expires-at 1900000000",
    ));
    let answer = json(&run(&format!(
        "--json compact verify --key public --now 1800000000 {token}"
    )));
    assert_eq!(answer["parameters"], "ceremony");
    // One byte of a proof of knowledge.
    let path = directory.path().join("4");
    let mut bytes = std::fs::read(&path).expect("the transcript");
    bytes[200] ^= 1;
    std::fs::write(directory.path().join("5"), bytes).expect("written");
    assert_eq!(run("compact ceremony verify 5").status.code(), Some(1));
}

#[test]
fn a_verifier_believes_only_parameters_whose_origin_it_knows_or_has_pinned() {
    let directory = tempfile::tempdir().expect("a directory");
    let run = |arguments: &str| {
        let arguments: Vec<&str> = arguments.split(' ').collect();
        signet_in(directory.path(), &arguments)
    };
    let made = json(&run(
        "--json compact keygen --alg groth16-poseidon --data-dir maker --out key --public-out public",
    ));
    assert_eq!(made["parameters"], "development");
    let hash = made["verifying_key_sha256"].as_str().expect("a hash");
    assert_eq!(hash.len(), 64);
    let signed = json(&run(
        "--json compact sign --key key --data-dir maker --subject user:alice --expires-at 1900000000",
    ));
    assert_eq!(signed["parameters"], "development");
    let token = signed["token"].as_str().expect("a token");
    let verify = |key: &str, options: &str| {
        run(&format!(
            "--json compact verify --key {key} --now 1800000000 {options} {token}"
        ))
    };
    let other = "00".repeat(32);
    // Where they were made it is known what they are; and every answer says it.
    for key in ["public", "key"] {
        let answer = verify(key, "--data-dir maker");
        let notes = String::from_utf8_lossy(&answer.stderr).into_owned();
        assert!(notes.contains("development"), "{notes}");
        assert_eq!(json(&answer)["parameters"], "development");
        assert_eq!(json(&answer)["verifying_key_sha256"], hash);
    }
    // Elsewhere nobody knows who made them.
    let refused = |output: &Output| {
        assert_eq!(output.status.code(), Some(1));
        let answer: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
        assert_eq!(answer["error"], "untrusted_parameters");
        assert_eq!(answer["verified"], false);
    };
    refused(&verify("public", "--data-dir elsewhere"));
    refused(&verify(
        "public",
        &format!("--data-dir elsewhere --verifying-key-sha256 {other}"),
    ));
    // Who names hashes believes those, and not what lies in the data directory.
    refused(&verify(
        "public",
        &format!("--data-dir maker --verifying-key-sha256 {other}"),
    ));
    let answer = verify(
        "public",
        &format!(
            "--data-dir elsewhere --verifying-key-sha256 {other} --verifying-key-sha256 {hash}"
        ),
    );
    assert_eq!(json(&answer)["parameters"], "pinned");
    let answer = verify("public", "--data-dir elsewhere --development");
    assert_eq!(json(&answer)["parameters"], "unknown");
    let misspelt = verify("public", "--data-dir maker --verifying-key-sha256 abc");
    assert_eq!(misspelt.status.code(), Some(2));

    // Certificates come with the same proofs.
    text(&run(
        "compact keygen --alg ed25519 --out daily.key --public-out daily.public",
    ));
    let issued = json(&run(
        "--json compact certificate issue --key key --data-dir maker --public-key daily.public --expires-at 1850000000 --out certificate",
    ));
    assert_eq!(issued["parameters"], "development");
    let check = |options: &str| {
        run(&format!(
            "--json compact certificate verify --key public --now 1800000000 {options} certificate"
        ))
    };
    refused(&check("--data-dir elsewhere"));
    let pinned = check(&format!(
        "--data-dir elsewhere --verifying-key-sha256 {hash}"
    ));
    assert_eq!(json(&pinned)["parameters"], "pinned");
    assert_eq!(
        json(&check("--data-dir maker"))["parameters"],
        "development"
    );
}

#[test]
fn a_compact_token_is_inspected_without_a_key() {
    let directory = tempfile::tempdir().expect("a directory");
    let run = |arguments: &str| {
        let arguments: Vec<&str> = arguments.split(' ').collect();
        signet_in(directory.path(), &arguments)
    };
    text(&run("compact keygen --alg ed25519 --out key"));
    let token = text(&run(
        "compact sign --key key --subject user:alice --scope read --expires-in 10m",
    ));
    for command in ["compact", "token"] {
        let says = json(&run(&format!("--json {command} inspect {token}")));
        assert_eq!(says["verified"], false);
        assert_eq!(says["format"], "compact");
        assert_eq!(says["claims"]["subject"], "user:alice");
        assert_eq!(says["claims"]["scope"], serde_json::json!(["read"]));
        let ends = says["claims"]["expires_at"].as_u64().expect("seconds");
        assert!(ends > 1_700_000_600);
        let shown = run(&format!("{command} inspect {token}"));
        assert!(String::from_utf8_lossy(&shown.stderr).contains("not verified"));
        text(&shown);
    }
    for no_token in ["abc", "not/base64url", "a.b.c"] {
        let refused = run(&format!("compact inspect {no_token}"));
        assert_eq!(refused.status.code(), Some(1));
    }
}

#[test]
fn a_public_half_is_printed_and_is_no_signing_key() {
    let directory = tempfile::tempdir().expect("a directory");
    let run = |arguments: &str| {
        let arguments: Vec<&str> = arguments.split(' ').collect();
        signet_in(directory.path(), &arguments)
    };
    for algorithm in ["ed25519", "ml-dsa-44", "groth16-poseidon"] {
        let (key, public) = (format!("{algorithm}.key"), format!("{algorithm}.public"));
        text(&run(&format!(
            "compact keygen --alg {algorithm} --out {key} --public-out {public}"
        )));
        let kept = std::fs::read_to_string(directory.path().join(&public)).expect("a file");
        assert_eq!(
            text(&run(&format!("compact public --key {key}"))),
            kept.trim()
        );
        let again = format!("{algorithm}.again");
        text(&run(&format!("compact public --key {key} --out {again}")));
        assert_eq!(
            std::fs::read_to_string(directory.path().join(&again)).expect("a file"),
            kept
        );
        let wrong = run(&format!(
            "compact sign --key {public} --subject s --expires-at 1900000000"
        ));
        assert_eq!(wrong.status.code(), Some(2));
        assert!(String::from_utf8_lossy(&wrong.stderr).contains("a public key"));
    }
    text(&run("compact keygen --alg hmac-sha256 --out shared.key"));
    assert_eq!(
        run("compact public --key shared.key").status.code(),
        Some(2)
    );
    // A scope that others would read as two is none.
    let spaced = signet_in(
        directory.path(),
        &[
            "compact",
            "sign",
            "--key",
            "shared.key",
            "--subject",
            "s",
            "--scope",
            "read admin",
            "--expires-at",
            "1900000000",
        ],
    );
    assert_eq!(spaced.status.code(), Some(2));
}
