//! OAuth 2.0 Form Post Response Mode: the answer as a form that sends itself, or is sent with a
//! button.

use maud::html;

use crate::parts::face::Face;
use crate::parts::layout::{Frame, Html};

const SUBMIT: &str = "document.forms[0].submit()";

/// `parameters` in order; `redirect_uri` has been proven to be the client's.
pub fn form_post(t: &Face, redirect_uri: &str, parameters: &[(&str, &str)]) -> Html {
    Frame {
        script: Some(SUBMIT),
        ..Frame::new(t, t.text("error-going-back"))
    }
    .render(html! {
        h1 { (t.text("error-going-back")) }
        p .soft { (t.text("error-going-back-text")) }
        form method="post" action=(redirect_uri) {
            @for (name, value) in parameters {
                input type="hidden" name=(name) value=(value);
            }
            // Unnamed, so that it adds no parameter of its own.
            button .main type="submit" { (t.text("page-continue")) }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn state_cannot_break_out_of_the_form() {
        let html = form_post(
            &Face::default(),
            "https://rp.example/cb",
            &[("state", "\"><script>x</script>")],
        );
        assert_eq!(html.body.matches("<script").count(), 1);
        assert!(html.headers()[0].1.contains("script-src 'sha256-"));
        assert!(!html.headers()[0].1.contains("form-action"));
    }
}
