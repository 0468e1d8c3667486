//! What a row of the admin API says of itself, for its routes and its document.
use crate::engine::right::Right;
use schemars::{JsonSchema, Schema, SchemaGenerator};

/// The schema of a document's type.
pub(crate) type SchemaOf = fn(&mut SchemaGenerator) -> Schema;

pub(crate) fn schema_of<T: JsonSchema>() -> SchemaOf {
    |generator| generator.subschema_for::<T>()
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Method {
    Get,
    Post,
    Put,
    Delete,
}

impl Method {
    pub(crate) const fn lower_case(self) -> &'static str {
        match self {
            Method::Get => "get",
            Method::Post => "post",
            Method::Put => "put",
            Method::Delete => "delete",
        }
    }

    pub(crate) fn http(self) -> http::Method {
        match self {
            Method::Get => http::Method::GET,
            Method::Post => http::Method::POST,
            Method::Put => http::Method::PUT,
            Method::Delete => http::Method::DELETE,
        }
    }
}

/// What a row says of itself, whatever its types.
pub(crate) struct Facts {
    pub(crate) id: &'static str,
    /// What its caller must be allowed.
    pub(crate) needs: Right,
    pub(crate) method: Method,
    pub(crate) path: &'static str,
    pub(crate) summary: &'static str,
}

/// What the document says of an operation's input and output.
#[derive(Default)]
pub(crate) struct Described {
    /// OpenAPI's parameter objects.
    pub(crate) parameters: Vec<serde_json::Value>,
    pub(crate) request: Option<Schema>,
    pub(crate) response: Option<Schema>,
    /// Of success.
    pub(crate) status: u16,
}
