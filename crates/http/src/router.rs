//! Paths to handlers. A path is exact, or has segments in braces that match one segment each.
use crate::{percent::percent_decode, response::Response};
use http::Method;
use std::{collections::HashMap, future::Future, pin::Pin, sync::Arc};

/// The values of a path's segments in braces, by the names in the braces.
pub type Segments = Vec<(&'static str, String)>;

/// What a handler returns.
pub type HandlerFuture = Pin<Box<dyn Future<Output = Response> + Send>>;
/// A handler: `async fn(C) -> Response`, where `C` is what the application hands to each.
pub type Handler<C> = Arc<dyn Fn(C) -> HandlerFuture + Send + Sync>;

/// One path and its methods.
pub struct Route<C, F> {
    /// As it was added: `/register/{client_id}`.
    pub path: &'static str,
    /// What the application notes about it.
    pub facts: F,
    methods: Vec<(Method, Handler<C>)>,
}

impl<C, F> Route<C, F> {
    /// The handler of a method; `HEAD` is served by `GET`.
    pub fn handler(&self, method: &Method) -> Option<&Handler<C>> {
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

    /// The methods that were added, in that order.
    pub fn methods(&self) -> Vec<Method> {
        self.methods
            .iter()
            .map(|(method, _)| method.clone())
            .collect()
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

/// All routes, whose handlers take a `C`; `F` is what the application notes about each. Built once
/// at start.
pub struct Router<C, F> {
    exact: HashMap<&'static str, Route<C, F>>,
    patterns: Vec<Route<C, F>>,
    otherwise: Option<Handler<C>>,
}

impl<C, F> Default for Router<C, F> {
    fn default() -> Router<C, F> {
        Router {
            exact: HashMap::new(),
            patterns: Vec::new(),
            otherwise: None,
        }
    }
}

impl<C: 'static, F: Default> Router<C, F> {
    /// None yet.
    pub fn new() -> Router<C, F> {
        Router::default()
    }

    /// Adds a handler for a path below the issuer: `/token`, `/register/{client_id}`.
    pub fn route<H, Fut>(&mut self, method: Method, path: &'static str, handler: H) -> &mut Self
    where
        H: Fn(C) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Response> + Send + 'static,
    {
        let handler: Handler<C> = Arc::new(move |context| Box::pin(handler(context)));
        self.entry(path).methods.push((method, handler));
        self
    }

    /// `route` with GET (and HEAD).
    pub fn get<H, Fut>(&mut self, path: &'static str, handler: H) -> &mut Self
    where
        H: Fn(C) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Response> + Send + 'static,
    {
        self.route(Method::GET, path, handler)
    }

    /// `route` with POST.
    pub fn post<H, Fut>(&mut self, path: &'static str, handler: H) -> &mut Self
    where
        H: Fn(C) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Response> + Send + 'static,
    {
        self.route(Method::POST, path, handler)
    }

    /// Sets the handler of every path that no route has.
    pub fn otherwise<H, Fut>(&mut self, handler: H) -> &mut Self
    where
        H: Fn(C) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Response> + Send + 'static,
    {
        self.otherwise = Some(Arc::new(move |context| Box::pin(handler(context))));
        self
    }

    /// The handler of every path that no route has, if one was set.
    pub fn fallback(&self) -> Option<&Handler<C>> {
        self.otherwise.as_ref()
    }

    /// What the application notes about a path.
    pub fn facts(&mut self, path: &'static str) -> &mut F {
        &mut self.entry(path).facts
    }

    fn entry(&mut self, path: &'static str) -> &mut Route<C, F> {
        let new = || Route {
            path,
            facts: F::default(),
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

    /// The paths of all routes, as they were added.
    pub fn paths(&self) -> impl Iterator<Item = &'static str> {
        let patterns = self.patterns.iter().map(|route| route.path);
        self.exact.keys().copied().chain(patterns)
    }

    /// The route of a path, and the values of its segments in braces (percent-decoded by the
    /// handler where needed).
    pub fn find(&self, path: &str) -> Option<(&Route<C, F>, Segments)> {
        if let Some(route) = self.exact.get(path) {
            return Some((route, Vec::new()));
        }
        self.patterns
            .iter()
            .find_map(|route| Some((route, matches(route.path, path)?)))
    }
}

fn matches(pattern: &'static str, path: &str) -> Option<Segments> {
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
