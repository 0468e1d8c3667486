//! Paths to handlers. A path is exact, or has segments in braces that match one segment each.
use super::{context::Context, response::Response};
use http::Method;
use signet_oauth::endpoint::Cors;
use std::{collections::HashMap, future::Future, pin::Pin, sync::Arc};

/// What a handler returns.
pub type HandlerFuture = Pin<Box<dyn Future<Output = Response> + Send>>;
/// A handler: `async fn(Context) -> Response`.
pub type Handler = Arc<dyn Fn(Context) -> HandlerFuture + Send + Sync>;

/// One path and its methods.
pub struct Route {
    pub(crate) path: &'static str,
    pub(crate) cors: Cors,
    /// Also served where client certificates are asked for.
    pub(crate) mtls: bool,
    pub(crate) methods: Vec<(Method, Handler)>,
}

impl Route {
    /// The handler of a method; `HEAD` is served by `GET`.
    pub fn handler(&self, method: &Method) -> Option<&Handler> {
        let wanted = if method == Method::HEAD {
            &Method::GET
        } else {
            method
        };
        self.methods
            .iter()
            .find(|(m, _)| m == wanted)
            .map(|(_, h)| h)
    }

    /// The `Allow` header's value.
    pub fn allow(&self) -> String {
        let mut allow = String::new();
        for (method, _) in &self.methods {
            allow.push_str(method.as_str());
            allow.push_str(", ");
            if method == Method::GET {
                allow.push_str("HEAD, ");
            }
        }
        allow.push_str("OPTIONS");
        allow
    }
}

/// All routes. Built once at start.
#[derive(Default)]
pub struct Router {
    exact: HashMap<&'static str, Route>,
    patterns: Vec<Route>,
}

impl Router {
    /// None yet.
    pub fn new() -> Router {
        Router::default()
    }

    /// Adds a handler for a path below the issuer: `/token`, `/register/{client_id}`.
    pub fn route<F, Fut>(&mut self, method: Method, path: &'static str, handler: F) -> &mut Self
    where
        F: Fn(Context) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Response> + Send + 'static,
    {
        let handler: Handler = Arc::new(move |context| Box::pin(handler(context)));
        self.entry(path).methods.push((method, handler));
        self
    }

    /// `route` with GET (and HEAD).
    pub fn get<F, Fut>(&mut self, path: &'static str, handler: F) -> &mut Self
    where
        F: Fn(Context) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Response> + Send + 'static,
    {
        self.route(Method::GET, path, handler)
    }

    /// `route` with POST.
    pub fn post<F, Fut>(&mut self, path: &'static str, handler: F) -> &mut Self
    where
        F: Fn(Context) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Response> + Send + 'static,
    {
        self.route(Method::POST, path, handler)
    }

    /// Lets other origins read a path's answers.
    pub fn cors(&mut self, path: &'static str, cors: Cors) -> &mut Self {
        self.entry(path).cors = cors;
        self
    }

    /// Serves a path at the mTLS entrance, too. All others are not found there: no browser is sent to it.
    pub fn at_mtls(&mut self, path: &'static str) -> &mut Self {
        self.entry(path).mtls = true;
        self
    }

    fn entry(&mut self, path: &'static str) -> &mut Route {
        let new = || Route {
            path,
            cors: Cors::No,
            mtls: false,
            methods: Vec::new(),
        };
        if !path.contains('{') {
            return self.exact.entry(path).or_insert_with(new);
        }
        let at = self.patterns.iter().position(|r| r.path == path);
        let at = at.unwrap_or_else(|| {
            self.patterns.push(new());
            self.patterns.len() - 1
        });
        &mut self.patterns[at]
    }

    /// The route of a path, and the values of its segments in braces (percent-decoded by the handler where needed).
    pub fn find(&self, path: &str) -> Option<(&Route, Vec<(&'static str, String)>)> {
        if let Some(route) = self.exact.get(path) {
            return Some((route, Vec::new()));
        }
        self.patterns
            .iter()
            .find_map(|route| Some((route, matches(route.path, path)?)))
    }
}

fn matches(pattern: &'static str, path: &str) -> Option<Vec<(&'static str, String)>> {
    let mut params = Vec::new();
    let mut given = path.split('/');
    for part in pattern.split('/') {
        let segment = given.next()?;
        match part.strip_prefix('{').and_then(|p| p.strip_suffix('}')) {
            Some(_) if segment.is_empty() => return None,
            Some(name) => params.push((name, percent_decode(segment)?)),
            None if part == segment => {}
            None => return None,
        }
    }
    given.next().is_none().then_some(params)
}

/// `%xx` to bytes, which must be UTF-8; `None` for a bad escape.
pub(crate) fn percent_decode(segment: &str) -> Option<String> {
    if !segment.contains('%') {
        return Some(segment.to_owned());
    }
    let bytes = segment.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        if bytes[at] == b'%' {
            let high = char::from(*bytes.get(at + 1)?).to_digit(16)?;
            let low = char::from(*bytes.get(at + 2)?).to_digit(16)?;
            out.push(u8::try_from(high * 16 + low).ok()?);
            at += 3;
        } else {
            out.push(bytes[at]);
            at += 1;
        }
    }
    String::from_utf8(out).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_matches_one_segment_each_and_decodes_it() {
        let params = matches("/a/{id}/b", "/a/x%20y/b").expect("matches");
        assert_eq!(params, [("id", "x y".to_owned())]);
        for path in ["/a//b", "/a/x", "/a/x/b/c", "/a/%zz/b", "/a/%ff/b"] {
            assert!(matches("/a/{id}/b", path).is_none(), "{path}");
        }
    }
}
