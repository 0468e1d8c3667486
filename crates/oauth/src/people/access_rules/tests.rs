use super::*;
use crate::people::{Attribute, AttributeType, Group, Held};
use proptest::prelude::*;

/// 2026-11-23, a Monday, 12:00 UTC.
const NOON: u64 = 1_795_435_200;

fn people() -> People {
    let mut people = People::default();
    for (name, parent) in [
        ("staff", None),
        ("engineering", Some("staff")),
        ("guests", None),
    ] {
        people.put_group(Arc::new(Group {
            id: format!("id-{name}"),
            name: name.into(),
            description: None,
            parent: parent.map(str::to_owned),
            roles: Vec::new(),
            external_id: None,
            revision: 1,
        }));
    }
    for (name, kind, verified) in [
        ("department", AttributeType::String, false),
        ("cleared", AttributeType::Boolean, true),
    ] {
        let attribute = Attribute {
            kind,
            verified,
            ..Attribute::new(name)
        };
        people.attributes.insert(name.into(), Arc::new(attribute));
    }
    people
}

fn held(groups: &[&str]) -> Holdings {
    Holdings {
        groups: groups.iter().map(|name| format!("id-{name}")).collect(),
        ..Holdings::default()
    }
}

fn texts(list: &[&str]) -> Vec<String> {
    list.iter().map(|text| (*text).to_owned()).collect()
}

fn networks(list: &[&str]) -> Vec<Network> {
    list.iter().map(|text| text.parse().unwrap()).collect()
}

fn rules(list: Vec<AccessRule>) -> Rules {
    list.into_iter()
        .map(|rule| (rule.name.clone(), Arc::new(rule)))
        .collect()
}

/// Alice, an engineer, asks for `read` as `app` at noon, from 192.0.2.7, with a password.
struct World {
    people: People,
    rules: Rules,
    mode: Mode,
    held: Holdings,
    scope: ScopeSet,
    audience: Vec<String>,
    origin: Origin,
    now: u64,
}

impl World {
    fn new(list: Vec<AccessRule>) -> World {
        World {
            people: people(),
            rules: rules(list),
            mode: Mode::Allow,
            held: held(&["engineering"]),
            scope: ScopeSet::parse("read").unwrap(),
            audience: texts(&["https://api.example"]),
            origin: Origin::Address("192.0.2.7".parse().unwrap()),
            now: NOON,
        }
    }

    fn question(&self) -> Question<'_> {
        Question {
            person: Some(("alice", &self.held)),
            client_id: "app",
            scope: &self.scope,
            audience: &self.audience,
            origin: self.origin,
            classes: Some(&["pwd"]),
            now: self.now,
        }
    }

    fn access(&self) -> Access<'_> {
        Access {
            people: &self.people,
            rules: &self.rules,
            mode: self.mode,
        }
    }

    fn decide(&self) -> (bool, Option<&str>) {
        let verdict = self.access().decide(&self.question());
        (verdict.allowed, verdict.rule)
    }
}

/// Whether one rule with one effect holds for alice.
#[track_caller]
fn holds(rule: impl Fn(&mut AccessRule), expected: bool) {
    let mut deny = AccessRule::new("d", Effect::Deny);
    rule(&mut deny);
    let world = World::new(vec![deny]);
    assert_eq!(world.decide().0, !expected, "deny");
    let mut allow = AccessRule::new("a", Effect::Allow);
    rule(&mut allow);
    let mut world = World::new(vec![allow]);
    world.mode = Mode::Deny;
    assert_eq!(world.decide().0, expected, "allow");
}

#[test]
fn without_rules_the_mode_decides_and_is_the_only_thing_that_does() {
    let mut world = World::new(Vec::new());
    assert!(world.access().is_open());
    assert_eq!(world.decide(), (true, None));
    world.mode = Mode::Deny;
    assert!(!world.access().is_open());
    assert_eq!(world.decide(), (false, None));
}

