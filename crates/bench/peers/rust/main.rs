//! Verifies tokens for some seconds: verify LIBRARY DIRECTORY ALGORITHM SECONDS
//! tokens: one a line; jwk.json: the public key. Prints operations a second.
use jsonwebtoken::{Algorithm, DecodingKey, Validation, decode, jwk::Jwk};
use std::{error::Error, fs, path::Path, time::Instant};

#[derive(serde::Deserialize)]
#[allow(dead_code)]
struct Claims {
    iss: String,
    sub: String,
    aud: String,
    exp: u64,
    jti: String,
    client_id: String,
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, _, directory, algorithm, seconds] = &arguments[..] else {
        return Err("LIBRARY DIRECTORY ALGORITHM SECONDS".into());
    };
    let directory = Path::new(directory);
    let tokens = fs::read_to_string(directory.join("tokens"))?;
    let tokens: Vec<&str> = tokens.split_whitespace().collect();
    let jwk: Jwk = serde_json::from_slice(&fs::read(directory.join("jwk.json"))?)?;
    let key = DecodingKey::from_jwk(&jwk)?;
    let algorithm: Algorithm = algorithm.parse()?;
    let mut policy = Validation::new(algorithm);
    policy.set_issuer(&["https://id.example.com"]);
    policy.set_audience(&["https://orders.example.com"]);
    let run = |length: f64| -> Result<f64, Box<dyn Error>> {
        let (begun, mut count) = (Instant::now(), 0_usize);
        while begun.elapsed().as_secs_f64() < length {
            for n in 0..16 {
                let token = tokens[(count + n) % tokens.len()];
                std::hint::black_box(decode::<Claims>(token, &key, &policy)?);
            }
            count += 16;
        }
        Ok(count as f64 / begun.elapsed().as_secs_f64())
    };
    let seconds: f64 = seconds.parse()?;
    run(seconds / 2.0)?;
    println!("{}", run(seconds)?);
    Ok(())
}
