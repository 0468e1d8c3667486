//! What `/jwks` lists.
use crate::common::{Server, Setup, client, client::Call};
use signet_crypto::Algorithm;
use signet_oauth::settings::Settings;
use std::sync::Arc;

fn key_types(server: &Server) -> Vec<String> {
    let jwks = Call::get("/jwks").send(server).expect(200).json();
    let keys = jwks["keys"].as_array().expect("an array").clone();
    keys.iter()
        .map(|key| key["kty"].as_str().expect("a kty").to_owned())
        .collect()
}

#[test]
fn ml_dsa_keys_are_listed_once_a_record_asks_for_them() {
    let settings = Settings {
        signing_algs: vec![Algorithm::Es256, Algorithm::Rs256, Algorithm::MlDsa44],
        ..Setup::default().settings
    };
    let server = Server::start(Setup {
        settings,
        ..Setup::default()
    });
    assert_eq!(key_types(&server), ["EC", "RSA"]);
    let mut asking = client("post-quantum");
    asking.id_token_signed_response_alg = Some(Algorithm::MlDsa44);
    server.configure(|_, declared| {
        declared
            .clients
            .insert("post-quantum".into(), Arc::new(asking));
    });
    assert_eq!(key_types(&server), ["EC", "RSA", "AKP"]);
}
