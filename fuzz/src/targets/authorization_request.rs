//! Authorization requests.

/// The input as a query.
pub fn run(data: &[u8]) {
    super::form_body::run(data);
}
