use signet_crypto::Algorithm;
use signet_webauthn::{
    Assertion, Attestation, Counter, Error, Known, NewCredential, Registration, RelyingParty, Used,
    authenticate, register,
};

use super::authenticator::Authenticator;

const ORIGIN: &str = "https://id.example";
const ASKED: [u8; 32] = [1; 32];

fn party() -> RelyingParty {
    RelyingParty::of_issuer(ORIGIN, &[]).expect("a domain")
}

fn authenticator() -> Authenticator {
    Authenticator::new(ORIGIN, "id.example")
}

fn made(authenticator: &mut Authenticator) -> Result<NewCredential, Error> {
    let answer = Registration::parse(&authenticator.create(&ASKED, b"alice"))?;
    register(&party(), &ASKED, true, &answer)
}

fn used(authenticator: &mut Authenticator, made: &NewCredential) -> Result<Used, Error> {
    let answer = Assertion::parse(&authenticator.get(&ASKED))?;
    let known = Known {
        id: &made.id,
        key: &made.key,
        sign_count: made.sign_count,
        backup_eligible: made.backup_eligible,
    };
    authenticate(&party(), &ASKED, true, &known, &answer)
}

#[test]
fn a_credential_of_every_algorithm_is_made_and_used() {
    for (_, algorithm) in signet_webauthn::SUPPORTED {
        let mut authenticator = authenticator();
        authenticator.algorithm = algorithm;
        authenticator.self_attestation = algorithm != Algorithm::EdDsa;
        let made = made(&mut authenticator).unwrap_or_else(|e| panic!("{algorithm:?}: {e}"));
        assert_eq!(made.transports, ["internal", "hybrid"]);
        assert_eq!(made.aaguid, [7; 16]);
        assert!(made.user_verified && made.backup_eligible && made.backed_up);
        let own = made.attestation == Attestation::Own;
        assert_eq!(own, authenticator.self_attestation);
        let used = used(&mut authenticator, &made).expect("a login");
        assert!(used.user_verified && used.counter == Counter::Fine);
        assert_eq!(used.sign_count, 1);
    }
}

/// Both ceremonies of an authenticator that was changed after the registration that is used.
fn both(change: impl Fn(&mut Authenticator)) -> (Error, Error) {
    let mut good = authenticator();
    let credential = made(&mut good).expect("a credential");
    change(&mut good);
    let login = used(&mut good, &credential).expect_err("a refused login");
    let mut bad = authenticator();
    change(&mut bad);
    (made(&mut bad).expect_err("a refused registration"), login)
}

#[test]
fn another_origin_is_refused() {
    for origin in [
        "https://id.example.evil.test",
        "https://sub.id.example",
        "http://id.example",
        "https://id.example:444",
        "https://id.example/",
        "null",
        "",
    ] {
        let refused = both(|authenticator| authenticator.origin = origin.to_owned());
        assert_eq!(refused, (Error::Origin, Error::Origin), "{origin}");
    }
}

#[test]
fn a_related_origin_is_accepted_and_no_other() {
    let related = ["https://shop.example".to_owned()];
    let party = RelyingParty::of_issuer(ORIGIN, &related).expect("a domain");
    let mut authenticator = authenticator();
    for (origin, fine) in [("https://shop.example", true), ("https://shop.test", false)] {
        authenticator.origin = origin.to_owned();
        let answer = Registration::parse(&authenticator.create(&ASKED, b"alice")).expect("JSON");
        assert_eq!(register(&party, &ASKED, true, &answer).is_ok(), fine);
    }
}

#[test]
fn another_relying_party_is_refused() {
    let refused = both(|authenticator| authenticator.rp_id = "example".to_owned());
    assert_eq!(refused, (Error::RelyingParty, Error::RelyingParty));
}

#[test]
fn a_frame_of_another_origin_is_refused() {
    let refused = both(|authenticator| authenticator.cross_origin = true);
    assert_eq!(refused, (Error::CrossOrigin, Error::CrossOrigin));
}

#[test]
fn the_other_ceremonys_answer_is_refused() {
    let mut good = authenticator();
    let credential = made(&mut good).expect("a credential");
    good.client_type = Some("webauthn.create");
    assert_eq!(used(&mut good, &credential), Err(Error::Type));
    let mut bad = authenticator();
    bad.client_type = Some("webauthn.get");
    assert_eq!(made(&mut bad), Err(Error::Type));
}

#[test]
fn another_challenge_is_refused() {
    let mut authenticator = authenticator();
    let credential = made(&mut authenticator).expect("a credential");
    let known = Known {
        id: &credential.id,
        key: &credential.key,
        sign_count: 0,
        backup_eligible: true,
    };
    let answer = Assertion::parse(&authenticator.get(&[2; 32])).expect("JSON");
    let refused = authenticate(&party(), &ASKED, true, &known, &answer);
    assert_eq!(refused, Err(Error::Challenge));
    let answer = Registration::parse(&authenticator.create(&[2; 32], b"alice")).expect("JSON");
    let refused = register(&party(), &ASKED, true, &answer);
    assert_eq!(refused, Err(Error::Challenge));
}

