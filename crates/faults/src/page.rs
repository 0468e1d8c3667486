//! Just enough of HTML to fill in the server's own forms.

/// A page's first form: where it goes, and what it sends along unseen.
pub struct Form {
    /// Relative to the issuer.
    pub action: String,
    /// Name and value.
    pub hidden: Vec<(String, String)>,
}

impl Form {
    /// None where the page has no form.
    pub fn find(page: &str) -> Option<Form> {
        let form = &page[page.find("<form")?..];
        let form = &form[..form.find("</form>")?];
        let attribute = |tag: &str, name: &str| {
            let rest = tag.split_once(&format!(" {name}=\""))?.1;
            let text = rest.split_once('"')?.0;
            Some(text.replace("&quot;", "\"").replace("&amp;", "&"))
        };
        let hidden = form
            .split("<input")
            .skip(1)
            .filter_map(|tag| tag.split('>').next())
            .filter(|tag| tag.contains("type=\"hidden\""))
            .filter_map(|tag| Some((attribute(tag, "name")?, attribute(tag, "value")?)))
            .collect();
        // The actions are relative to a page one segment below the issuer.
        let action = attribute(form, "action")?;
        Some(Form {
            action: format!("/{}", action.trim_start_matches('/')),
            hidden,
        })
    }

    /// Its hidden fields, and these.
    pub fn with<'a>(&'a self, more: &[(&'a str, &'a str)]) -> Vec<(&'a str, &'a str)> {
        let hidden = self.hidden.iter();
        let mut fields: Vec<(&str, &str)> = hidden.map(|(n, v)| (n.as_str(), v.as_str())).collect();
        fields.extend(more);
        fields
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_is_found_with_what_it_hides() {
        let page = "<p><form method=\"post\" action=\"interaction\"><input type=\"hidden\" name=\"interaction\" value=\"a&amp;b\"><input name=\"otp\" type=\"text\"></form>";
        let form = Form::find(page).expect("a form");
        assert_eq!(form.action, "/interaction");
        assert_eq!(
            form.with(&[("otp", "1")]),
            [("interaction", "a&b"), ("otp", "1")]
        );
        assert!(Form::find("<p>nothing</p>").is_none());
    }
}
