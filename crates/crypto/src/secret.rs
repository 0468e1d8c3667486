//! Values that must not be printed, and comparisons that must not tell where two values differ.

use std::fmt;

use zeroize::Zeroize;

/// A value that does not print and is wiped when it is dropped.
///
/// Cloning makes a second copy that is wiped on its own; equality is constant-time.
pub struct Secret<T: Zeroize>(T);

impl<T: Zeroize> Secret<T> {
    /// Takes the value into custody.
    pub fn new(value: T) -> Self {
        Secret(value)
    }

    /// The only way to see the value: easy to search for in a review.
    pub fn expose(&self) -> &T {
        &self.0
    }
}

impl<const N: usize> Secret<[u8; N]> {
    /// New key material, from the generator itself.
    ///
    /// # Panics
    /// If the operating system gives no randomness.
    pub fn random() -> Self {
        let mut secret = Secret([0; N]);
        crate::random::fill_system(&mut secret.0);
        secret
    }
}

impl<T: Zeroize> Drop for Secret<T> {
    fn drop(&mut self) {
        self.0.zeroize();
    }
}

impl<T: Zeroize + Clone> Clone for Secret<T> {
    fn clone(&self) -> Self {
        Secret(self.0.clone())
    }
}

impl<T: Zeroize> fmt::Debug for Secret<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(..)")
    }
}

impl<T: Zeroize + AsRef<[u8]>> PartialEq for Secret<T> {
    fn eq(&self, other: &Self) -> bool {
        ct_eq(self.0.as_ref(), other.0.as_ref())
    }
}

impl<T: Zeroize + AsRef<[u8]>> Eq for Secret<T> {}

/// Equality in time that depends on the lengths only, never on the contents.
pub fn ct_eq(a: &[u8], b: &[u8]) -> bool {
    aws_lc_rs::constant_time::verify_slices_are_equal(a, b).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn random_secrets_differ() {
        assert_ne!(Secret::<[u8; 32]>::random(), Secret::<[u8; 32]>::random());
    }

    #[test]
    fn a_secret_never_prints_its_value() {
        let secret = Secret::new(String::from("hunter2"));
        assert_eq!(format!("{secret:?}"), "Secret(..)");
        assert_eq!(format!("{:?}", Some(&secret)), "Some(Secret(..))");
    }

    #[test]
    fn equality_is_of_whole_values() {
        assert!(ct_eq(b"", b""));
        assert!(ct_eq(b"abc", b"abc"));
        assert!(!ct_eq(b"abc", b"abd"));
        assert!(!ct_eq(b"abc", b"abcd"));
        assert_eq!(Secret::new(vec![1, 2]), Secret::new(vec![1, 2]));
        assert_ne!(Secret::new(vec![1, 2]), Secret::new(vec![1, 3]));
    }
}
