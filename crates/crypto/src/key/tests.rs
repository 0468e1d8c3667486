use super::*;

fn hex(text: &str) -> Vec<u8> {
    (0..text.len() / 2)
        .map(|i| u8::from_str_radix(&text[2 * i..2 * i + 2], 16).expect("hex"))
        .collect()
}

fn signed(key: &SigningKey, message: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    key.sign_into(message, &mut out).expect("signed");
    out
}

/// Generating RSA keys is slow: all six RSA algorithms share one key.
fn keys() -> Vec<SigningKey> {
    let rsa = SigningKey::generate(Algorithm::Rs256)
        .and_then(|key| key.to_private())
        .expect("an RSA key");
    Algorithm::ALL
        .iter()
        .map(|algorithm| match algorithm.key_type() {
            KeyType::Rsa => SigningKey::from_private(*algorithm, rsa.expose()),
            _ => SigningKey::generate(*algorithm),
        })
        .collect::<Result<_, _>>()
        .expect("keys")
}

#[test]
fn every_algorithm_signs_what_its_public_key_verifies_and_nothing_else() {
    for key in keys() {
        let algorithm = key.algorithm();
        let verifying = key.verifying_key().expect("a good key");
        assert_eq!(verifying.algorithm(), algorithm);

        let mut out = b"header.payload.".to_vec();
        key.sign_into(b"message", &mut out).expect("signed");
        let signature = out.strip_prefix(b"header.payload.").expect("appended");
        assert_eq!(signature.len(), key.signature_len(), "{algorithm:?}");
        assert_eq!(
            verifying.verify(b"message", signature),
            Ok(()),
            "{algorithm:?}"
        );

        assert_eq!(
            verifying.verify(b"massage", signature),
            Err(InvalidSignature)
        );
        assert_eq!(verifying.verify(b"", signature), Err(InvalidSignature));
        let zeros = vec![0; signature.len()];
        assert_eq!(verifying.verify(b"message", &zeros), Err(InvalidSignature));
        let ones = vec![0xff; signature.len()];
        assert_eq!(verifying.verify(b"message", &ones), Err(InvalidSignature));
        for cut in [0, 1, signature.len() / 2, signature.len() - 1] {
            assert_eq!(
                verifying.verify(b"message", &signature[..cut]),
                Err(InvalidSignature)
            );
        }
        for appended in [0x00, 0x01] {
            let mut longer = signature.to_vec();
            longer.push(appended);
            assert_eq!(verifying.verify(b"message", &longer), Err(InvalidSignature));
            longer.rotate_right(1);
            assert_eq!(verifying.verify(b"message", &longer), Err(InvalidSignature));
        }
    }
}

