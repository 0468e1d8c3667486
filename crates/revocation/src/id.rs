//! Ids that must not be taken for one another. Each is 16 bytes, and each a type of its own: a
//! code's id where a grant's belongs does not compile.

/// Declares an id of 16 bytes. `, secret` after the name: it is not printed.
#[macro_export]
macro_rules! id_of_16_bytes {
    ($(#[$doc:meta])* $name:ident) => {
        $crate::id_of_16_bytes! { @type $(#[$doc])* $name }

        /// The bytes in hexadecimal.
        impl core::fmt::Debug for $name {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.write_str(concat!(stringify!($name), "("))?;
                for byte in self.0 {
                    write!(f, "{byte:02x}")?;
                }
                f.write_str(")")
            }
        }
    };
    ($(#[$doc:meta])* $name:ident, secret) => {
        $crate::id_of_16_bytes! { @type $(#[$doc])* $name }

        /// Without the bytes.
        impl core::fmt::Debug for $name {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.write_str(concat!(stringify!($name), "(secret)"))
            }
        }
    };
    (@type $(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name([u8; 16]);

        impl $name {
            /// The id with these bytes.
            pub const fn new(bytes: [u8; 16]) -> $name {
                $name(bytes)
            }

            /// Its bytes.
            pub const fn as_bytes(&self) -> &[u8; 16] {
                &self.0
            }

            /// The id with these bytes; none where they are not 16.
            pub fn from_slice(bytes: &[u8]) -> Option<$name> {
                Some($name(bytes.try_into().ok()?))
            }
        }
    };
}

id_of_16_bytes! {
    /// A token's `jti`.
    Jti
}

impl Jti {
    /// When the token was issued, Unix milliseconds: the first six bytes, big endian. The rest is
    /// random.
    pub fn issued_ms(&self) -> u64 {
        let bytes = self.0[..6].iter();
        bytes.fold(0, |time, &byte| time << 8 | u64::from(byte))
    }
}

id_of_16_bytes! {
    /// `grant_id`: what a person allowed a client, which is the family of its refresh tokens.
    GrantId
}

#[cfg(test)]
#[expect(unreachable_pub, reason = "the macro declares what others export")]
mod tests {
    use super::*;

    id_of_16_bytes! {
        /// One that is not printed.
        Secret, secret
    }

    #[test]
    fn a_secret_id_is_not_printed() {
        let id = Secret::new([0xa5; 16]);
        assert_eq!(format!("{id:?}"), "Secret(secret)");
        assert_eq!(Secret::from_slice(id.as_bytes()), Some(id));
    }

    #[test]
    fn an_id_has_sixteen_bytes_and_prints_them() {
        let id = GrantId::from_slice(&[0xa5; 16]).unwrap();
        assert_eq!(id, GrantId::new([0xa5; 16]));
        assert_eq!(id.as_bytes(), &[0xa5; 16]);
        assert_eq!(format!("{id:?}"), format!("GrantId({})", "a5".repeat(16)));
        assert_eq!(Jti::from_slice(&[0; 15]), None);
        assert_eq!(Jti::from_slice(&[0; 17]), None);
    }
}