#[test]
fn every_condition_counts_and_every_exception() {
    holds(|_| {}, true);
    holds(|rule| rule.who.users = texts(&["alice"]), true);
    holds(|rule| rule.who.users = texts(&["bob"]), false);
    // Whoever is in a group inside one is in it.
    holds(|rule| rule.who.groups = texts(&["staff"]), true);
    holds(|rule| rule.who.groups = texts(&["guests"]), false);
    holds(
        |rule| {
            rule.who.groups = texts(&["guests"]);
            rule.who.users = texts(&["alice"]);
        },
        true,
    );
    holds(|rule| rule.clients = texts(&["app", "other"]), true);
    holds(|rule| rule.clients = texts(&["other"]), false);
    holds(|rule| rule.scopes = texts(&["read"]), true);
    holds(|rule| rule.scopes = texts(&["write"]), false);
    holds(
        |rule| rule.resources = texts(&["https://api.example"]),
        true,
    );
    holds(
        |rule| rule.resources = texts(&["https://else.example"]),
        false,
    );
    holds(|rule| rule.networks = networks(&["192.0.2.0/24"]), true);
    holds(
        |rule| rule.networks = networks(&["192.0.2.8/29", "::/0"]),
        false,
    );
    holds(|rule| rule.acr = texts(&["pwd"]), true);
    holds(|rule| rule.acr = texts(&["mfa"]), false);
    holds(|rule| rule.except.who.groups = texts(&["staff"]), false);
    holds(|rule| rule.except.who.users = texts(&["bob"]), true);
    holds(
        |rule| rule.except.networks = networks(&["192.0.2.7"]),
        false,
    );
    holds(|rule| rule.except.acr = texts(&["pwd"]), false);
    holds(|rule| rule.except.acr = texts(&["mfa"]), true);
    holds(|rule| rule.window.not_before = Some(NOON), true);
    holds(|rule| rule.window.not_before = Some(NOON + 1), false);
    holds(|rule| rule.window.not_after = Some(NOON), false);
}

#[test]
fn attributes_count_as_they_do_in_claims() {
    let world = |verified: bool| {
        let mut rule = AccessRule::new("cleared", Effect::Allow);
        rule.attributes = [
            ("department".to_owned(), texts(&["IT", "Sales"])),
            ("cleared".to_owned(), texts(&["true"])),
        ]
        .into();
        let mut world = World::new(vec![rule]);
        world.mode = Mode::Deny;
        let text = AttributeValue::Text("Sales".into());
        for (name, value) in [
            ("department", text),
            ("cleared", AttributeValue::Boolean(true)),
        ] {
            let one = Held { value, verified };
            world.held.attributes.insert(name.into(), one);
        }
        world
    };
    assert_eq!(world(true).decide(), (true, Some("cleared")));
    // What nobody vouches for is no value.
    assert_eq!(world(false).decide(), (false, None));
    let mut gone = world(true);
    gone.people.attributes.clear();
    assert_eq!(gone.decide(), (false, None));
}

/// LP12.
#[test]
fn a_value_that_nobody_vouches_for_is_none_whatever_the_schema_says() {
    for verified in [true, false] {
        let mut rule = AccessRule::new("finance", Effect::Allow);
        rule.attributes = [("department".to_owned(), texts(&["Finance"]))].into();
        let mut world = World::new(vec![rule]);
        world.mode = Mode::Deny;
        let mut attribute = Attribute::new("department");
        attribute.verified = verified;
        attribute.read = crate::people::Who::Person;
        attribute.write = crate::people::Who::Person;
        let people = &mut world.people.attributes;
        people.insert("department".into(), Arc::new(attribute));
        let own = Held {
            value: AttributeValue::Text("Finance".into()),
            verified: false,
        };
        let vouched = Held {
            verified: true,
            ..own.clone()
        };
        let held = &mut world.held.attributes;
        held.insert("department".into(), own);
        assert_eq!(world.decide(), (false, None), "verified = {verified}");
        let held = &mut world.held.attributes;
        held.insert("department".into(), vouched);
        assert_eq!(world.decide(), (true, Some("finance")));
    }
}

