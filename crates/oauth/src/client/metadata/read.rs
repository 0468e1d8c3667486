//! Reading a metadata document into a client: every member by its row, then what several of them
//! say together.
use super::{MEMBERS, Member, SetBy, invalid};
use crate::{
    client::{AuthMethod, Client, GrantType},
    error::OAuthError,
    settings::Settings,
};
use signet_encoding::json::{Object, Value};

/// What a document may say.
#[derive(Clone, Debug)]
pub struct Rules {
    /// the grants that it may name
    grants: Vec<GrantType>,
    /// members of the operator's policy are read
    operator: bool,
}

impl Rules {
    /// For whoever may call `/register`: no token exchange, no policy.
    pub fn dynamic(_settings: &Settings) -> Rules {
        Rules {
            grants: GrantType::ALL
                .iter()
                .copied()
                .filter(|g| *g != GrantType::TokenExchange)
                .collect(),
            operator: false,
        }
    }
    /// For the operator and the stored form: everything.
    pub fn operator() -> Rules {
        Rules {
            grants: GrantType::ALL.to_vec(),
            operator: true,
        }
    }
    fn may_set(&self, member: &Member) -> bool {
        match member.set_by {
            SetBy::Registrant => true,
            SetBy::Operator => self.operator,
        }
    }
}

/// Whether the document says something of the member. Null is as if left out.
fn says(document: &Object<'_>, name: &str) -> bool {
    document
        .get(name)
        .is_some_and(|value| *value != Value::Null)
}

/// The `sector_identifier_uri`, if the document has one.
pub(crate) fn sector_identifier_uri(document: &Object<'_>) -> Result<Option<String>, OAuthError> {
    let mut client = Client::new("", 0);
    if let (Some(member), Some(value)) = (
        Member::named("sector_identifier_uri"),
        document.get("sector_identifier_uri"),
    ) {
        member.read(value, &mut client)?;
    }
    Ok(client.sector_identifier_uri)
}

/// Reads a document into `client`: what it names is set, what it leaves out stays as it is. Members
/// that are not known are ignored.
///
/// # Errors
/// `invalid_client_metadata` or `invalid_redirect_uri`; the description names the member.
pub fn read(document: &Object<'_>, client: &mut Client, rules: &Rules) -> Result<(), OAuthError> {
    for member in MEMBERS.iter().filter(|member| rules.may_set(member)) {
        if let Some(value) = document.get(member.name) {
            member.read(value, client)?;
        }
    }
    // RFC 7591 section 2.1: the two lists say one thing.
    if says(document, "grant_types") && !says(document, "response_types") {
        client.response_types = match client.may_use(GrantType::AuthorizationCode) {
            true => vec!["code".to_owned()],
            false => Vec::new(),
        };
    }
    if client.grant_types.iter().any(|g| !rules.grants.contains(g)) {
        return Err(invalid("one of the grant_types may not be registered here"));
    }
    // One takes the other's place where a record is changed; both in one document are refused by
    // the checks.
    match (says(document, "jwks"), says(document, "jwks_uri")) {
        (true, false) => client.jwks_uri = None,
        (false, true) => client.jwks = None,
        (true, true) | (false, false) => {}
    }
    // RFC 8705 section 2.1.2: exactly one of five.
    let certificates = MEMBERS
        .iter()
        .filter(|member| member.name.starts_with("tls_client_auth_"))
        .filter(|member| says(document, member.name));
    if certificates.count() > 1 {
        return Err(invalid(
            "tls_client_auth_* must be exactly one member, a text",
        ));
    }
    // RFC 7591 section 2 makes client_secret_basic of a method that is left out, and half of the
    // libraries send the secret in the body. Where an operator chose none, either is taken: it is
    // the same secret. Whoever registers a client reads in the answer which one it has.
    let chosen = ["token_endpoint_auth_method", "any_secret_method"];
    if rules.operator && !chosen.iter().any(|name| says(document, name)) {
        client.any_secret_method = true;
    }
    // It says something about secrets that are sent as they are.
    client.any_secret_method &= client.token_endpoint_auth_method.sends_secret();
    // It says something about assertions only.
    if !matches!(
        client.token_endpoint_auth_method,
        AuthMethod::PrivateKeyJwt | AuthMethod::ClientSecretJwt
    ) {
        client.token_endpoint_auth_signing_alg = None;
    }
    Ok(())
}
