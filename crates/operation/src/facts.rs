//! What a row of the admin API says of itself, for its routes and its document.
use crate::right::{Area, Right};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use std::sync::OnceLock;

/// The schema of a document's type.
pub type SchemaOf = fn(&mut SchemaGenerator) -> Schema;

/// The schema of a type.
pub fn schema_of<T: JsonSchema>() -> SchemaOf {
    |generator| generator.subschema_for::<T>()
}

/// A method of HTTP.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Method {
    /// It shows.
    Get,
    /// It does something.
    Post,
    /// It writes what the path names.
    Put,
    /// It removes what the path names.
    Delete,
}

impl Method {
    /// As the OpenAPI document has it.
    pub const fn lower_case(self) -> &'static str {
        match self {
            Method::Get => "get",
            Method::Post => "post",
            Method::Put => "put",
            Method::Delete => "delete",
        }
    }

    /// As the router has it.
    pub fn http(self) -> http::Method {
        match self {
            Method::Get => http::Method::GET,
            Method::Post => http::Method::POST,
            Method::Put => http::Method::PUT,
            Method::Delete => http::Method::DELETE,
        }
    }
}

/// What a row says of itself, whatever its types.
pub struct Facts {
    /// Its name: `listClients`.
    pub id: &'static str,
    /// What it is about.
    pub area: Area,
    /// What its caller must be allowed.
    pub needs: Right,
    /// How it is called.
    pub method: Method,
    /// Where, with `{segment}`s.
    pub path: &'static str,
    /// What it does, one sentence.
    pub summary: &'static str,
    /// Whether it ends something that does not come back by doing the opposite; None: where its
    /// method removes.
    pub ends: Option<bool>,
}

static OPERATIONS: OnceLock<Vec<&'static Facts>> = OnceLock::new();

/// Every operation that this program has, as given to [`install`]; none before.
pub fn operations() -> &'static [&'static Facts] {
    OPERATIONS.get().map_or(&[], |all| all.as_slice())
}

/// Says once what operations there are. This crate knows none, and a role is compared with another
/// by what both may do of all.
pub fn install(all: impl Iterator<Item = &'static Facts>) {
    OPERATIONS.get_or_init(|| all.collect());
}

impl Facts {
    /// Whether a page asks twice before it: what it removes or ends is gone.
    pub const fn is_final(&self) -> bool {
        match self.ends {
            Some(ends) => ends,
            None => matches!(self.method, Method::Delete),
        }
    }
}

/// What the document says of an operation's input and output.
#[derive(Default)]
pub struct Described {
    /// OpenAPI's parameter objects.
    pub parameters: Vec<serde_json::Value>,
    /// Of the body; none: it takes none.
    pub request: Option<Schema>,
    /// Of the answer; none: it has no document.
    pub response: Option<Schema>,
    /// Of success.
    pub status: u16,
}
