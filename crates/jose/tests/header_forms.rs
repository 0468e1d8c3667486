//! A header has one meaning, whether it is of the form that is read in one pass or not: white space
//! in front keeps it from that form, and changes nothing.

use signet_encoding::base64url;
use signet_jose::{
    jwk::MAX_KID_BYTES,
    jws::{Header, JwsError, split},
};

fn read(json: &str) -> Result<Header, JwsError> {
    let token = format!("{}.e30.AA", base64url::encode(json.as_bytes()));
    split(token.as_bytes(), 1 << 20)?.decode_header()
}

#[test]
fn a_header_means_the_same_in_every_form() {
    let long = "k".repeat(MAX_KID_BYTES + 1);
    let values = [
        "ES256", "none", "", "at+jwt", "a\u{e9}b", "k-1", "x\\n", "\"", "\u{1}", &long,
    ];
    let mut members = Vec::new();
    for name in ["alg", "kid", "typ", "cty", "crit", "b64", "x", "ALG", "al"] {
        members.extend(values.map(|value| format!(r#""{name}":"{value}""#)));
        members.push(format!(r#""{name}":1"#));
        members.push(format!(r#""{name}":["x"]"#));
    }
    let (mut good, mut bad) = (0, 0);
    let mut compare = |json: &str| {
        let answer = read(json);
        assert_eq!(answer, read(&format!(" {json}")), "{json}");
        match answer {
            Ok(_) => good += 1,
            Err(_) => bad += 1,
        }
    };
    for first in &members {
        compare(&format!("{{{first}}}"));
        for second in &members {
            compare(&format!("{{{first},{second}}}"));
            compare(&format!(r#"{{"alg":"ES256",{first},{second}}}"#));
            compare(&format!(r#"{{"alg":"ES256", {first},{second}}}"#));
            compare(&format!(r#"{{{first},{second},"alg":"ES256"}}x"#));
        }
    }
    for odd in [
        "",
        "{",
        "{}",
        "{\"alg\":\"ES256\"",
        "{\"alg\":\"ES256\",}",
        "{\"alg\":\"ES256\"}}",
        "{\"alg\":\"ES256}",
    ] {
        compare(odd);
    }
    assert!(good > 500 && bad > 5_000, "{good} good, {bad} bad");
}
