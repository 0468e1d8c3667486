//! Sizes: signatures, tokens and keys, per algorithm and format, as a running server sends them.

use bytes::Bytes;
use http::Method;
use signet_compact::Version;
use signet_crypto::SigningKey;
use tokio::task::LocalSet;

use crate::client::Failure;
use crate::compact;
use crate::load::flow::Provider;
use crate::load::operation::CodeFlow;
use crate::parts::grid::ALGORITHMS;
use crate::report::published::{self, Table};
use crate::report::record::{Row, Unit};
use crate::report::summary::Summary;
use crate::run::{Options, Part, Run};

/// Sizes.
pub const PART: Part = Part {
    name: "sizes",
    title: "Sizes: tokens, signatures, keys",
    plan,
    run,
};

/// Published tables give KiB to a tenth.
const KIB: f64 = 1024.0;
const REDIRECT: &str = "http://127.0.0.1:47999/callback";

fn plan(_: &Options) -> f64 {
    8.0
}

fn run(run: &mut Run) -> Result<(), Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let local = LocalSet::new();
    let rows = local.block_on(&runtime, rows())?;
    for row in rows.into_iter().chain(compact_rows()?) {
        run.add(row);
    }
    run.progress.done(plan(&run.options));
    Ok(())
}

fn row(name: String, bytes: usize) -> Row {
    let bytes = Summary::exact(bytes as f64);
    Row::new("sizes", name, Unit::Bytes, bytes)
}

async fn rows() -> Result<Vec<Row>, Failure> {
    let provider = Provider::start(1, None).await?;
    let table = Table::named(published::SIZES);
    let mut rows = Vec::new();
    for algorithm in ALGORITHMS {
        let label = algorithm.name();
        let published = |column: &str| {
            let number = table.number(&[("algorithm", label)], column);
            number.map(|number| {
                if column.ends_with("_kib") {
                    number * KIB
                } else {
                    number
                }
            })
        };
        let mut add = |what: &str, bytes: usize, column: &str| {
            let row = row(format!("{what}/{label}"), bytes);
            rows.push(row.published(published(column), published::SIZES));
        };
        let mut signature = Vec::new();
        SigningKey::generate(algorithm)?.sign_into(b"a message", &mut signature)?;
        add("signature", signature.len(), "signature_bytes");

        let metadata = serde_json::json!({
            "application_type": "native", "redirect_uris": [REDIRECT], "response_types": ["code"],
            "grant_types": ["authorization_code", "refresh_token"],
            "scope": "openid profile offline_access",
            "id_token_signed_response_alg": label,
        });
        let client = provider.register("client_secret_basic", algorithm, metadata);
        let client = client.await?;
        let mut flow = CodeFlow::new(&provider, &client, REDIRECT).await?;
        let tokens = flow.run().await?;
        for (what, member, column) in [
            ("access token", "access_token", "access_token_kib"),
            ("ID token", "id_token", "id_token_kib"),
            ("refresh token", "refresh_token", ""),
        ] {
            let token = tokens[member].as_str().ok_or("a token is missing")?;
            add(what, token.len(), column);
        }
    }
    let published = |algorithm: &str, column: &str| {
        let number = table.number(&[("algorithm", algorithm)], column);
        number.map(|number| number * KIB)
    };
    for (algorithm, key) in keys(&provider).await? {
        // A set of one key: what stands around it is `{"keys":[]}`.
        let one = row(format!("JWKS of one key/{algorithm}"), key + 11);
        rows.push(one.published(published(&algorithm, "jwks_one_key_kib"), published::SIZES));
        let one = row(format!("public JWK/{algorithm}"), key);
        rows.push(one.published(published(&algorithm, "public_jwk_kib"), published::SIZES));
    }
    Ok(rows)
}

/// The published keys of a server: algorithm and bytes of JSON, one of each.
async fn keys(provider: &Provider) -> Result<Vec<(String, usize)>, Failure> {
    let mut connection = provider.targets()?[0].connect().await?;
    let get = async |connection: &mut crate::client::Connection, path: &str| {
        let answer = connection.send(Method::GET, path, &[], Bytes::new());
        answer.await?.json()
    };
    let metadata = get(&mut connection, "/.well-known/openid-configuration").await?;
    let uri = metadata["jwks_uri"].as_str().ok_or("no jwks_uri")?;
    let path = uri
        .strip_prefix(&provider.issuer)
        .ok_or("a jwks_uri elsewhere")?;
    let set = get(&mut connection, path).await?;
    let mut keys: Vec<(String, usize)> = Vec::new();
    for key in set["keys"].as_array().ok_or("no keys")? {
        let algorithm = key["alg"].as_str().unwrap_or_default();
        if !keys.iter().any(|(known, _)| known == algorithm) {
            keys.push((algorithm.to_owned(), serde_json::to_vec(key)?.len()));
        }
    }
    Ok(keys)
}

/// Compact tokens with the claims of the published table. Proofs are as long as any other: their
/// size is in the bench of compact tokens.
fn compact_rows() -> Result<Vec<Row>, Failure> {
    let table = Table::named(published::COMPACT);
    let mut rows = Vec::new();
    for (algorithm, label) in [
        (signet_compact::Algorithm::HmacSha256, "HMAC-SHA256"),
        (signet_compact::Algorithm::Ed25519, "Ed25519"),
        (signet_compact::Algorithm::MlDsa44, "ML-DSA-44"),
    ] {
        let key = signet_compact::SigningKey::generate(algorithm)?;
        let token = compact::token(&key, Version::V0, 0);
        let row = row(format!("compact token/{label}"), token.len());
        let published = table.number(&[("algorithm", label)], "token_bytes");
        rows.push(row.published(published, published::COMPACT));
    }
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_compact_token_stands_beside_its_published_size() {
        let rows = compact_rows().expect("tokens");
        assert_eq!(rows.len(), 3);
        assert!(
            rows.iter()
                .all(|row| row.published.is_some() && row.ours.median > 0.0)
        );
    }

    #[test]
    fn every_algorithm_of_the_grid_has_a_name_of_its_own() {
        let mut names: Vec<&str> = ALGORITHMS.map(|algorithm| algorithm.name()).into();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), ALGORITHMS.len());
    }
}
