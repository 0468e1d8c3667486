use crate::support::*;
use proptest::prelude::*;

fn form() -> impl Strategy<Value = String> {
    const NAMES: &[&str] = &[
        "grant_type",
        "client_id",
        "client_secret",
        "client_assertion",
        "client_assertion_type",
        "code",
        "refresh_token",
        "device_code",
        "subject_token",
        "subject_token_type",
        "actor_token",
        "scope",
        "resource",
        "redirect_uri",
        "code_verifier",
    ];
    let values = prop_oneof![
        Just("authorization_code".to_owned()),
        Just("refresh_token".to_owned()),
        Just("urn:ietf:params:oauth:grant-type:token-exchange".to_owned()),
        Just("urn:ietf:params:oauth:token-type:access_token".to_owned()),
        Just("urn:ietf:params:oauth:client-assertion-type:jwt-bearer".to_owned()),
        Just("web".to_owned()),
        Just("native".to_owned()),
        "[A-Za-z0-9_.%+-]{0,40}",
    ];
    proptest::collection::vec((proptest::sample::select(NAMES), values), 0..10).prop_map(|pairs| {
        pairs
            .iter()
            .map(|(name, value)| format!("{name}={value}"))
            .collect::<Vec<_>>()
            .join("&")
    })
}

proptest! {
    #[test]
    fn no_request_panics_and_none_without_credentials_succeeds(
        form in form(),
        authorization in proptest::option::of("(Basic|basic|Bearer|x)? ?[A-Za-z0-9+/=:]{0,40}"),
        dpop in proptest::option::of("[A-Za-z0-9_.-]{0,60}"),
    ) {
        thread_local!(static WORLD: World = World::new());
        WORLD.with(|world| {
            prop_assert!(world.ask(&form, authorization.as_deref(), dpop.as_deref(), None).is_err());
            Ok(())
        })?;
    }
}