#[test]
fn one_flipped_bit_of_a_signature_is_refused() {
    for key in keys() {
        let verifying = key.verifying_key().expect("a good key");
        let signature = signed(&key, b"message");
        // Every bit of short signatures; of long ones one bit of every byte, another each time.
        let step = if signature.len() <= 132 { 1 } else { 9 };
        for bit in (0..signature.len() * 8).step_by(step) {
            let mut changed = signature.clone();
            changed[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(
                verifying.verify(b"message", &changed),
                Err(InvalidSignature),
                "{:?} bit {bit}",
                key.algorithm()
            );
        }
    }
}

#[test]
fn private_keys_survive_being_stored() {
    for key in keys() {
        let stored = key.to_private().expect("encoded");
        let again = SigningKey::from_private(key.algorithm(), stored.expose()).expect("read");
        assert_eq!(again.public(), key.public(), "{:?}", key.algorithm());
        let verifying = key.verifying_key().expect("a good key");
        assert_eq!(verifying.verify(b"m", &signed(&again, b"m")), Ok(()));
        assert_eq!(again.to_private().expect("encoded"), stored);
    }
}

#[test]
fn a_key_verifies_for_its_own_algorithm_only() {
    let keys = keys();
    for key in &keys {
        for algorithm in Algorithm::ALL {
            let Some(public) = key.public() else {
                assert!(key.algorithm().is_symmetric());
                continue;
            };
            let fits = match public {
                PublicKey::Rsa { .. } => algorithm.key_type() == KeyType::Rsa,
                PublicKey::Ed25519 { .. } => algorithm.key_type() == KeyType::Okp,
                _ => *algorithm == key.algorithm(),
            };
            let prepared = VerifyingKey::new(*algorithm, public);
            if fits {
                let prepared = prepared.expect("fits");
                let same_scheme =
                    *algorithm == key.algorithm() || algorithm.key_type() == KeyType::Okp;
                let verified = prepared.verify(b"m", &signed(key, b"m")).is_ok();
                assert_eq!(
                    verified,
                    same_scheme,
                    "{:?} as {algorithm:?}",
                    key.algorithm()
                );
            } else {
                assert!(matches!(prepared, Err(KeyError::WrongKeyType)));
            }
        }
    }
}

#[test]
fn another_private_key_type_is_refused() {
    for key in keys() {
        let private = key.to_private().expect("encoded");
        for algorithm in Algorithm::ALL {
            if algorithm.key_type() == key.algorithm().key_type()
                && algorithm.key_type() != KeyType::Ec
            {
                continue;
            }
            if *algorithm == key.algorithm()
                || algorithm.is_symmetric()
                || private.expose().len() == 32
            {
                continue;
            }
            assert!(SigningKey::from_private(*algorithm, private.expose()).is_err());
        }
    }
    for algorithm in Algorithm::ALL {
        for junk in [&b""[..], b"\x30", &[0; 31]] {
            assert!(
                SigningKey::from_private(*algorithm, junk).is_err(),
                "{algorithm:?}"
            );
        }
    }
}

#[test]
fn keys_print_their_algorithm_only() {
    for key in keys() {
        let printed = format!("{key:?} {:?}", key.verifying_key().expect("a good key"));
        let name = format!("{:?}", key.algorithm());
        assert_eq!(
            printed,
            format!(
                "SigningKey {{ algorithm: {name}, .. }} VerifyingKey {{ algorithm: {name}, .. }}"
            )
        );
    }
}

/// RFC 8032 section 7.1: secret key, public key, message, signature.
const RFC_8032: [(&str, &str, &str, &str); 4] = [
    (
        "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
        "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
        "",
        "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b",
    ),
    (
        "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
        "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
        "72",
        "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00",
    ),
    (
        "c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
        "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025",
        "af82",
        "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a",
    ),
    (
        "833fe62409237b9d62ec77587520911e9a759cec1d19755b7da901b96dca3d42",
        "ec172b93ad5e563bf4932c70e1245034c35467ef2efd4d64ebf819683467e2bf2",
        "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f",
        "dc2a4459e7369633a52b1bf277839a00201009a3efbf3ecb69bea2186c26b58909351fc9ac90b3ecfdfbc7c66431e0303dca179c138ac17ad9bef1177331a704",
    ),
];

#[test]
fn ed25519_signs_and_verifies_the_vectors_of_rfc_8032() {
    for (secret, public, message, signature) in RFC_8032 {
        // RFC 8410 section 7: PKCS#8 around the 32-byte secret.
        let mut pkcs8 = hex("302e020100300506032b657004220420");
        pkcs8.extend(hex(secret));
        let key = SigningKey::from_private(Algorithm::EdDsa, &pkcs8).expect("a key");
        let x = hex(public).try_into().expect("32 bytes");
        assert_eq!(key.public(), Some(&PublicKey::Ed25519 { x }));
        assert_eq!(signed(&key, &hex(message)), hex(signature));
        let verifying = VerifyingKey::new(Algorithm::Ed25519, &PublicKey::Ed25519 { x });
        assert_eq!(
            verifying
                .expect("a good key")
                .verify(&hex(message), &hex(signature)),
            Ok(())
        );
    }
}

#[test]
fn hmac_secrets_shorter_than_their_hash_are_refused() {
    for (algorithm, least) in [
        (Algorithm::Hs256, 32),
        (Algorithm::Hs384, 48),
        (Algorithm::Hs512, 64),
    ] {
        assert!(VerifyingKey::hmac(algorithm, &vec![1; least]).is_ok());
        for secret in [vec![], vec![1; least - 1]] {
            assert!(matches!(
                VerifyingKey::hmac(algorithm, &secret),
                Err(KeyError::Weak(_))
            ));
            assert!(SigningKey::from_private(algorithm, &secret).is_err());
        }
    }
    assert!(matches!(
        VerifyingKey::hmac(Algorithm::Rs256, &[1; 64]),
        Err(KeyError::WrongKeyType)
    ));
}

/// RFC 7515 appendix A.1: HS256 with its key and signature.
#[test]
fn hs256_verifies_the_example_of_rfc_7515() {
    let key = hex(
        "0323354b2b0fa5bc837e0665777ba68f5ab328e6f054c928a90f84b2d2502ebfd3fb5a92d20647ef968ab4c377623d223d2e2172052e4f08c0cd9af567d080a3",
    );
    let message = b"eyJ0eXAiOiJKV1QiLA0KICJhbGciOiJIUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ";
    let signature = [
        116, 24, 223, 180, 151, 153, 224, 37, 79, 250, 96, 125, 216, 173, 187, 186, 22, 212, 37,
        77, 105, 214, 191, 240, 91, 88, 5, 88, 83, 132, 141, 121,
    ];
    let verifying = VerifyingKey::hmac(Algorithm::Hs256, &key).expect("long enough");
    assert_eq!(verifying.verify(message, &signature), Ok(()));
}

/// RFC 7515 appendix A.3: ES256 with its key and signature.
#[test]
fn es256_verifies_the_example_of_rfc_7515() {
    let x = [
        127, 205, 206, 39, 112, 246, 196, 93, 65, 131, 203, 238, 111, 219, 75, 123, 88, 7, 51, 53,
        123, 233, 239, 19, 186, 207, 110, 60, 123, 209, 84, 69,
    ];
    let y = [
        199, 241, 68, 205, 27, 189, 155, 126, 135, 44, 223, 237, 185, 238, 185, 244, 179, 105, 93,
        110, 169, 11, 36, 173, 138, 70, 35, 40, 133, 136, 229, 173,
    ];
    let mut signature = vec![
        14, 209, 33, 83, 121, 99, 108, 72, 60, 47, 127, 21, 88, 7, 212, 2, 163, 178, 40, 3, 58,
        249, 124, 126, 23, 129, 154, 195, 22, 158, 166, 101,
    ];
    signature.extend([
        197, 10, 7, 211, 140, 60, 112, 229, 216, 241, 45, 175, 8, 74, 84, 128, 166, 101, 144, 197,
        242, 147, 80, 154, 143, 63, 127, 138, 131, 163, 84, 213,
    ]);
    let message = b"eyJhbGciOiJFUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ";
    let verifying = VerifyingKey::new(Algorithm::Es256, &PublicKey::P256 { x, y }).expect("a key");
    assert_eq!(verifying.verify(message, &signature), Ok(()));
    signature[63] ^= 1;
    assert_eq!(verifying.verify(message, &signature), Err(InvalidSignature));
}

#[test]
fn points_off_the_curve_are_refused() {
    for public in [
        PublicKey::P256 {
            x: [0; 32],
            y: [0; 32],
        },
        PublicKey::P256 {
            x: [0xff; 32],
            y: [1; 32],
        },
        PublicKey::P384 {
            x: [1; 48],
            y: [1; 48],
        },
        PublicKey::P521 {
            x: [0; 66],
            y: [1; 66],
        },
        PublicKey::P521 {
            x: [0xff; 66],
            y: [0xff; 66],
        },
    ] {
        let algorithm = Algorithm::ALL
            .iter()
            .copied()
            .find(|a| public.fits(*a))
            .expect("EC");
        assert!(matches!(
            VerifyingKey::new(algorithm, &public),
            Err(KeyError::Malformed(_))
        ));
    }
    for algorithm in [Algorithm::Es256, Algorithm::Es384, Algorithm::Es512] {
        let key = SigningKey::generate(algorithm).expect("a key");
        let mut public = key.public().expect("a public half").clone();
        match &mut public {
            PublicKey::P256 { y, .. } => y[31] ^= 1,
            PublicKey::P384 { y, .. } => y[47] ^= 1,
            PublicKey::P521 { y, .. } => y[65] ^= 1,
            _ => unreachable!("an EC key"),
        }
        assert!(VerifyingKey::new(algorithm, &public).is_err());
    }
}

#[test]
fn weak_and_malformed_rsa_keys_are_refused() {
    let key = SigningKey::generate(Algorithm::Rs256).expect("a key");
    let Some(PublicKey::Rsa { n, e }) = key.public() else {
        panic!("an RSA key")
    };
    assert_eq!((n.len(), e.as_slice()), (256, &[1, 0, 1][..]));
    let prepare = |n: &[u8], e: &[u8]| {
        VerifyingKey::new(
            Algorithm::Rs256,
            &PublicKey::Rsa {
                n: n.to_vec(),
                e: e.to_vec(),
            },
        )
        .map(|_| ())
    };
    assert_eq!(prepare(n, e), Ok(()));

    let weak = |result| matches!(result, Err(KeyError::Weak(_)));
    let malformed = |result| matches!(result, Err(KeyError::Malformed(_)));
    let unsupported = |result| matches!(result, Err(KeyError::Unsupported(_)));
    assert!(weak(prepare(&n[..255], e)), "2040 bits");
    let mut small = n.clone();
    small[0] &= 0x7f;
    assert!(weak(prepare(&small, e)), "2047 bits");
    let mut even = n.clone();
    even[255] &= 0xfe;
    assert!(weak(prepare(&even, e)), "even modulus");
    for exponent in [&[1][..], &[3], &[17], &[255, 255]] {
        assert!(weak(prepare(n, exponent)), "{exponent:?}");
    }
    assert!(weak(prepare(n, &[1, 0, 0])), "even exponent");
    assert!(unsupported(prepare(n, &[1, 0, 0, 0, 1])), "33 bits");
    assert!(unsupported(prepare(&[0xff; 1025], e)), "8200 bits");
    assert!(malformed(prepare(n, &[0, 1, 0, 1])), "leading zero");
    assert!(
        malformed(prepare(&[&[0], n.as_slice()].concat(), e)),
        "leading zero"
    );
    assert!(malformed(prepare(&[], e)));
    assert!(malformed(prepare(n, &[])));
}

#[test]
fn ml_dsa_keys_have_their_own_lengths() {
    for (algorithm, length) in [
        (Algorithm::MlDsa44, 1312),
        (Algorithm::MlDsa65, 1952),
        (Algorithm::MlDsa87, 2592),
    ] {
        let key = SigningKey::generate(algorithm).expect("a key");
        let Some(PublicKey::MlDsa { public, .. }) = key.public() else {
            panic!("an ML-DSA key")
        };
        assert_eq!(public.len(), length);
        for other in [&public[1..], &[], &[public.as_slice(), &[0]].concat()] {
            let public = PublicKey::MlDsa {
                algorithm,
                public: other.to_vec(),
            };
            assert!(matches!(
                VerifyingKey::new(algorithm, &public),
                Err(KeyError::Malformed(_))
            ));
        }
        assert!(SigningKey::from_private(algorithm, &[1; 33]).is_err());
    }
}

fn ml_dsa_public(algorithm: Algorithm, seed: &[u8]) -> Vec<u8> {
    let key = SigningKey::from_private(algorithm, seed).expect("a seed");
    match key.public() {
        Some(PublicKey::MlDsa { public, .. }) => public.clone(),
        other => panic!("an ML-DSA key: {other:?}"),
    }
}

/// NIST's ACVP vectors for ML-DSA key generation (ML-DSA-keyGen-FIPS204, first case of ML-DSA-44);
/// of the 1312 bytes of the public key, their SHA-256.
#[test]
fn ml_dsa_44_expands_the_seed_of_nists_first_vector() {
    let seed = hex("4be7a01a99a5e5bcfe3c06785d8e4ec664082227d86704e9e44862623a05c8b3");
    assert_eq!(
        crate::hash::sha256(&ml_dsa_public(Algorithm::MlDsa44, &seed)).as_slice(),
        hex("a140495fe1cbeb25d30ecf194ee2823dde1b76bbcbdea8cac50c6365f6803060")
    );
}

/// RFC 9964's example key has the all-zero seed, and its `kid` is the JWK thumbprint, a hash of the
/// whole public key.
#[test]
fn ml_dsa_44_expands_the_seed_of_rfc_9964s_example() {
    let public = base64url(&ml_dsa_public(Algorithm::MlDsa44, &[0; 32]));
    let jwk = format!(r#"{{"alg":"ML-DSA-44","kty":"AKP","pub":"{public}"}}"#);
    assert_eq!(
        base64url(&crate::hash::sha256(jwk.as_bytes())),
        "T4xl70S7MT6Zeq6r9V9fPJGVn76wfnXJ21-gyo0Gu6o"
    );
}

fn base64url(bytes: &[u8]) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let mut out = String::new();
    for chunk in bytes.chunks(3) {
        let bits = chunk
            .iter()
            .fold(0_u32, |bits, b| bits << 8 | u32::from(*b))
            << (8 * (3 - chunk.len()));
        for i in 0..=chunk.len() {
            out.push(char::from(ALPHABET[(bits >> (18 - 6 * i)) as usize & 63]));
        }
    }
    out
}

#[test]
fn ml_dsa_keys_survive_as_seeds_and_sign_differently_each_time() {
    for algorithm in [Algorithm::MlDsa44, Algorithm::MlDsa65, Algorithm::MlDsa87] {
        let key = SigningKey::from_private(algorithm, &[7; 32]).expect("a seed");
        assert_eq!(key.to_private().expect("kept").expose().as_slice(), [7; 32]);
        // FIPS 204 section 3.4: hedged signing is the default.
        let (first, second) = (signed(&key, b"m"), signed(&key, b"m"));
        assert_ne!(first, second);
        let verifying = key.verifying_key().expect("a good key");
        assert_eq!(verifying.verify(b"m", &first), Ok(()));
        assert_eq!(verifying.verify(b"m", &second), Ok(()));
    }
}

/// Until the table is there, or a minute has passed: it is made on a thread of its own.
fn waited_for(done: impl Fn() -> bool) -> bool {
    let begun = std::time::Instant::now();
    while !done() {
        if begun.elapsed().as_secs() > 60 {
            return false;
        }
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    true
}

#[test]
fn a_kept_es256_key_gets_a_table_when_it_has_verified_often_and_answers_the_same() {
    let signer = SigningKey::generate(Algorithm::Es256).unwrap();
    let plain = signer.verifying_key().unwrap();
    let kept = plain.clone().kept();
    let signature = signed(&signer, b"message");
    for _ in 1..VERIFICATIONS_BEFORE_TABLE {
        kept.verify(b"message", &signature).unwrap();
        assert!(!kept.has_table());
    }
    kept.verify(b"message", &signature).unwrap();
    assert!(waited_for(|| kept.has_table()));
    assert!(kept.clone().has_table(), "copies share it");
    kept.verify(b"message", &signature).unwrap();
    assert!(kept.verify(b"another", &signature).is_err());
    assert!(kept.verify(b"message", &signature[..63]).is_err());
    assert!(
        kept.verify(b"message", &[&signature[..], b"0"].concat())
            .is_err()
    );
    assert_eq!(kept.signature_len(), plain.signature_len());
    for _ in 0..2 * VERIFICATIONS_BEFORE_TABLE {
        plain.verify(b"message", &signature).unwrap();
    }
    assert!(!plain.has_table(), "nobody said that it is kept");
}
