//! One row of the admin API.
use super::{
    call::{Call, Reply},
    problem::Problem,
};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use std::pin::Pin;

pub(super) type Outcome = Result<Reply, Problem>;
pub(super) type HandlerFuture = Pin<Box<dyn Future<Output = Outcome> + Send>>;
pub(super) type SchemaOf = fn(&mut SchemaGenerator) -> Schema;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Method {
    Get,
    Post,
    Put,
    Delete,
}

impl Method {
    pub(super) const fn lower_case(self) -> &'static str {
        match self {
            Method::Get => "get",
            Method::Post => "post",
            Method::Put => "put",
            Method::Delete => "delete",
        }
    }
}

/// Whether `If-Match` is read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum IfMatch {
    Ignored,
    Optional,
    Required,
}

pub(super) struct Operation {
    pub(super) id: &'static str,
    pub(super) method: Method,
    pub(super) path: &'static str,
    pub(super) summary: &'static str,
    /// Takes `after` and `limit`.
    pub(super) paged: bool,
    /// Further members of the query: name, what it does.
    pub(super) query: &'static [(&'static str, &'static str)],
    pub(super) if_match: IfMatch,
    pub(super) request: Option<SchemaOf>,
    /// Of success.
    pub(super) status: u16,
    pub(super) response: Option<SchemaOf>,
    pub(super) handler: fn(Call) -> HandlerFuture,
}

impl Operation {
    pub(super) const fn new(
        id: &'static str,
        method: Method,
        path: &'static str,
        summary: &'static str,
        handler: fn(Call) -> HandlerFuture,
    ) -> Operation {
        Operation {
            id,
            method,
            path,
            summary,
            paged: false,
            query: &[],
            if_match: IfMatch::Ignored,
            request: None,
            status: 204,
            response: None,
            handler,
        }
    }

    pub(super) const fn paged(mut self) -> Operation {
        self.paged = true;
        self
    }

    pub(super) const fn query(
        mut self,
        query: &'static [(&'static str, &'static str)],
    ) -> Operation {
        self.query = query;
        self
    }

    pub(super) const fn if_match(mut self, if_match: IfMatch) -> Operation {
        self.if_match = if_match;
        self
    }

    pub(super) const fn takes<T: JsonSchema>(mut self) -> Operation {
        self.request = Some(schema_of::<T>);
        self
    }

    pub(super) const fn answers<T: JsonSchema>(mut self, status: u16) -> Operation {
        self.status = status;
        self.response = Some(schema_of::<T>);
        self
    }

    pub(super) fn http_method(&self) -> http::Method {
        match self.method {
            Method::Get => http::Method::GET,
            Method::Post => http::Method::POST,
            Method::Put => http::Method::PUT,
            Method::Delete => http::Method::DELETE,
        }
    }
}

fn schema_of<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<T>()
}

/// An `async fn(Call)` as a row's handler.
macro_rules! handler {
    ($handler:path) => {
        |call| Box::pin($handler(call))
    };
}
pub(super) use handler;
