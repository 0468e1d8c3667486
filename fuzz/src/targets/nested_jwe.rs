//! Nested JWE: split, header, key, content. Rules: nothing panics, and only what the vectors' maker
//! encrypted is ever opened.

use std::sync::LazyLock;

use signet_crypto::decrypt::DecryptionKey;
use signet_encoding::{
    base64url,
    json::{self, Value},
};
use signet_jose::jwe::{NamedKey, decrypt_nested};

const MAX: usize = 64 * 1024;

struct Vectors {
    keys: Vec<NamedKey>,
    inner: String,
    /// of a token that opens: all but its header
    rest: String,
}

static VECTORS: LazyLock<Vectors> = LazyLock::new(|| {
    let text = include_bytes!("../../../vectors/jose/jwe.json");
    let file = json::parse_object(text, &json::Limits::default()).expect("a vector file");
    let member = |value: &Value<'_>, name: &str| -> String {
        let object = value.as_object().expect("an object");
        object
            .string(name)
            .ok()
            .flatten()
            .expect("a text")
            .to_owned()
    };
    let list = |name: &str| file.get(name).and_then(Value::as_array).expect("a list");
    let keys = list("keys").iter().map(|entry| {
        let der = base64url::decode(member(entry, "pkcs8").as_bytes()).expect("base64url");
        NamedKey {
            kid: None,
            key: DecryptionKey::from_pkcs8(&der).expect("a key"),
        }
    });
    let token = member(&list("vectors")[2], "token");
    let (_, rest) = token.split_once('.').expect("five parts");
    Vectors {
        keys: keys.collect(),
        inner: file
            .string("inner")
            .ok()
            .flatten()
            .expect("a text")
            .to_owned(),
        rest: rest.to_owned(),
    }
});

/// The input as a token, and as the header of one whose content is good.
pub fn run(data: &[u8]) {
    let vectors = &*VECTORS;
    if let Ok(token) = std::str::from_utf8(data)
        && let Ok(opened) = decrypt_nested(token, &vectors.keys, MAX)
    {
        assert_eq!(opened, vectors.inner);
    }
    let token = format!("{}.{}", base64url::encode(data), vectors.rest);
    if let Ok(opened) = decrypt_nested(&token, &vectors.keys, MAX) {
        assert_eq!(opened, vectors.inner);
    }
}
