//! Enums whose values have names on the wire, and those of them that several rooms stand on.

/// One name for each value, both ways: the metadata, the registration and the stored form share it.
macro_rules! wire_names {
    ($type:ident { $($variant:ident = $name:literal),* $(,)? }) => {
        impl $type {
            /// Every value.
            pub const ALL: &'static [$type] = &[$($type::$variant),*];
            /// The name on the wire.
            pub const fn as_str(self) -> &'static str {
                match self { $($type::$variant => $name),* }
            }
            /// The value of this name, exactly.
            pub fn from_name(name: &str) -> Option<$type> {
                match name { $($name => Some($type::$variant),)* _ => None }
            }
        }
        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }
    };
}
pub(crate) use wire_names;

/// `access_token_format`: what a client or a resource server asks for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum AccessTokenFormat {
    /// RFC 9068
    #[default]
    Jwt,
    /// version 1 of the compact format, base64url on the wire
    Compact,
}

wire_names!(AccessTokenFormat { Jwt = "jwt", Compact = "compact" });

impl AccessTokenFormat {
    /// The longest that one mapped claim of such a token may become, in bytes; None: only the bound
    /// of all claims together holds.
    pub fn max_claim_bytes(self) -> Option<usize> {
        match self {
            AccessTokenFormat::Jwt => None,
            AccessTokenFormat::Compact => Some(signet_compact::MAX_CLAIM_BYTES),
        }
    }
}
