//! Pages: what a person sees, as functions from plain data to HTML.
//!
//! Pages are forms that work without scripts and load nothing: the style sheet is inline and
//! allowed by its hash, and the only script of the house, which sends a `form_post` answer on, is
//! allowed by its hash and has a button beside it. maud escapes everything that is interpolated;
//! `PreEscaped` is used for the two constants above and nothing else. The names of fields and
//! buttons are the contract that scripts and password managers rely on.
#![forbid(unsafe_code)]

mod account;
mod check_session;
mod consent;
mod device;
mod error;
mod form_post;
mod leaving;
mod letter;
mod login;
mod logout;
mod not_found;
mod parts;
pub mod words;

pub use account::agents::{AgentGrantView, AgentsView, IdentityView};
pub use account::applications::ConsentView;
pub use account::deletion::{deletion_page, keep_account};
pub use account::factors::{
    CredentialSort, CredentialView, FactorsView, TotpAddPage, recovery_codes, totp_add,
};
pub use account::profile::{AttributeField, AttributeView, ProfileView};
pub use account::recover::{recover, recover_sent, reset};
pub use account::sessions::SessionView;
pub use account::{AccountView, account};
pub use check_session::{CHECK_SESSION_POLICY, check_session};
pub use consent::{ConsentPage, ScopeLine, consent};
pub use device::{device_confirm, device_done, device_enter};
pub use error::error;
pub use form_post::form_post;
pub use leaving::{LeavingPage, Onward, leaving};
pub use letter::{
    InvitationLetter, Letter, LoginCode, SecurityFacts, account_erased, carried_picture,
    deletion_asked, invitation, login_code, recovery_link, security, sign_up_known, sign_up_link,
};
pub use login::accept_terms::{AcceptTerms, accept_terms};
pub use login::first_password::{FirstPassword, first_password};
pub use login::login_link::{link_confirm, link_elsewhere, link_ended};
pub use login::passkey::{PasskeyOffer, PasskeyStep, passkey_offer, passkey_step};
pub use login::providers::{
    ProviderButton, ProviderFirst, ProviderLink, ProviderLinks, provider_first,
};
pub use login::sign_up::{Invited, NewAccountPage, SignUpPage, new_account, sign_up, sign_up_sent};
pub use login::steps::{StepPage, choose_step, password_step, recovery_step, totp_step};
pub use login::{CodePage, LoginPage, SelectPage, code, login, select_account};
pub use logout::{LogoutFrame, LogoutOnward, logout_confirm, signed_out, stayed};
pub use not_found::not_found;
pub use parts::brand::{
    Brand, BrandParts, Brands, MAX_BRAND_NAME_BYTES, MAX_CSS_BYTES, MIN_CONTRAST, Picture,
};
pub use parts::button::MethodButton;
pub use parts::face::{Face, Part};
pub use parts::layout::{Html, Notice};
pub use parts::links::ClientLinks;
pub use parts::script::{Script, script};

/// The icon of the pages, an ICO file.
pub const FAVICON: &[u8] = include_bytes!("favicon.ico");
