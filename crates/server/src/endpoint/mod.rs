//! One file per endpoint.
