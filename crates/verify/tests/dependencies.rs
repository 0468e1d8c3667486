//! What a resource server links that wants JWTs and nothing else.

use std::process::Command;

/// The packages that the library needs with these features, one a line.
fn tree(features: &[&str]) -> String {
    let cargo = Command::new(env!("CARGO"))
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .args(["tree", "--package", "signet-verify", "--edges", "normal"])
        .args(["--prefix", "none", "--format", "{p}", "--offline"])
        .args(features)
        .output()
        .expect("cargo runs");
    let errors = String::from_utf8_lossy(&cargo.stderr);
    assert!(cargo.status.success(), "{errors}");
    String::from_utf8(cargo.stdout).expect("UTF-8")
}

fn names(tree: &str) -> Vec<&str> {
    tree.lines()
        .filter_map(|line| line.split(' ').next())
        .collect()
}

#[test]
fn the_default_features_link_no_proof_system_and_no_features_no_runtime() {
    let is_proof_system =
        |name: &&str| name.starts_with("ark-") || matches!(*name, "signet-zk" | "signet-compact");
    let default = tree(&[]);
    let default = names(&default);
    assert!(default.contains(&"signet-jose"), "{default:?}");
    assert!(default.contains(&"tokio"), "{default:?}");
    assert!(!default.iter().any(is_proof_system), "{default:?}");
    let middleware = tree(&["--features", "axum,tonic"]);
    assert!(
        !names(&middleware).iter().any(is_proof_system),
        "{middleware}"
    );
    let bare = tree(&["--no-default-features"]);
    let bare = names(&bare);
    assert!(bare.contains(&"signet-jose"), "{bare:?}");
    for runtime in ["tokio", "hyper", "rustls"] {
        assert!(!bare.contains(&runtime), "{bare:?}");
    }
    assert!(!bare.iter().any(is_proof_system), "{bare:?}");
    // What the test looks for is there where it is asked for.
    let compact = tree(&["--features", "compact"]);
    assert!(names(&compact).iter().any(is_proof_system), "{compact}");
}
