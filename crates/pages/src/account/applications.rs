//! The account page's part about applications: what its person has allowed them.

use maud::{Markup, html};
use signet_encoding::base64url;

use crate::parts::face::{Face, plain};
use crate::parts::icon::letter;
use crate::parts::row::{Danger, Row, danger};

/// A consent as its giver sees it.
#[derive(Debug, Clone, Default)]
pub struct ConsentView {
    /// The client.
    pub client_id: String,
    /// Its name, or its id.
    pub client_name: String,
    /// It has a picture that is shown.
    pub pictured: bool,
    /// What was allowed, in words.
    pub scopes: Vec<String>,
    /// Unix seconds.
    pub granted_at: u64,
}

impl ConsentView {
    fn row(&self, t: &Face) -> Row {
        let mark = match self.pictured {
            true => {
                let id = base64url::encode(self.client_id.as_bytes());
                html! { img src={ (t.base) "/client-logo/" (id) } alt="" width="36" height="36"; }
            }
            false => letter(&self.client_name),
        };
        let since = t.time(self.granted_at);
        Row {
            mark: Some(mark),
            name: Some(html! { bdi { (self.client_name) } }),
            state: Some(html! {
                (t.html("account-application-since", &[
                    ("scopes", plain(&self.scopes.join(" · "))),
                    ("since", since.into()),
                ]))
            }),
        }
    }
}

/// The section. `hidden`: the field that every form carries.
pub(crate) fn applications(t: &Face, consents: &[ConsentView], hidden: &Markup) -> Markup {
    html! {
        h2 #consents { (t.text("account-applications")) }
        @if consents.is_empty() {
            p .soft { (t.text("account-applications-none")) }
        } @else {
            ul .rows aria-labelledby="consents" {
                @for (index, consent) in consents.iter().enumerate() {
                    @let name = [("client", (&consent.client_name).into())];
                    @let fields = html! {
                        (hidden)
                        input type="hidden" name="client_id" value=(consent.client_id);
                    };
                    (consent.row(t).with(&danger(t, &Danger {
                        id: &format!("withdraw-{index}"),
                        act: &t.text("account-withdraw"),
                        title: &t.with("account-withdraw-one", &name),
                        heading: None,
                        text: Some(html! { (t.text("account-withdraw-text")) }),
                        decision: "withdraw",
                        fields: &fields,
                    })))
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn access_is_removed_after_a_question_that_names_the_application() {
        let hostile = "Shop\"><img src=x>";
        let consents = [ConsentView {
            client_id: hostile.to_owned(),
            client_name: hostile.to_owned(),
            scopes: vec![hostile.to_owned()],
            ..ConsentView::default()
        }];
        let html = applications(&Face::default(), &consents, &html! {}).into_string();
        assert!(!html.contains("<img"), "{html}");
        let (_, dialog) = html.split_once("role=\"dialog\"").expect("a dialog");
        assert!(dialog.contains("Remove access of Shop&quot;"), "{dialog}");
        assert!(dialog.contains("value=\"withdraw\""), "{dialog}");
    }
}
