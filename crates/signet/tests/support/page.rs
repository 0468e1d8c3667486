//! Just enough of HTML to fill in the server's own forms, as a browser without JavaScript would.

/// The first form of a page.
#[derive(Debug, PartialEq, Eq)]
pub struct Form {
    pub action: String,
    /// Hidden fields: name, value.
    pub hidden: Vec<(String, String)>,
    /// Names of the fields a person fills in.
    pub fields: Vec<String>,
}

impl Form {
    /// The page's first form; `None` if it has none.
    pub fn find(html: &str) -> Option<Form> {
        let start = html.find("<form")?;
        let body = &html[start..];
        let body = &body[..body.find("</form>").unwrap_or(body.len())];
        let mut tags = tags(body);
        let form = tags.next()?;
        let mut found = Form {
            action: attribute(form, "action").unwrap_or_default(),
            hidden: Vec::new(),
            fields: Vec::new(),
        };
        for tag in tags.filter(|t| t.starts_with("input")) {
            let Some(name) = attribute(tag, "name") else {
                continue;
            };
            if attribute(tag, "type").as_deref() == Some("hidden") {
                found
                    .hidden
                    .push((name, attribute(tag, "value").unwrap_or_default()));
            } else {
                found.fields.push(name);
            }
        }
        Some(found)
    }

    /// Does a person fill in this field?
    pub fn asks_for(&self, field: &str) -> bool {
        self.fields.iter().any(|f| f == field)
    }
}

/// The code of an error page: `<main id="error" data-error="CODE">`.
pub fn error_code(html: &str) -> Option<String> {
    tags(html)
        .find(|t| t.starts_with("main") && attribute(t, "id").as_deref() == Some("error"))
        .and_then(|t| attribute(t, "data-error"))
}

/// The insides of opening tags. Attribute values of the server's pages have `<` and `>` escaped.
fn tags(html: &str) -> impl Iterator<Item = &str> {
    html.split('<').skip(1).filter_map(|t| t.split('>').next())
}

fn attribute(tag: &str, name: &str) -> Option<String> {
    let mut rest = tag;
    loop {
        let at = rest.find(name)?;
        let before = rest[..at].chars().next_back();
        rest = &rest[at + name.len()..];
        if before.is_some_and(char::is_whitespace)
            && let Some(value) = rest.strip_prefix("=\"")
        {
            return value.split('"').next().map(unescape);
        }
    }
}

fn unescape(text: &str) -> String {
    text.replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&quot;", "\"")
        .replace("&#39;", "'")
        .replace("&amp;", "&")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_is_read_with_its_hidden_fields() {
        let html = r#"<main><h1>Log in</h1><form method="post" action="/login?a=1&amp;b=2">
            <input type="hidden" name="interaction" value="x&quot;y"><input name="username" type="text" required>
            <input id="password" name="password" type="password"><button name="decision" value="allow">Go</button></form>
            <form action="/other"></form></main>"#;
        let form = Form::find(html).unwrap();
        assert_eq!(form.action, "/login?a=1&b=2");
        assert_eq!(form.hidden, [("interaction".to_owned(), "x\"y".to_owned())]);
        assert!(form.asks_for("username") && form.asks_for("password") && !form.asks_for("otp"));
        assert_eq!(Form::find("<p>no form</p>"), None);
    }

    #[test]
    fn an_error_page_gives_its_code() {
        assert_eq!(
            error_code(r#"<body><main id="error" data-error="invalid_request"><p>"#).as_deref(),
            Some("invalid_request")
        );
        assert_eq!(error_code("<main id=\"login\">"), None);
    }
}
