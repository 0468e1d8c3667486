//! The targets, and the table of them that `smoke` walks.

pub mod agent_chain;
pub mod agent_file;
pub mod agent_json;
pub mod agent_log;
pub mod agent_message;
pub mod authorization_request;
pub mod backup_archive;
pub mod certificate;
pub mod compact_certificate;
pub mod compact_jws;
pub mod compact_key;
pub mod compact_token;
pub mod consensus;
pub mod dpop_proof;
pub mod exports;
pub mod form_body;
pub mod gate_cookie;
pub mod gossip;
pub mod json_claims;
pub mod jwk;
pub mod link_frames;
pub mod nested_jwe;
pub mod passkey;
pub mod proof_files;
pub mod registration;
pub mod scim_filter;
pub mod sealed;
pub mod verifier;

/// One target: the name of its corpus folder, the function, and pieces of text that mutations put
/// in.
pub struct Target {
    /// Also the name of the libFuzzer binary.
    pub name: &'static str,
    /// Panics where a rule is broken.
    pub run: fn(&[u8]),
    /// Words of the format.
    pub dictionary: &'static [&'static str],
}

const JSON: &[&str] = &[
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "\"",
    "\\",
    "\\u0000",
    "\\ud800",
    "\\udc00",
    "null",
    "true",
    "-0",
    "1e400",
    "1e-5",
    "9007199254740993",
    "18446744073709551616",
    "{}",
    "[]",
    "[[[[[[[[[[[[[[[[[",
    "{\"a\":",
    "\"aud\"",
    "\"exp\"",
    "\"alg\"",
    "\"none\"",
    "\"crit\":[\"b64\"]",
    "\"b64\":false",
    "\"kid\"",
    "\"jwk\"",
    "\"HS256\"",
    "\"EdDSA\"",
    "\u{feff}",
    "\r\n",
];

/// Tags of the messages' fields, defaults, long varints.
const PROTOBUF: &[&str] = &[
    "\u{0}",
    "\u{8}\u{0}",
    "\u{8}\u{1}",
    "\u{8}\u{2}",
    "\u{10}\u{1}",
    "\u{10}\u{2}",
    "\u{10}\u{4}",
    "\u{18}\u{2}",
    "\u{1a}\u{1}x",
    "\u{12}\u{0}",
    "R\u{4}read",
    "R\u{0}",
    "Z\u{1}x",
    "r\u{6}\n\u{1}x\u{12}\u{1}0",
    "signet compact v1\n",
];

/// Of SCIM filters.
const FILTER: &[&str] = &[
    " eq ", " co ", " pr", " and ", " or ", "not (", "(", ")", "[", "]", "\"", "type", "value",
    "null",
];

const FORM: &[&str] = &[
    "&",
    "=",
    "%",
    "%00",
    "%2",
    "%zz",
    "%C0%80",
    "%F0%9F%92%A9",
    "+",
    ";",
    "&&",
    "==",
    "scope=openid",
    "&scope=",
    "&state=",
    "&resource=https%3A%2F%2Frs.example",
    "&request_uri=urn%3Aietf%3Aparams%3Aoauth%3Arequest_uri%3A",
    "&request=",
    "&prompt=none",
    "&prompt=login+none",
    "&max_age=-1",
    "&max_age=18446744073709551616",
    "&claims=%7B%7D",
    "&response_mode=form_post",
    "&response_type=token",
    "&code_challenge_method=plain",
    "&redirect_uri=",
    "&redirect_uri=http%3A%2F%2F127.0.0.1%3A1%2Fcallback",
    "&client_id=web",
    "&id_token_hint=",
    "&dpop_jkt=",
];

const REGISTRATION: &[&str] = &[
    "\"redirect_uris\":[",
    "\"https://client.example/cb\"",
    "\"http://127.0.0.1/cb\"",
    "\"com.example:/cb\"",
    "\"https://*\"",
    "\"javascript:alert(1)\"",
    "\"application_type\":\"native\"",
    "\"token_endpoint_auth_method\":\"none\"",
    "\"token_endpoint_auth_method\":\"private_key_jwt\"",
    "\"grant_types\":[\"client_credentials\"]",
    "\"scope\":\"openid\"",
    "\"scope\":\"signet:admin\"",
    "\"jwks\":{\"keys\":[]}",
    "\"jwks_uri\":",
    "\"require_pkce\":false",
    "\"client_id\":\"x\"",
    "\"default_max_age\":-1",
    "\"contacts\":[1]",
    "null",
    "true",
    ",",
    "{",
    "}",
    "[",
    "]",
    "\"",
];

