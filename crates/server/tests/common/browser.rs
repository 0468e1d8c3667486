//! A browser in miniature: keeps cookies, follows redirects within the server, fills the forms it
//! meets.
use super::{
    Server,
    client::{Call, Reply, escape},
};
use signet_realm::state::RealmId;
use signet_request::cookie::Cookie;
use std::collections::BTreeMap;

/// Its own cookies, and nothing else.
pub struct Browser<'s> {
    pub server: &'s Server,
    pub cookies: BTreeMap<String, String>,
    /// The address it seems to come from, where the server believes the header.
    pub from: Option<String>,
}

/// Where a navigation ended.
#[derive(Debug)]
pub struct Page {
    /// Path and query on the server; a whole URL where the browser was sent elsewhere.
    pub url: String,
    pub reply: Reply,
}

impl<'s> Browser<'s> {
    pub fn new(server: &'s Server) -> Browser<'s> {
        Browser {
            server,
            cookies: BTreeMap::new(),
            from: None,
        }
    }

    /// Goes on at another node: cookies are host-only, and both have one name.
    pub fn moved_to<'t>(self, server: &'t Server) -> Browser<'t> {
        Browser {
            server,
            cookies: self.cookies,
            from: self.from,
        }
    }

    /// What a cookie is called in the server's realm.
    pub fn cookie_name(&self, cookie: Cookie) -> String {
        cookie.name(self.server.realm.id()).into_owned()
    }

    #[track_caller]
    pub fn get(&mut self, target: &str) -> Page {
        self.go(target, Call::get(target))
    }

    #[track_caller]
    pub fn post(&mut self, target: &str, fields: &[(&str, &str)]) -> Page {
        self.go(target, Call::post(target).form(fields))
    }

    /// A form of another site: the `SameSite=Lax` cookies stay behind.
    #[track_caller]
    pub fn cross_site_post(&mut self, target: &str, fields: &[(&str, &str)]) -> Page {
        let reply = Call::post(target).form(fields).send(self.server);
        self.keep(&reply);
        self.follow(target.to_owned(), reply)
    }

    /// Sends the page's form that has a button with this decision, with these fields filled in.
    #[track_caller]
    pub fn press(&mut self, page: &Page, decision: &str, fields: &[(&str, &str)]) -> Page {
        let (action, hidden) = page.form(decision);
        let mut all: Vec<(&str, &str)> = hidden
            .iter()
            .map(|(n, v)| (n.as_str(), v.as_str()))
            .filter(|(n, _)| fields.iter().all(|(other, _)| other != n))
            .collect();
        all.extend(fields);
        all.push(("decision", decision));
        // Targets are below the realm's path, and addresses in a page are not.
        let base = self.server.base();
        let path = base
            .split_once("://")
            .and_then(|(_, rest)| rest.find('/').map(|at| &rest[at..]));
        let below = path.and_then(|path| action.strip_prefix(path));
        let target = resolve(&page.url, below.unwrap_or(&action));
        self.post(&target, &all)
    }

    /// Logs in at the login page.
    #[track_caller]
    pub fn log_in(&mut self, page: &Page, username: &str, password: &str) -> Page {
        self.press(
            page,
            "allow",
            &[("username", username), ("password", password)],
        )
    }

    #[track_caller]
    fn go(&mut self, target: &str, call: Call) -> Page {
        let reply = self.send(call);
        self.follow(target.to_owned(), reply)
    }

    #[track_caller]
    fn follow(&mut self, mut url: String, mut reply: Reply) -> Page {
        for _ in 0..10 {
            if reply.status != 303 {
                return Page { url, reply };
            }
            let location = reply.header("location").to_owned();
            let base = self.server.base();
            let Some(target) = location.strip_prefix(&base) else {
                return Page {
                    url: location,
                    reply,
                };
            };
            url = target.to_owned();
            reply = self.send(Call::get(&url));
        }
        panic!("redirected in circles at {url}");
    }

    fn send(&mut self, mut call: Call) -> Reply {
        if !self.cookies.is_empty() {
            let cookies: Vec<String> = self
                .cookies
                .iter()
                .map(|(n, v)| format!("{n}={v}"))
                .collect();
            call = call.header("cookie", &cookies.join("; "));
        }
        if let Some(from) = &self.from {
            call = call.header("x-forwarded-for", from);
        }
        let reply = call.send(self.server);
        self.keep(&reply);
        reply
    }

    fn keep(&mut self, reply: &Reply) {
        for cookie in reply.headers.get_all("set-cookie") {
            let cookie = cookie.to_str().unwrap();
            // The one that a script of ours reads in a frame has no secret in it.
            let scope =
                match cookie.starts_with(Cookie::State.name(&RealmId::default_realm()).as_ref()) {
                    true => ["SameSite=None", "Path=/"],
                    false => ["SameSite=Lax", "HttpOnly"],
                };
            for attribute in ["Path=/", "Secure"].iter().chain(&scope) {
                assert!(cookie.contains(attribute), "{cookie}");
            }
            assert!(cookie.starts_with("__Host-"), "{cookie}");
            let (name, rest) = cookie.split_once('=').unwrap();
            let value = rest.split(';').next().unwrap();
            if cookie.contains("Max-Age=0") {
                self.cookies.remove(name);
            } else {
                self.cookies.insert(name.to_owned(), value.to_owned());
            }
        }
    }
}