#[test]
fn hours_are_those_of_their_zone_also_when_its_clocks_change() {
    let at = |zone: Option<&str>, days: &[Day], hours: Option<&str>, now: u64| {
        let window = Window {
            days: days.to_vec(),
            hours: hours.map(|hours| hours.parse().unwrap()),
            zone: zone.map(|zone| zone.parse().unwrap()),
            ..Window::default()
        };
        assert_eq!(window.check(), Ok(()));
        window.contains(now)
    };
    assert!(at(None, &[Day::Monday], None, NOON));
    assert!(!at(None, &[Day::Sunday], Some("00:00-24:00"), NOON));
    assert!(at(None, &[], Some("12:00-12:01"), NOON));
    assert!(!at(None, &[], Some("11:00-12:00"), NOON));
    // Noon in UTC is 13:00 in Berlin's winter, 14:00 in its summer, and 23:00 in Auckland.
    assert!(at(Some("Europe/Berlin"), &[], Some("13:00-13:01"), NOON));
    let summer = NOON + 182 * 86_400;
    assert!(at(Some("Europe/Berlin"), &[], Some("14:00-14:01"), summer));
    assert!(at(
        Some("Pacific/Auckland"),
        &[Day::Tuesday],
        Some("01:00-02:00"),
        NOON
    ));
    // Over midnight.
    assert!(at(None, &[], Some("22:00-06:00"), NOON + 11 * 3600));
    assert!(at(None, &[], Some("22:00-06:00"), NOON + 17 * 3600));
    assert!(!at(None, &[], Some("22:00-06:00"), NOON));
    for bad in [
        "8-18",
        "08:00-08:00",
        "24:00-01:00",
        "08:60-09:00",
        "08:00-24:01",
    ] {
        assert!(bad.parse::<Hours>().is_err(), "{bad}");
    }
    assert!("Mars/Olympus".parse::<Zone>().is_err());
    assert_eq!(moment("2026-11-23T12:00:00Z"), Ok(NOON));
    assert_eq!(moment_text(NOON), "2026-11-23T12:00:00Z");
    assert!(moment("yesterday").is_err());
}

#[test]
fn networks_are_written_in_one_way() {
    for good in [
        "10.0.0.0/8",
        "0.0.0.0/0",
        "192.0.2.7/32",
        "2001:db8::/32",
        "::/0",
    ] {
        assert_eq!(good.parse::<Network>().unwrap().to_string(), good);
    }
    for bad in [
        "",
        "10.0.0.1/8",
        "10.0.0.0/33",
        "10.0.0.0/",
        "10.0.0.0/+8",
        "::1/129",
        "x/8",
        "::ffff:10.0.0.0/104",
    ] {
        assert!(bad.parse::<Network>().is_err(), "{bad}");
    }
    let contains = |network: &str, address: &str| {
        let network: Network = network.parse().unwrap();
        network.contains(address.parse().unwrap())
    };
    assert!(contains("10.0.0.0/8", "10.255.0.1"));
    assert!(contains("10.0.0.0/8", "::ffff:10.1.2.3"));
    assert!(!contains("10.0.0.0/8", "11.0.0.1"));
    assert!(contains("2001:db8::/32", "2001:db8:1::1"));
    assert!(!contains("::/0", "192.0.2.1"));
    assert!(contains("::/0", "::1"));
}

#[test]
fn each_scope_at_each_resource_must_be_allowed() {
    let mut read = AccessRule::new("read", Effect::Allow);
    read.scopes = texts(&["openid", "read"]);
    let mut world = World::new(vec![read]);
    world.mode = Mode::Deny;
    assert_eq!(world.decide(), (true, Some("read")));
    world.scope = ScopeSet::parse("openid read write").unwrap();
    assert_eq!(world.decide(), (false, None));
    let mut never = AccessRule::new("never write", Effect::Deny);
    never.scopes = texts(&["write"]);
    world.rules.insert(never.name.clone(), Arc::new(never));
    assert_eq!(world.decide(), (false, Some("never write")));
    // A rule of a resource is not about a request that names none.
    let mut of_api = AccessRule::new("api", Effect::Deny);
    of_api.resources = texts(&["https://api.example"]);
    let mut world = World::new(vec![of_api]);
    assert_eq!(world.decide(), (false, Some("api")));
    world.audience.clear();
    assert_eq!(world.decide(), (true, None));
}

