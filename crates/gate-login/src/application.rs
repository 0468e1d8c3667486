//! An application that the gate logs people in for: one origin, and so one browser cookie.

/// The origin of an application, as browsers see it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Application {
    origin: String,
}

impl Application {
    /// From `https://orders.example.com`, without a path.
    ///
    /// # Errors
    /// A sentence. Only https: browsers keep a `__Host-` cookie of nothing else.
    pub fn new(url: &str) -> Result<Application, String> {
        let after_scheme = url.split_once("://").map_or("", |(_, rest)| rest);
        if after_scheme.trim_end_matches('/').contains(['/', '?', '#']) {
            return Err(format!(
                "{url} is no origin, such as https://orders.example.com: a path belongs to [[login.paths]]"
            ));
        }
        match signet_jose::dpop::origin(url) {
            Some(origin) if origin.starts_with("https://") => Ok(Application { origin }),
            Some(_) => Err(format!(
                "{url} is not https: browsers keep the session's cookie (__Host-) for https alone"
            )),
            None => Err(format!(
                "{url} is no origin, such as https://orders.example.com"
            )),
        }
    }

    /// Scheme, host and, where it is not the scheme's own, port.
    pub fn origin(&self) -> &str {
        &self.origin
    }

    /// An absolute URL of the application. `path_and_query` begins with `/`.
    pub(crate) fn url(&self, path_and_query: &str) -> String {
        [&self.origin, path_and_query].concat()
    }
}

/// A request's URL in two: what stands before its path, and the path with the query.
pub(crate) fn split(url: &str) -> Option<(&str, &str)> {
    let authority = url.find("://")? + 3;
    let end = url[authority..].find(['/', '?', '#']);
    let end = end.map_or(url.len(), |at| authority + at);
    let (origin, rest) = url.split_at(end);
    let rest = &rest[..rest.find('#').unwrap_or(rest.len())];
    Some((origin, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_application_is_an_https_origin_and_nothing_else() {
        let good = Application::new("HTTPS://Orders.Example.com:443/").unwrap();
        assert_eq!(good.origin(), "https://orders.example.com");
        assert_eq!(good.url("/a?b"), "https://orders.example.com/a?b");
        for bad in [
            "",
            "orders.example.com",
            "http://orders.example.com",
            "https://orders.example.com/app",
            "https://orders.example.com?x",
            "https://a@orders.example.com",
            "https://",
            "ftp://orders.example.com",
        ] {
            assert!(Application::new(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_url_is_split_before_its_path() {
        let both = |url| split(url).unwrap();
        assert_eq!(both("https://a/b?c#d"), ("https://a", "/b?c"));
        assert_eq!(both("https://a:1?c"), ("https://a:1", "?c"));
        assert_eq!(both("https://a"), ("https://a", ""));
        assert!(split("/b").is_none());
    }
}
