//! Access tokens in the `Authorization` header field: the two schemes that carry one, read in one
//! way.

/// The authentication scheme that a token came with.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Scheme {
    /// RFC 6750
    #[default]
    Bearer,
    /// RFC 9449
    Dpop,
}

impl Scheme {
    /// By its name, in any case (RFC 9110 section 11.1).
    pub fn from_name(name: &str) -> Option<Scheme> {
        match name {
            name if name.eq_ignore_ascii_case("bearer") => Some(Scheme::Bearer),
            name if name.eq_ignore_ascii_case("dpop") => Some(Scheme::Dpop),
            _ => None,
        }
    }
}

/// Why a field carries no access token. The caller's fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AuthorizationError {
    /// No scheme, nothing behind it, or one that carries no access token.
    #[error("the scheme is neither Bearer nor DPoP")]
    Scheme,
    /// No token follows, or more than one, or one with bytes that no token has.
    #[error("the scheme is not followed by one access token")]
    Token,
}

/// The scheme and the token of a field's value: scheme, spaces, token (RFC 9110 section 11.4). A
/// list of credentials is refused: which of them another reader would take cannot be known.
///
/// # Errors
/// [`AuthorizationError`].
pub fn access_token(value: &str) -> Result<(Scheme, &str), AuthorizationError> {
    let (scheme, rest) = value.split_once(' ').ok_or(AuthorizationError::Scheme)?;
    let scheme = Scheme::from_name(scheme).ok_or(AuthorizationError::Scheme)?;
    let token = rest.trim_start_matches(' ');
    let in_a_token = |byte: u8| byte.is_ascii_graphic() && byte != b',';
    match !token.is_empty() && token.bytes().all(in_a_token) {
        true => Ok((scheme, token)),
        false => Err(AuthorizationError::Token),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_is_one_scheme_and_one_token() {
        use AuthorizationError::{Scheme as OtherScheme, Token};
        for (value, read) in [
            ("Bearer a.b.c", Ok((Scheme::Bearer, "a.b.c"))),
            ("bEARER   a", Ok((Scheme::Bearer, "a"))),
            ("DPoP a~+/=", Ok((Scheme::Dpop, "a~+/="))),
            ("dpop a", Ok((Scheme::Dpop, "a"))),
            ("", Err(OtherScheme)),
            ("a.b.c", Err(OtherScheme)),
            ("Basic YTpi", Err(OtherScheme)),
            (" Bearer a", Err(OtherScheme)),
            ("Bearer\ta", Err(OtherScheme)),
            ("Bearer", Err(OtherScheme)),
            ("Bearer ", Err(Token)),
            ("Bearer a b", Err(Token)),
            ("Bearer a ", Err(Token)),
            ("Bearer a,b", Err(Token)),
            ("Bearer a, DPoP b", Err(Token)),
            ("Bearer \u{e9}", Err(Token)),
            ("Bearer a\tb", Err(Token)),
        ] {
            assert_eq!(access_token(value), read, "{value:?}");
        }
    }
}
