//! The kinds of members: how a value of each is read, written and described.
//!
//! A kind knows JSON and one Rust type, and no client: which field of a record has it is a row of
//! [`super::MEMBERS`].
use crate::authorize::redirect_uri::RedirectUri;
use crate::client::{Client, TlsClientAuth};
use crate::error::OAuthError;
use crate::people::claim_rules::{self, ClaimRule, TableOf};
use crate::scope::ScopeSet;
use crate::uri;
use signet_crypto::Algorithm;
use signet_encoding::json::{Value, Writer};
use signet_jose::jwk::JwkSet;

/// The most entries of one list.
const MAX_ENTRIES: usize = 64;
const MAX_TEXT_BYTES: usize = 512;
/// The longest lifetime or age that is read, in seconds.
const MAX_SECONDS: u64 = 1 << 32;

/// What a member's JSON value is, for schemas and forms.
#[derive(Clone, Copy, Debug)]
pub enum Shape {
    /// a string
    Text,
    /// a string: an https URL
    Url,
    /// an array of strings
    List,
    /// an array of these strings
    NameList(fn() -> Vec<&'static str>),
    /// one of these strings
    Name(fn() -> Vec<&'static str>),
    /// true or false
    Flag,
    /// a number of seconds
    Seconds,
    /// a moment, Unix seconds
    Time,
    /// scope tokens, separated by spaces
    Scope,
    /// a JWK Set (RFC 7517)
    KeySet,
    /// a table of claims: an array of rows
    ClaimTable,
}

impl Shape {
    /// Writes the members of a JSON Schema of this shape into the open object.
    pub fn write_schema(self, w: &mut Writer<'_>) {
        let named = |w: &mut Writer<'_>, names: Vec<&str>| {
            w.member("type").string("string");
            w.member("enum").strings(names);
        };
        match self {
            Shape::Text | Shape::Scope => w.member("type").string("string"),
            Shape::Url => {
                w.member("type").string("string");
                w.member("format").string("uri");
            }
            Shape::List => {
                w.member("type").string("array");
                w.member("items")
                    .object(|w| w.member("type").string("string"));
            }
            Shape::NameList(names) => {
                w.member("type").string("array");
                w.member("items").object(|w| named(w, names()));
            }
            Shape::Name(names) => named(w, names()),
            Shape::Flag => w.member("type").string("boolean"),
            Shape::Seconds | Shape::Time => {
                w.member("type").string("integer");
                w.member("minimum").number(0);
            }
            Shape::KeySet => w.member("type").string("object"),
            Shape::ClaimTable => claim_rules::write_schema(w),
        }
    }
}

/// Why a value was not read.
pub(super) enum Unread {
    /// It is not of the shape: the row says what it must be.
    Shape,
    /// Something else, which says what.
    Said(OAuthError),
}

impl From<OAuthError> for Unread {
    fn from(error: OAuthError) -> Unread {
        Unread::Said(error)
    }
}

/// How values of one kind are read and written.
pub(super) trait Kind {
    /// The type of the record's field.
    type Field;
    const SHAPE: Shape;
    /// `client`: the record so far; a row above this one has been read into it.
    fn read(value: &Value<'_>, client: &Client) -> Result<Self::Field, Unread>;
    /// Whether the field says nothing, so that it is left out unless its row says otherwise.
    fn is_empty(field: &Self::Field) -> bool;
    fn write(field: &Self::Field, w: &mut Writer<'_>);
}

fn text(value: &Value<'_>) -> Option<String> {
    value
        .as_str()
        .filter(|t| !t.is_empty() && t.len() <= MAX_TEXT_BYTES && !t.chars().any(char::is_control))
        .map(str::to_owned)
}

fn strings(value: &Value<'_>) -> Option<Vec<String>> {
    let values = value.as_array().filter(|a| a.len() <= MAX_ENTRIES)?;
    values
        .iter()
        .map(|v| {
            v.as_str()
                .filter(|t| t.len() <= uri::MAX_URI_BYTES)
                .map(str::to_owned)
        })
        .collect()
}

/// A kind whose field is an `Option` of what a plain function reads.
macro_rules! optional {
    ($($kind:ident: $type:ty, $shape:expr, $read:expr, $write:expr;)*) => {$(
        pub(super) struct $kind;
        impl Kind for $kind {
            type Field = Option<$type>;
            const SHAPE: Shape = $shape;
            fn read(value: &Value<'_>, _: &Client) -> Result<Self::Field, Unread> {
                let read: fn(&Value<'_>) -> Option<$type> = $read;
                read(value).map(Some).ok_or(Unread::Shape)
            }
            fn is_empty(field: &Self::Field) -> bool {
                field.is_none()
            }
            fn write(field: &Self::Field, w: &mut Writer<'_>) {
                let write: fn(&$type, &mut Writer<'_>) = $write;
                match field {
                    Some(value) => write(value, w),
                    None => w.null(),
                }
            }
        }
    )*};
}

fn signature_algorithms() -> Vec<&'static str> {
    Algorithm::ALL.iter().map(|alg| alg.name()).collect()
}

#[rustfmt::skip]
optional! {
    Text:     String,    Shape::Text, text, |v, w| w.string(v);
    Url:      String,    Shape::Url, |v| v.as_str().filter(|t| uri::is_web_url(t)).map(str::to_owned), |v, w| w.string(v);
    HttpsUrl: String,    Shape::Url, |v| v.as_str().filter(|t| uri::is_web_url(t) && t.starts_with("https:")).map(str::to_owned), |v, w| w.string(v);
    // `none` is no algorithm.
    Alg:      Algorithm, Shape::Name(signature_algorithms), |v| Algorithm::from_name(v.as_str()?), |v, w| w.string(v.name());
    Seconds:  u64,       Shape::Seconds, |v| v.as_u64().filter(|n| *n <= MAX_SECONDS), |v, w| w.number(*v);
    Time:     u64,       Shape::Time, |v| v.as_u64(), |v, w| w.number(*v);
}

pub(super) struct KeySet;
impl Kind for KeySet {
    type Field = Option<JwkSet>;
    const SHAPE: Shape = Shape::KeySet;
    fn read(value: &Value<'_>, _: &Client) -> Result<Self::Field, Unread> {
        let keys = value.as_object().ok_or(Unread::Shape)?;
        // RFC 7517 section 5: keys for encryption, or of kinds that are not known here, are left
        // out.
        let keys = JwkSet::from_value(keys).map_err(|error| {
            super::invalid("jwks has a key that cannot be used").with_hint(error.to_string())
        })?;
        Ok(Some(keys))
    }
    fn is_empty(field: &Self::Field) -> bool {
        field.is_none()
    }
    fn write(field: &Self::Field, w: &mut Writer<'_>) {
        match field {
            Some(keys) => keys.write_value(w),
            None => w.null(),
        }
    }
}

pub(super) struct Flag;
impl Kind for Flag {
    type Field = bool;
    const SHAPE: Shape = Shape::Flag;
    fn read(value: &Value<'_>, _: &Client) -> Result<bool, Unread> {
        value.as_bool().ok_or(Unread::Shape)
    }
    fn is_empty(field: &bool) -> bool {
        !field
    }
    fn write(field: &bool, w: &mut Writer<'_>) {
        w.bool(*field);
    }
}

pub(super) struct List;
impl Kind for List {
    type Field = Vec<String>;
    const SHAPE: Shape = Shape::List;
    fn read(value: &Value<'_>, _: &Client) -> Result<Vec<String>, Unread> {
        strings(value).ok_or(Unread::Shape)
    }
    fn is_empty(field: &Vec<String>) -> bool {
        field.is_empty()
    }
    fn write(field: &Vec<String>, w: &mut Writer<'_>) {
        w.strings(field);
    }
}

pub(super) struct Claims;
impl Kind for Claims {
    type Field = Vec<ClaimRule>;
    const SHAPE: Shape = Shape::ClaimTable;
    fn read(value: &Value<'_>, _: &Client) -> Result<Vec<ClaimRule>, Unread> {
        Ok(claim_rules::read(value, TableOf::Client).map_err(super::invalid)?)
    }
    fn is_empty(field: &Vec<ClaimRule>) -> bool {
        field.is_empty()
    }
    fn write(field: &Vec<ClaimRule>, w: &mut Writer<'_>) {
        claim_rules::write(field, w);
    }
}

pub(super) struct Redirects;
impl Kind for Redirects {
    type Field = Vec<RedirectUri>;
    const SHAPE: Shape = Shape::List;
    fn read(value: &Value<'_>, client: &Client) -> Result<Self::Field, Unread> {
        let native = client.application_type == crate::client::ApplicationType::Native;
        let uris = strings(value)
            .ok_or_else(|| super::invalid_redirect("redirect URIs must be an array of strings"))?;
        let parsed = uris.iter().map(|uri| RedirectUri::parse(uri, native));
        Ok(parsed.collect::<Result<_, _>>()?)
    }
    fn is_empty(field: &Self::Field) -> bool {
        field.is_empty()
    }
    fn write(field: &Self::Field, w: &mut Writer<'_>) {
        w.strings(field.iter().map(RedirectUri::as_str));
    }
}

pub(super) struct Scopes;
impl Kind for Scopes {
    type Field = ScopeSet;
    const SHAPE: Shape = Shape::Scope;
    fn read(value: &Value<'_>, _: &Client) -> Result<ScopeSet, Unread> {
        let text = value.as_str().ok_or(Unread::Shape)?;
        ScopeSet::parse(text).map_err(|_| super::invalid("scope is malformed").into())
    }
    fn is_empty(field: &ScopeSet) -> bool {
        field.is_empty()
    }
    fn write(field: &ScopeSet, w: &mut Writer<'_>) {
        w.string(&field.to_string());
    }
}

/// A value of an enum that has names on the wire; `Names<T>` is a list of them, `MayName<T>` one or
/// none.
pub(super) struct Name<T>(T);
pub(super) struct Names<T>(T);
pub(super) struct MayName<T>(T);

/// An enum with wire names.
pub(super) trait Named: Copy + 'static {
    fn all() -> Vec<&'static str>;
    fn of(name: &str) -> Option<Self>;
    fn name(self) -> &'static str;
}

macro_rules! named {
    ($($type:ty),* $(,)?) => {$(
        impl Named for $type {
            fn all() -> Vec<&'static str> {
                <$type>::ALL.iter().map(|value| value.as_str()).collect()
            }
            fn of(name: &str) -> Option<Self> {
                <$type>::from_name(name)
            }
            fn name(self) -> &'static str {
                self.as_str()
            }
        }
    )*};
}
named!(
    crate::client::ApplicationType,
    crate::client::AuthMethod,
    crate::client::ConsentPolicy,
    crate::client::GrantType,
    crate::client::RefreshRotation,
    crate::issued::names::AccessTokenFormat,
);

impl<T: Named> Kind for Name<T> {
    type Field = T;
    const SHAPE: Shape = Shape::Name(T::all);
    fn read(value: &Value<'_>, _: &Client) -> Result<T, Unread> {
        value.as_str().and_then(T::of).ok_or(Unread::Shape)
    }
    fn is_empty(_: &T) -> bool {
        false
    }
    fn write(field: &T, w: &mut Writer<'_>) {
        w.string(field.name());
    }
}

impl<T: Named> Kind for MayName<T> {
    type Field = Option<T>;
    const SHAPE: Shape = Shape::Name(T::all);
    fn read(value: &Value<'_>, client: &Client) -> Result<Option<T>, Unread> {
        Name::<T>::read(value, client).map(Some)
    }
    fn is_empty(field: &Option<T>) -> bool {
        field.is_none()
    }
    fn write(field: &Option<T>, w: &mut Writer<'_>) {
        match field {
            Some(value) => w.string(value.name()),
            None => w.null(),
        }
    }
}

impl<T: Named> Kind for Names<T> {
    type Field = Vec<T>;
    const SHAPE: Shape = Shape::NameList(T::all);
    fn read(value: &Value<'_>, client: &Client) -> Result<Vec<T>, Unread> {
        let values = value.as_array().ok_or(Unread::Shape)?;
        values
            .iter()
            .map(|value| Name::<T>::read(value, client))
            .collect()
    }
    fn is_empty(field: &Vec<T>) -> bool {
        field.is_empty()
    }
    fn write(field: &Vec<T>, w: &mut Writer<'_>) {
        w.strings(field.iter().map(|value| value.name()));
    }
}

/// The five members that say which certificate a client of `tls_client_auth` has: each is one value
/// of the same field.
macro_rules! certificate_names {
    ($($kind:ident = $variant:ident: |$text:ident| $make:expr;)*) => {$(
        pub(super) struct $kind;
        impl Kind for $kind {
            type Field = Option<TlsClientAuth>;
            const SHAPE: Shape = Shape::Text;
            fn read(value: &Value<'_>, _: &Client) -> Result<Self::Field, Unread> {
                let $text = text(value).ok_or(Unread::Shape)?;
                let made: Option<_> = $make;
                made.map(|made| Some(TlsClientAuth::$variant(made)))
                    .ok_or(Unread::Shape)
            }
            fn is_empty(field: &Self::Field) -> bool {
                !matches!(field, Some(TlsClientAuth::$variant(_)))
            }
            fn write(field: &Self::Field, w: &mut Writer<'_>) {
                match field {
                    Some(TlsClientAuth::$variant(value)) => w.string(&value.to_string()),
                    _ => w.null(),
                }
            }
        }
    )*};
}
certificate_names! {
    SubjectDn = SubjectDn: |text| Some(text);
    SanDns = SanDns: |text| Some(text);
    SanUri = SanUri: |text| Some(text);
    SanIp = SanIp: |text| text.parse().ok();
    SanEmail = SanEmail: |text| Some(text);
}
