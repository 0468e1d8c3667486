//! Mails: durable, sealed, sent again, and the same work where nobody is written to.
use crate::common::{
    Server, block_on,
    browser::Browser,
    people::{Mail, people, request, start},
};
use signet_mail::{Mailer, SmtpOptions, SmtpSecurity};
use signet_realm::outbox;
use signet_store::{Row, Table};

/// Has a link sent to whoever has this name.
fn forgotten(server: &Server, name: &str) {
    let mut browser = Browser::new(server);
    let login = browser.get(&request(&[]));
    let interaction = login.field("interaction");
    let page = browser.post("/account/recover", &[("interaction", &interaction)]);
    let sent = browser.press(&page, "email", &[("username", name)]);
    sent.expect("If the account exists");
}

/// One look into the outbox, and what it led to.
fn due(server: &Server) {
    block_on(async {
        let mut sender = outbox::sender();
        while sender.round(&server.realm).await.unwrap() {}
        sender.settle().await;
    });
}

fn waiting(server: &Server) -> Vec<Row> {
    let (store, now) = (&server.realm.store, server.realm.now());
    let rows = block_on(store.partition(Table::Outbox, b"mail", b"", 100, now)).unwrap();
    rows.into_iter().map(|(_, row)| row).collect()
}

#[test]
fn a_mail_that_nobody_took_is_sent_again_until_it_is_good_for_nothing() {
    let mut mail = Mail::new();
    let server = start(&mail, |_| {});
    mail.broken(|| forgotten(&server, "alice"));
    assert_eq!(mail.fresh().len(), 0);
    let rows = waiting(&server);
    assert_eq!(rows.len(), 1);
    // It has an address and a link in it, which is good for a password.
    let text = String::from_utf8_lossy(&rows[0].value).into_owned();
    for open in ["alice@", "token=", "recover?"] {
        assert!(!text.contains(open), "{text}");
    }
    server.pass(4);
    due(&server);
    assert_eq!(mail.fresh().len(), 0, "five seconds");
    server.pass(2);
    due(&server);
    assert!(mail.fresh()[0].contains("/account/recover?token="));
    assert!(waiting(&server).is_empty());

    mail.broken(|| forgotten(&server, "alice"));
    server.pass(24 * 3600);
    due(&server);
    assert_eq!(mail.fresh().len(), 0, "the link has expired");
    assert!(waiting(&server).is_empty());
}

#[test]
fn a_name_that_nobody_has_costs_what_a_known_one_costs() {
    let mail = Mail::new();
    let server = start(&mail, |setup| {
        let nowhere = SmtpOptions {
            host: "127.0.0.1".into(),
            port: Some(1),
            security: SmtpSecurity::Plain,
            credentials: None,
            trust: None,
        };
        setup.people = people(&mail);
        setup.people.mailer = Some(Mailer::smtp("a@example.test", nowhere).unwrap());
    });
    let written = |name: &str| {
        let before = waiting(&server).len();
        forgotten(&server, name);
        waiting(&server).len() - before
    };
    assert_eq!((written("alice"), written("nobody")), (1, 1));
    // What goes to nobody goes at once; what cannot be handed over waits.
    due(&server);
    assert_eq!(waiting(&server).len(), 1);
}
