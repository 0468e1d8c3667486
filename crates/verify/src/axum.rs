//! For `axum`: [`Verified`] as an argument of a handler, behind [`crate::tower::Protect`].
//!
//! ```
//! use signet_verify::Verified;
//!
//! // axum::Router::new().route("/orders", get(orders)).layer(protect)
//! async fn orders(token: Verified) -> String {
//!     format!("orders of {}", token.claims().sub().unwrap_or("nobody"))
//! }
//! # fn is_an_extractor<T: axum_core::extract::FromRequestParts<()>>() {}
//! # is_an_extractor::<Verified>();
//! # let _ = orders;
//! ```

use crate::Verified;
use axum_core::extract::FromRequestParts;
use http::{StatusCode, request::Parts};

/// A handler that asks for a token where no layer verified one is a mistake of the program, and
/// answers 500.
impl<S: Sync> FromRequestParts<S> for Verified {
    type Rejection = StatusCode;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Verified, StatusCode> {
        let verified = parts.extensions.get::<Verified>().cloned();
        verified.ok_or(StatusCode::INTERNAL_SERVER_ERROR)
    }
}