#[test]
fn a_rule_about_people_is_not_about_a_clients_own_tokens() {
    let mut of_staff = AccessRule::new("staff", Effect::Deny);
    of_staff.who.groups = texts(&["staff"]);
    let mut of_app = AccessRule::new("app", Effect::Deny);
    of_app.clients = texts(&["app"]);
    let decide = |rule: &AccessRule| {
        let world = World::new(vec![rule.clone()]);
        let question = Question {
            person: None,
            ..world.question()
        };
        world.access().decide(&question).allowed
    };
    assert!(decide(&of_staff));
    assert!(!decide(&of_app));
}

#[test]
fn where_somebody_was_let_in_is_not_asked_again() {
    let mut at_work = AccessRule::new("at work", Effect::Allow);
    at_work.networks = networks(&["10.0.0.0/8"]);
    let mut not_here = AccessRule::new("not here", Effect::Deny);
    not_here.networks = networks(&["192.0.2.0/24"]);
    let mut but_work = AccessRule::new("but work", Effect::Deny);
    but_work.except.networks = networks(&["10.0.0.0/8"]);
    let mut world = World::new(vec![at_work, not_here, but_work]);
    world.mode = Mode::Deny;
    assert_eq!(world.decide(), (false, Some("but work")));
    world.origin = Origin::Address("10.1.1.1".parse().unwrap());
    assert_eq!(world.decide(), (true, Some("at work")));
    world.origin = Origin::Earlier;
    assert_eq!(world.decide(), (true, Some("at work")));
    // The same with how they logged in.
    let mut strong = AccessRule::new("strong", Effect::Allow);
    strong.acr = texts(&["mfa"]);
    let mut weak = AccessRule::new("weak", Effect::Deny);
    weak.except.acr = texts(&["mfa"]);
    let mut world = World::new(vec![strong, weak]);
    world.mode = Mode::Deny;
    assert_eq!(world.decide(), (false, Some("weak")));
    let question = Question {
        classes: None,
        ..world.question()
    };
    let verdict = world.access().decide(&question);
    assert_eq!((verdict.allowed, verdict.rule), (true, Some("strong")));
}

#[test]
fn what_a_realm_cannot_have_is_refused() {
    let check = |change: &dyn Fn(&mut AccessRule)| {
        let mut rule = AccessRule::new("rule", Effect::Deny);
        change(&mut rule);
        rule.check()
    };
    assert_eq!(check(&|_| {}), Ok(()));
    assert!(check(&|rule| rule.name = "a/b".into()).is_err());
    assert!(check(&|rule| rule.clients = vec!["c".into(); 65]).is_err());
    assert!(check(&|rule| rule.clients = vec![String::new()]).is_err());
    assert!(check(&|rule| rule.resources = vec!["x".repeat(513)]).is_err());
    assert!(check(&|rule| rule.scopes = texts(&["a b"])).is_err());
    assert!(check(&|rule| rule.who.groups = texts(&["a/b"])).is_err());
    assert!(check(&|rule| drop(rule.attributes.insert("a".into(), Vec::new()))).is_err());
    assert!(
        check(&|rule| {
            rule.window.not_before = Some(2);
            rule.window.not_after = Some(2);
        })
        .is_err()
    );
    assert!(check(&|rule| rule.window.zone = "Europe/Paris".parse().ok()).is_err());
}