#[test]
fn nobody_there_or_nobody_verified_is_refused_where_it_is_asked_for() {
    let refused = both(|authenticator| authenticator.present = false);
    assert_eq!(refused, (Error::NotPresent, Error::NotPresent));
    let refused = both(|authenticator| authenticator.verified = false);
    assert_eq!(refused, (Error::NotVerified, Error::NotVerified));
    let mut unverified = authenticator();
    unverified.verified = false;
    let answer = Registration::parse(&unverified.create(&ASKED, b"alice")).expect("JSON");
    let made = register(&party(), &ASKED, false, &answer).expect("verification is not asked for");
    assert!(!made.user_verified);
}

#[test]
fn backup_flags_that_contradict_are_refused() {
    let refused = both(|authenticator| authenticator.backup_eligible = false);
    assert_eq!(refused, (Error::Backup, Error::Backup));
    let mut authenticator = authenticator();
    let credential = made(&mut authenticator).expect("a credential");
    authenticator.backup_eligible = false;
    authenticator.backed_up = false;
    assert_eq!(used(&mut authenticator, &credential), Err(Error::Backup));
}

#[test]
fn a_signature_of_another_key_and_an_id_of_another_credential_are_refused() {
    let mut authenticator = authenticator();
    let first = made(&mut authenticator).expect("a credential");
    let second = made(&mut authenticator).expect("a credential");
    let mixed = NewCredential {
        key: first.key.clone(),
        ..second.clone()
    };
    assert_eq!(used(&mut authenticator, &mixed), Err(Error::Signature));
    assert_eq!(used(&mut authenticator, &first), Err(Error::Credential));
    assert!(used(&mut authenticator, &second).is_ok());
}

#[test]
fn a_counter_that_does_not_go_on_is_told() {
    let mut authenticator = authenticator();
    let mut credential = made(&mut authenticator).expect("a credential");
    credential.sign_count = 5;
    let counter = |authenticator: &mut Authenticator, credential: &NewCredential| {
        used(authenticator, credential)
            .expect("a signature")
            .counter
    };
    authenticator.held[0].sign_count = 4;
    assert_eq!(counter(&mut authenticator, &credential), Counter::Cloned);
    assert_eq!(counter(&mut authenticator, &credential), Counter::Fine);
    // Zero after it counted is no "does not count".
    authenticator.counts = false;
    authenticator.held[0].sign_count = 0;
    assert_eq!(counter(&mut authenticator, &credential), Counter::Cloned);
    credential.sign_count = 0;
    assert_eq!(counter(&mut authenticator, &credential), Counter::Fine);
}

#[test]
fn an_answer_that_was_changed_in_any_bit_of_what_is_signed_is_refused() {
    let mut authenticator = authenticator();
    let credential = made(&mut authenticator).expect("a credential");
    let answer = Assertion::parse(&authenticator.get(&ASKED)).expect("JSON");
    let known = Known {
        id: &credential.id,
        key: &credential.key,
        sign_count: 0,
        backup_eligible: true,
    };
    let check = |answer: &Assertion| authenticate(&party(), &ASKED, true, &known, answer);
    assert!(check(&answer).is_ok());
    for at in 0..answer.authenticator_data.len() * 8 {
        let mut changed = answer.clone();
        changed.authenticator_data[at / 8] ^= 1 << (at % 8);
        assert!(check(&changed).is_err(), "bit {at}");
    }
    for at in 0..answer.client_data.len() {
        let mut changed = answer.clone();
        changed.client_data[at] ^= 1;
        assert!(check(&changed).is_err(), "byte {at}");
    }
    for at in 0..answer.signature.len() {
        let mut changed = answer.clone();
        changed.signature[at] ^= 1;
        assert!(check(&changed).is_err(), "byte {at}");
    }
}

#[test]
fn self_attestation_of_another_key_is_refused() {
    let mut authenticator = authenticator();
    authenticator.self_attestation = true;
    let text = authenticator.create(&ASKED, b"alice");
    let mut answer = Registration::parse(&text).expect("JSON");
    let whole = answer.attestation_object.clone();
    assert!(register(&party(), &ASKED, true, &answer).is_ok());
    for at in 0..whole.len() * 8 {
        answer.attestation_object = whole.clone();
        answer.attestation_object[at / 8] ^= 1 << (at % 8);
        // A format that nobody knows is not trusted, and was not asked for.
        if let Ok(changed) = register(&party(), &ASKED, true, &answer) {
            assert_eq!(changed.attestation, Attestation::Unchecked, "bit {at}");
        }
    }
}
