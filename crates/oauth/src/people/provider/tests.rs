use super::*;

fn provider() -> Provider {
    Provider {
        client_id: "signet".into(),
        sealed_secret: Some("c2VhbGVk".into()),
        ..Provider::new("corp", "https://id.corp.example")
    }
}

#[test]
fn a_record_that_can_be_one_passes_and_others_say_why() {
    assert_eq!(provider().check(), Ok(()));
    type Mistake = (&'static str, fn(&mut Provider));
    let wrong: &[Mistake] = &[
        ("name", |p| p.name = "Corp".into()),
        ("name", |p| p.name = "-corp".into()),
        ("name", |p| p.name = "a/b".into()),
        ("name", |p| p.name = String::new()),
        ("issuer", |p| p.issuer = "corp".into()),
        ("issuer", |p| p.issuer = "javascript:alert(1)".into()),
        ("issuer", |p| p.issuer = "https://id.corp.example/?x".into()),
        ("client_id", |p| p.client_id = String::new()),
        ("secret", |p| p.sealed_secret = None),
        ("scope", |p| p.scope = "email".into()),
        ("oauth2", |p| p.protocol = Protocol::Oauth2),
        ("endpoint", |p| p.token_endpoint = Some("ftp://x/".into())),
        ("domains", |p| p.domains = vec!["Corp.example".into()]),
        ("domains", |p| p.domains = vec!["a@corp.example".into()]),
        ("groups", |p| {
            p.groups = vec![GroupRow {
                claim: "groups".into(),
                value: "*".into(),
                group: Some("staff".into()),
            }];
        }),
    ];
    for (what, change) in wrong {
        let mut provider = provider();
        change(&mut provider);
        let fault = provider.check().expect_err(what);
        assert!(fault.contains(what), "{what}: {fault}");
    }
}

#[test]
fn a_public_client_and_one_with_a_key_need_no_secret() {
    for auth in [ProviderAuth::None, ProviderAuth::PrivateKeyJwt] {
        let without = Provider {
            auth,
            sealed_secret: None,
            ..provider()
        };
        assert_eq!(without.check(), Ok(()));
    }
}

#[test]
fn presets_say_everything_but_who_this_server_is() {
    for preset in [
        Preset::Github,
        Preset::Google,
        Preset::Gitlab,
        Preset::Apple,
    ] {
        let whole = Provider {
            client_id: "x".into(),
            sealed_secret: Some("c2VhbGVk".into()),
            ..Provider::of_preset("p", preset)
        };
        assert_eq!(whole.check(), Ok(()), "{preset:?}");
    }
    let tenant = Provider::of_preset("p", Preset::Microsoft);
    assert!(tenant.check().is_err(), "whose tenant it is must be said");
}

/// An LDAP server that is asked for passwords.
fn directory() -> Provider {
    Provider {
        protocol: Protocol::Ldap,
        migrate: true,
        client_id: "cn=signet,dc=corp,dc=example".into(),
        search_base: Some("ou=people,dc=corp,dc=example".into()),
        search_filter: Some("(uid={login})".into()),
        issuer: "ldaps://ldap.corp.example".into(),
        ..provider()
    }
}

#[test]
fn a_server_that_is_asked_for_passwords_alone_has_nothing_that_leads_there() {
    assert_eq!(directory().check(), Ok(()));
    let hook = Provider {
        protocol: Protocol::Hook,
        migrate: true,
        ..provider()
    };
    assert_eq!(hook.check(), Ok(()));
    let nobody = Provider {
        auth: ProviderAuth::None,
        sealed_secret: None,
        client_id: String::new(),
        ..directory()
    };
    assert_eq!(nobody.check(), Ok(()));
    type Mistake = (&'static str, fn(&mut Provider));
    let wrong: &[Mistake] = &[
        ("migrate", |p| p.migrate = false),
        ("domains", |p| p.domains = vec!["corp.example".into()]),
        ("logout", |p| p.logout = true),
        ("trust_acr", |p| p.trust_acr = true),
        ("endpoints", |p| {
            p.token_endpoint = Some("https://x.example/".into())
        }),
        ("issuer", |p| p.issuer = "https://ldap.corp.example".into()),
        ("issuer", |p| {
            p.issuer = "ldaps://ldap.corp.example/ou=people".into()
        }),
        ("issuer", |p| p.issuer = "ldaps://".into()),
        ("search_base", |p| p.search_base = None),
        ("search_filter", |p| p.search_filter = None),
        ("{login}", |p| p.search_filter = Some("(uid=alice)".into())),
        ("binds", |p| p.auth = ProviderAuth::PrivateKeyJwt),
    ];
    for (what, change) in wrong {
        let mut provider = directory();
        change(&mut provider);
        let fault = provider.check().expect_err(what);
        assert!(fault.contains(what), "{what}: {fault}");
    }
    let searched = Provider {
        search_base: Some("dc=x".into()),
        ..provider()
    };
    assert!(searched.check().is_err());
}

#[test]
fn nobody_is_sent_to_a_server_that_is_asked_for_passwords_alone() {
    let mut providers = Providers::default();
    providers.put(Arc::new(directory()));
    assert!(providers.usable("corp").is_none());
    assert_eq!(providers.asked_for_passwords().count(), 1);
    providers.put(Arc::new(Provider {
        enabled: false,
        ..directory()
    }));
    assert_eq!(providers.asked_for_passwords().count(), 0);
    for n in 0..5 {
        providers.put(Arc::new(Provider {
            name: format!("old-{n}"),
            ..directory()
        }));
    }
    assert_eq!(providers.asked_for_passwords().count(), MAX_MIGRATED_FROM);
}

#[test]
fn an_address_leads_to_the_provider_of_its_domain() {
    let mut providers = Providers::default();
    providers.put(Arc::new(Provider {
        domains: vec!["corp.example".into()],
        ..provider()
    }));
    let leads = |typed: &str| providers.of_address(typed).is_some();
    assert!(leads("ann@corp.example") && leads(" ANN@Corp.Example "));
    for typed in [
        "ann",
        "ann@",
        "ann@x.corp.example",
        "corp.example",
        "ann@corp.example.evil.example",
    ] {
        assert!(!leads(typed), "{typed}");
    }
    providers.put(Arc::new(Provider {
        domains: vec!["corp.example".into()],
        enabled: false,
        ..provider()
    }));
    assert!(providers.of_address("ann@corp.example").is_none());
}
