//! The one table of routes: what is answered, and what requests are counted under.

use http::Method;

/// What answers at a path.
#[derive(Clone, Copy)]
pub(crate) enum Endpoint {
    Live,
    Ready,
    Metrics,
    Validate,
    Batch,
    Nginx,
    /// Traefik and Caddy speak alike.
    Traefik,
    Envoy,
    /// Paths at the applications themselves: browsers come to them through the proxy.
    Login,
}

/// A row of [`ROUTES`].
pub(crate) struct Route {
    /// As requests are counted.
    pub(crate) path: &'static str,
    /// The one method; none: any, since the proxy asks with the client's.
    pub(crate) method: Option<Method>,
    /// Whether more may follow behind the path.
    prefix: bool,
    /// What answers.
    pub(crate) endpoint: Endpoint,
}

const fn route(path: &'static str, method: Option<Method>, endpoint: Endpoint) -> Route {
    Route {
        path,
        method,
        prefix: false,
        endpoint,
    }
}

/// Everything that is answered.
pub(crate) static ROUTES: [Route; 10] = [
    route("/health/live", Some(Method::GET), Endpoint::Live),
    route("/health/ready", Some(Method::GET), Endpoint::Ready),
    route("/metrics", Some(Method::GET), Endpoint::Metrics),
    route("/validate", Some(Method::POST), Endpoint::Validate),
    route("/validate/batch", Some(Method::POST), Endpoint::Batch),
    route("/auth/nginx", None, Endpoint::Nginx),
    route("/auth/traefik", None, Endpoint::Traefik),
    route("/auth/caddy", None, Endpoint::Traefik),
    Route {
        path: "/auth/envoy",
        method: None,
        prefix: true,
        endpoint: Endpoint::Envoy,
    },
    LOGIN,
];

/// Every path of the login, the redirect URI among them.
pub(crate) const LOGIN: Route = Route {
    path: signet_gate_login::PREFIX,
    method: None,
    prefix: true,
    endpoint: Endpoint::Login,
};

/// The route of a path.
pub(crate) fn find(path: &str) -> Option<&'static Route> {
    ROUTES.iter().find(|route| match route.prefix {
        true => path.starts_with(route.path),
        false => path == route.path,
    })
}