impl Page {
    pub fn text(&self) -> String {
        self.reply.text()
    }

    #[track_caller]
    pub fn expect(self, text: &str) -> Page {
        assert!(
            self.text().contains(text),
            "{text:?} is not on {} ({}): {}",
            self.url,
            self.reply.status,
            self.text()
        );
        self
    }

    #[track_caller]
    pub fn expect_status(self, status: u16) -> Page {
        assert_eq!(self.reply.status, status, "{}: {}", self.url, self.text());
        self
    }

    /// The error page with this code.
    #[track_caller]
    pub fn expect_error(self, code: &str) -> Page {
        self.expect(&format!("<main id=\"error\" data-error=\"{code}\""))
    }

    /// Is there a button with this decision?
    pub fn offers(&self, decision: &str) -> bool {
        self.text()
            .contains(&format!("name=\"decision\" value=\"{decision}\""))
    }

    /// A parameter of the URL that the browser was sent to.
    pub fn param(&self, name: &str) -> Option<String> {
        let query = self.url.split_once('?')?.1;
        let params = signet_oauth::params::Params::parse(query.as_bytes()).ok()?;
        params.get(name).map(str::to_owned)
    }

    /// The value of a hidden field, wherever on the page.
    #[track_caller]
    pub fn field(&self, name: &str) -> String {
        let text = self.text();
        let mark = format!("name=\"{name}\" value=\"");
        let start = text
            .find(&mark)
            .unwrap_or_else(|| panic!("no {name} in {text}"))
            + mark.len();
        let end = start + text[start..].find('"').unwrap();
        unescape(&text[start..end])
    }

    /// Where an answer to a form says that it can be loaded again; empty: it says nothing.
    pub fn again(&self) -> String {
        let text = self.text();
        let said = text.split_once("data-again=\"");
        let address = said.and_then(|(_, rest)| rest.split('"').next());
        unescape(address.unwrap_or_default())
    }

    /// Action and filled-in fields of the form with this button.
    #[track_caller]
    fn form(&self, decision: &str) -> (String, Vec<(String, String)>) {
        let text = self.text();
        let button = format!("name=\"decision\" value=\"{decision}\"");
        let form = text
            .split("<form")
            .skip(1)
            .map(|form| form.split("</form>").next().unwrap_or(form))
            .find(|form| form.contains(&button))
            .unwrap_or_else(|| panic!("no {decision} button on {}: {text}", self.url));
        let attribute = |tag: &str, name: &str| {
            let (_, rest) = tag.split_once(&format!(" {name}=\""))?;
            Some(unescape(rest.split('"').next()?))
        };
        let action = attribute(form.split('>').next().unwrap(), "action").unwrap();
        let fields = form
            .split("<input")
            .skip(1)
            .filter_map(|tag| {
                let tag = tag.split('>').next()?;
                // One that is not ticked is not sent (HTML section 4.10.22.4).
                if tag.contains(" type=\"checkbox\"") && !tag.contains(" checked") {
                    return None;
                }
                Some((attribute(tag, "name")?, attribute(tag, "value")?))
            })
            .collect();
        (action, fields)
    }
}

/// Relative to the page's path, as a browser does.
fn resolve(url: &str, action: &str) -> String {
    if action.starts_with('/') {
        return action.to_owned();
    }
    let path = url.split('?').next().unwrap();
    let folder = &path[..=path.rfind('/').unwrap()];
    format!("{folder}{action}")
}

fn unescape(text: &str) -> String {
    text.replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&quot;", "\"")
        .replace("&amp;", "&")
}

/// `path?name=value&...`
pub fn with(path: &str, params: &[(&str, &str)]) -> String {
    let pairs: Vec<String> = params
        .iter()
        .map(|(n, v)| format!("{n}={}", escape(v)))
        .collect();
    format!("{path}?{}", pairs.join("&"))
}
