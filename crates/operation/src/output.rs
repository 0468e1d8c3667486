//! What operations answer, and the status and revision that go with it.
use crate::facts::schema_of;
use crate::problem::Problem;
use http::{HeaderValue, StatusCode, header};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use signet_request::http::{Response, response};

/// An answer of HTTP, nearly.
pub struct Reply {
    status: StatusCode,
    body: Option<Vec<u8>>,
    revision: Option<u64>,
}

impl Reply {
    /// A document that is written already.
    pub fn encoded(body: Vec<u8>) -> Reply {
        Reply {
            status: StatusCode::OK,
            body: Some(body),
            revision: None,
        }
    }

    fn json<T: Serialize>(value: &T) -> Result<Reply, Problem> {
        let body = serde_json::to_vec(value).map_err(|error| {
            tracing::error!(%error, "failed to write an admin API response");
            Problem::unavailable()
        })?;
        Ok(Reply::encoded(body))
    }

    /// The revision that `If-Match` names.
    pub fn revision(mut self, revision: u64) -> Reply {
        self.revision = Some(revision);
        self
    }

    /// The document; none: the operation answers none.
    pub fn document(&self) -> Option<&[u8]> {
        self.body.as_deref()
    }

    /// The revision of the record that is shown, which `If-Match` names.
    pub const fn shown_revision(&self) -> Option<u64> {
        self.revision
    }

    /// As HTTP.
    pub fn into_response(self) -> Response {
        let mut answer = match self.body {
            Some(body) => response::json(self.status, body),
            None => response::empty(self.status),
        };
        if let Some(revision) = self.revision
            && let Ok(tag) = HeaderValue::from_str(&format!("\"{revision}\""))
        {
            answer.headers_mut().insert(header::ETAG, tag);
        }
        answer
    }
}

/// The output of an operation.
pub trait Output: Send + 'static {
    /// Of success.
    const STATUS: u16 = 200;
    /// Of the document that is answered; `None`: the answer has no document.
    fn schema(generator: &mut SchemaGenerator) -> Option<Schema>;
    /// What is answered.
    ///
    /// # Errors
    /// The document cannot be written.
    fn reply(self) -> Result<Reply, Problem>;
}

/// Done; there is nothing to say.
impl Output for () {
    const STATUS: u16 = 204;

    fn schema(_: &mut SchemaGenerator) -> Option<Schema> {
        None
    }

    fn reply(self) -> Result<Reply, Problem> {
        Ok(Reply {
            status: StatusCode::NO_CONTENT,
            body: None,
            revision: None,
        })
    }
}

/// A document; as an input, the body.
pub struct Json<T>(pub T);

impl<T: Serialize + JsonSchema + Send + 'static> Output for Json<T> {
    fn schema(generator: &mut SchemaGenerator) -> Option<Schema> {
        Some(schema_of::<T>()(generator))
    }

    fn reply(self) -> Result<Reply, Problem> {
        Reply::json(&self.0)
    }
}

/// A record, and the revision that it has.
pub struct Revised<T> {
    /// The document.
    pub value: T,
    /// Its revision, which `If-Match` names.
    pub revision: u64,
}

impl<T: Serialize + JsonSchema + Send + 'static> Output for Revised<T> {
    fn schema(generator: &mut SchemaGenerator) -> Option<Schema> {
        Some(schema_of::<T>()(generator))
    }

    fn reply(self) -> Result<Reply, Problem> {
        Ok(Reply::json(&self.value)?.revision(self.revision))
    }
}

/// Something that was not there before.
pub struct Created<O>(pub O);

impl<O: Output> Output for Created<O> {
    const STATUS: u16 = 201;

    fn schema(generator: &mut SchemaGenerator) -> Option<Schema> {
        O::schema(generator)
    }

    fn reply(self) -> Result<Reply, Problem> {
        let mut reply = self.0.reply()?;
        reply.status = StatusCode::CREATED;
        Ok(reply)
    }
}

/// A record that was written over the one before it, or was not there before.
pub enum Written<O> {
    /// It was there: 200.
    Replaced(O),
    /// It was made: 201.
    New(O),
}

impl<O: Output> Output for Written<O> {
    fn schema(generator: &mut SchemaGenerator) -> Option<Schema> {
        O::schema(generator)
    }

    fn reply(self) -> Result<Reply, Problem> {
        match self {
            Written::Replaced(output) => output.reply(),
            Written::New(output) => Created(output).reply(),
        }
    }
}