/// All of them, by name.
pub const TARGETS: &[Target] = &[
    Target {
        name: "agent_chain",
        run: agent_chain::run,
        dictionary: &["\u{0}", "\u{1}", "\u{18}", "\u{20}", "@", "read:*", "x-"],
    },
    Target {
        name: "agent_file",
        run: agent_file::run,
        dictionary: &["\u{1}", "\u{18}", "\u{20}", "@", "signet-identity-file"],
    },
    Target {
        name: "agent_json",
        run: agent_json::run,
        dictionary: JSON,
    },
    Target {
        name: "agent_log",
        run: agent_log::run,
        dictionary: &["\u{0}", "\u{18}", "/*", "*:*", "agent:", "..", "::/0"],
    },
    Target {
        name: "agent_message",
        run: agent_message::run,
        dictionary: &["\u{0}", "\u{1}", "\u{18}", "\u{20}", "@", "read:*", "x-"],
    },
    Target {
        name: "authorization_request",
        run: authorization_request::run,
        dictionary: FORM,
    },
    Target {
        name: "backup_archive",
        run: backup_archive::run,
        dictionary: &[
            "ustar",
            "data/",
            "..",
            "/",
            "\u{0}",
            "0",
            "2",
            "77777777777",
        ],
    },
    Target {
        name: "certificate",
        run: certificate::run,
        dictionary: &["\u{2}", "\u{3}", "\u{c}", "\u{13}", "0\u{0}"],
    },
    Target {
        name: "compact_certificate",
        run: compact_certificate::run,
        dictionary: PROTOBUF,
    },
    Target {
        name: "compact_jws",
        run: compact_jws::run,
        dictionary: JSON,
    },
    Target {
        name: "compact_key",
        run: compact_key::run,
        dictionary: PROTOBUF,
    },
    Target {
        name: "compact_token",
        run: compact_token::run,
        dictionary: PROTOBUF,
    },
    Target {
        name: "consensus",
        run: consensus::run,
        dictionary: &["\u{1}", "\u{0}\u{0}\u{0}\u{0}", "n1", "a"],
    },
    Target {
        name: "dpop_proof",
        run: dpop_proof::run,
        dictionary: JSON,
    },
    Target {
        name: "gate_cookie",
        run: gate_cookie::run,
        dictionary: &[
            "__Host-signet-gate=",
            "__Host-signet-gate-login.",
            "; ",
            "=",
            " ",
            "\t",
            "\"",
        ],
    },
    Target {
        name: "form_body",
        run: form_body::run,
        dictionary: FORM,
    },
    Target {
        name: "gossip",
        run: gossip::run,
        dictionary: &["a", "node-1", "\u{0}", "\u{1}"],
    },
    Target {
        name: "json_claims",
        run: json_claims::run,
        dictionary: JSON,
    },
    Target {
        name: "jwk",
        run: jwk::run,
        dictionary: JSON,
    },
    Target {
        name: "link_frames",
        run: link_frames::run,
        dictionary: &["\u{1}\u{1}\u{0}\u{1}x", "\u{5}\u{0}\u{0}\u{0}"],
    },
    Target {
        name: "nested_jwe",
        run: nested_jwe::run,
        dictionary: JSON,
    },
    Target {
        name: "passkey",
        run: passkey::run,
        dictionary: &[
            "\u{1}",
            "\u{2}",
            "\u{3}",
            " \u{1}",
            "X ",
            "\"crossOrigin\":true",
            "\"type\":\"webauthn.get\"",
            "\"userHandle\":null",
            "\"id\":\"AQ\"",
        ],
    },
    Target {
        name: "proof_files",
        run: proof_files::run,
        dictionary: &[
            "signet groth16 parameters 1\n\u{4}",
            "signet groth16 tables 1\n\u{4}",
            "signet ceremony transcript 2\n\u{4}",
            "\u{0}",
            "@",
        ],
    },
    Target {
        name: "registration",
        run: registration::run,
        dictionary: REGISTRATION,
    },
    Target {
        name: "keycloak_export",
        run: exports::keycloak,
        dictionary: &[
            "\"realm\":",
            "\"roles\":",
            "\"users\":",
            "\"credentials\":",
            "\"secretData\":",
            "pbkdf2-sha512",
        ],
    },
    Target {
        name: "authentik_export",
        run: exports::authentik,
        dictionary: &[
            "\"model\":",
            "\"pk\":",
            "\"fields\":",
            "authentik_core.user",
            "authentik_core.group",
            "\"parent\":",
            "pbkdf2_sha256$",
            "scrypt$1024$",
            "bcrypt$$2b$",
            "\"_redirect_uris\":",
        ],
    },
    Target {
        name: "zitadel_export",
        run: exports::zitadel,
        dictionary: &[
            "\"orgs\":",
            "\"humanUsers\":",
            "\"hashedPassword\":",
            "\"otpCode\":",
            "\"projectRoles\":",
            "\"oidcApps\":",
            "OIDC_GRANT_TYPE_",
            "\"userGrants\":",
        ],
    },
    Target {
        name: "auth0_export",
        run: exports::auth0,
        dictionary: &[
            "\n{",
            "\"user_id\":\"auth0|",
            "\"custom_password_hash\":",
            "\"passwordHash\":",
            "\"strategy\":",
            "\"grant_types\":",
            "\"mfa_factors\":",
            "\"cost\":",
        ],
    },
    Target {
        name: "pocket_id_export",
        run: exports::pocket_id,
        dictionary: &[
            "\"tables\":",
            "\"users\":",
            "\"webauthn_credentials\":",
            "\"oidc_clients\":",
            "\"credentials\":",
            "\"callback_urls\":",
            "\"bnVsbA==\"",
            "sha256",
        ],
    },
    Target {
        name: "scim_filter",
        run: scim_filter::run,
        dictionary: FILTER,
    },
    Target {
        name: "sealed",
        run: sealed::run,
        dictionary: &["A", "AA", "-", "_", "="],
    },
    Target {
        name: "verifier",
        run: verifier::run,
        dictionary: JSON,
    },
];