/// A rule by chance: some conditions that alice meets, some that she does not.
fn any_rule() -> impl Strategy<Value = AccessRule> {
    let one_of =
        |list: &'static [&'static str]| proptest::sample::subsequence(list, 0..=list.len());
    (
        any::<bool>(),
        one_of(&["alice", "bob"]),
        one_of(&["staff", "guests"]),
        one_of(&["app", "other"]),
        one_of(&["read", "write", "openid"]),
        one_of(&["https://api.example", "https://else.example"]),
        one_of(&["guests", "engineering"]),
        any::<bool>(),
    )
        .prop_map(
            |(deny, users, groups, clients, scopes, resources, but, soon)| {
                let effect = if deny { Effect::Deny } else { Effect::Allow };
                let mut rule = AccessRule::new("rule", effect);
                rule.who.users = texts(&users);
                rule.who.groups = texts(&groups);
                rule.clients = texts(&clients);
                rule.scopes = texts(&scopes);
                rule.resources = texts(&resources);
                rule.except.who.groups = texts(&but);
                rule.window.not_before = soon.then_some(NOON + 1);
                rule
            },
        )
}

fn named(list: &[AccessRule], name: impl Fn(usize) -> String) -> Rules {
    let rules = list.iter().enumerate().map(|(i, rule)| AccessRule {
        name: name(i),
        ..rule.clone()
    });
    rules
        .map(|rule| (rule.name.clone(), Arc::new(rule)))
        .collect()
}

/// The documented order, written out without a thought for speed.
fn oracle(world: &World, list: &[AccessRule]) -> bool {
    let alone = |rule: &AccessRule, scope: &str, resource: &str| {
        let mut one = World::new(vec![rule.clone()]);
        one.scope = ScopeSet::parse(scope).unwrap();
        one.audience = texts(&[resource]);
        one.held = world.held.clone();
        one.mode = Mode::Deny;
        let mut allow = rule.clone();
        allow.effect = Effect::Allow;
        one.rules = rules(vec![allow]);
        one.decide().0
    };
    world.scope.iter().all(|scope| {
        world.audience.iter().all(|resource| {
            let hold = |effect| {
                let mut list = list.iter().filter(|rule| rule.effect == effect);
                list.any(|rule| alone(rule, scope, resource))
            };
            !hold(Effect::Deny) && (world.mode == Mode::Allow || hold(Effect::Allow))
        })
    })
}

proptest! {
    /// Deny wins, part by part, and neither names nor order say anything.
    #[test]
    fn the_order_of_rules_says_nothing_and_deny_wins(
        list in proptest::collection::vec(any_rule(), 0..6),
        extra in any_rule(),
        mode in proptest::sample::select(vec![Mode::Allow, Mode::Deny]),
        groups in proptest::sample::subsequence(vec!["engineering", "guests"], 0..=2),
        scopes in proptest::sample::subsequence(vec!["openid", "read", "write"], 1..=3),
        both in any::<bool>(),
    ) {
        let mut world = World::new(Vec::new());
        world.mode = mode;
        world.held = held(&groups);
        world.scope = ScopeSet::parse(&scopes.join(" ")).unwrap();
        if both {
            world.audience.push("https://else.example".to_owned());
        }
        world.rules = named(&list, |i| format!("{i}"));
        let (allowed, rule) = world.decide();
        let rule = rule.map(|name| list[name.parse::<usize>().unwrap()].clone());
        prop_assert_eq!(allowed, oracle(&world, &list));
        // What is said to have decided has the effect that was decided.
        if let Some(rule) = rule {
            prop_assert_eq!(allowed, rule.effect == Effect::Allow);
        }

        world.rules = named(&list, |i| format!("{}", 9 - i));
        prop_assert_eq!(world.decide().0, allowed, "in another order");

        let mut more = list.clone();
        more.push(extra.clone());
        world.rules = named(&more, |i| format!("{i}"));
        let with = world.decide().0;
        match extra.effect {
            Effect::Deny => prop_assert!(allowed || !with, "a rule that denies let somebody in"),
            Effect::Allow => prop_assert!(!allowed || with, "a rule that allows kept somebody out"),
        }
    }
}
