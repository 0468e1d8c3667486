//! A login with a passkey, beside the code flow of somebody who is logged in already and the check
//! of one ES256 signature: `cargo bench -p signet-bench --bench passkey`.
//!
//! The login asks for more than the flow does, and must: a page with a challenge is shown, its
//! answer is sent, and what was shown is done once.

use std::{
    path::Path,
    time::{Duration, Instant},
};

use bytes::Bytes;
use http::{Method, StatusCode};
use signet_bench::client::{Answer, Connection, Failure};
use signet_bench::cores::Together;
use signet_bench::load::flow::{self, Cookies, Provider, RegisteredClient};
use signet_bench::load::operation::CodeFlow;
use signet_bench::report::{Line, Report};
use signet_crypto::{Algorithm, SigningKey};
use signet_encoding::base64url;
use tokio::task::LocalSet;

#[path = "../../webauthn/tests/authenticator.rs"]
mod authenticator;
use authenticator::Authenticator;

const TURNS: usize = 15;

/// The person's browser: it has been here before.
struct Browser<'a> {
    connection: Connection,
    cookies: Cookies,
    authenticator: Authenticator,
    provider: &'a Provider,
    client: &'a RegisteredClient,
    redirect: &'a str,
    /// Time in which the server was waited for.
    waited: Duration,
    requests: u32,
}

impl Browser<'_> {
    async fn send(
        &mut self,
        method: Method,
        path: &str,
        fields: &[(String, String)],
    ) -> Result<Answer, Failure> {
        let cookie = self.cookies.header();
        let form = ("content-type", "application/x-www-form-urlencoded");
        let headers = [
            ("cookie", cookie.as_str()),
            ("origin", self.provider.issuer.as_str()),
            form,
        ];
        let headers = match method {
            Method::GET => &headers[..1],
            _ => &headers[..],
        };
        let body = Bytes::from(flow::encode(fields));
        let begun = Instant::now();
        let answer = self.connection.send(method, path, headers, body).await?;
        self.waited += begun.elapsed();
        self.requests += 1;
        let set = answer.headers.get_all("set-cookie").iter();
        self.cookies
            .take(set.filter_map(|value| value.to_str().ok()));
        Ok(answer)
    }

    /// Goes where it is sent, until there is a page or the application's address.
    async fn follow(&mut self, mut answer: Answer) -> Result<Result<String, String>, Failure> {
        while let Some(location) = flow::location(&answer) {
            if location.starts_with(self.redirect) {
                return Ok(Err(location));
            }
            let issuer = &self.provider.issuer;
            let path = location.strip_prefix(issuer).unwrap_or(&location);
            let path = path.to_owned();
            answer = self.send(Method::GET, &path, &[]).await?;
        }
        Ok(Ok(String::from_utf8(answer.body.to_vec())?))
    }

    /// Presses a button of a page.
    async fn press(
        &mut self,
        page: &str,
        decision: &str,
        more: &[(&str, &str)],
    ) -> Result<Answer, Failure> {
        let button = format!("value=\"{decision}\"");
        let forms = page.split("<form").skip(1);
        let mut forms = forms.map(|form| form.split("</form>").next().unwrap_or(form));
        let form = forms.find(|form| form.contains(&button));
        let form = form.ok_or_else(|| format!("no {decision} on {page}"))?;
        let (action, mut fields) =
            flow::form(&format!("<form{form}</form>")).ok_or("a form without an action")?;
        fields.retain(|(name, _)| more.iter().all(|(other, _)| other != name));
        let more = more.iter();
        fields.extend(more.map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
        fields.push(("decision".into(), decision.into()));
        // The actions are relative to a page one segment below the issuer.
        let path = format!("/{}", action.trim_start_matches('/'));
        self.send(Method::POST, &path, &fields).await
    }

    /// Adds a passkey on the account page.
    async fn enrol(&mut self) -> Result<(), Failure> {
        let answer = self.send(Method::GET, "/account", &[]).await?;
        let page = String::from_utf8(answer.body.to_vec())?;
        let asked = asked(&page, "data-passkey-create")?;
        let challenge = bytes(&asked["challenge"])?;
        let made = self
            .authenticator
            .create(&challenge, &bytes(&asked["user"]["id"])?);
        let fields = [("passkey", &*made), ("label", "bench")];
        let answer = self.press(&page, "passkey-add", &fields).await?;
        if answer.status != StatusCode::OK {
            let body = String::from_utf8_lossy(&answer.body).into_owned();
            return Err(format!("the passkey was not added: {}: {body}", answer.status).into());
        }
        Ok(())
    }

    /// Logs in, and redeems the code.
    async fn log_in(&mut self) -> Result<(), Failure> {
        let path =
            flow::authorization_path(self.client.client_id(), self.redirect, "&prompt=login");
        let answer = self.send(Method::GET, &path, &[]).await?;
        let page = self.follow(answer).await?;
        let page = page.map_err(|location| format!("nobody was asked: {location}"))?;
        let challenge = bytes(&asked(&page, "data-passkey-get")?["challenge"])?;
        let answer = self.authenticator.get(&challenge);
        let answer = self
            .press(&page, "passkey", &[("passkey", &answer)])
            .await?;
        let location = match self.follow(answer).await? {
            Err(location) => location,
            Ok(page) => return Err(format!("the passkey was not enough: {page}").into()),
        };
        let mut pairs = location.split(['?', '&']);
        let code = pairs.find_map(|pair| pair.strip_prefix("code="));
        let form = format!(
            "grant_type=authorization_code&code={}&redirect_uri={}&code_verifier={}",
            code.ok_or("no code")?,
            self.redirect.replace(':', "%3A").replace('/', "%2F"),
            flow::VERIFIER,
        );
        let request = self.provider.requests(self.client, &form, 1)?.pop();
        let request = request.ok_or("no request")?;
        let authorization = request.authorization.as_deref();
        let begun = Instant::now();
        let answer = self.connection.form("/token", authorization, request.body);
        let answer = answer.await?;
        self.waited += begun.elapsed();
        self.requests += 1;
        match answer.status {
            StatusCode::OK => Ok(()),
            status => Err(format!("{status}: {}", String::from_utf8_lossy(&answer.body)).into()),
        }
    }
}

/// What a page asks the browser for.
fn asked(page: &str, attribute: &str) -> Result<serde_json::Value, Failure> {
    let (_, rest) = page
        .split_once(&format!("{attribute}=\""))
        .ok_or_else(|| format!("no {attribute} on {page}"))?;
    let value = rest.split('"').next().unwrap_or_default();
    Ok(serde_json::from_str(&value.replace("&quot;", "\""))?)
}

fn bytes(value: &serde_json::Value) -> Result<Vec<u8>, Failure> {
    let text = value.as_str().ok_or("no text")?;
    base64url::decode(text.as_bytes()).map_err(|error| format!("{error:?}").into())
}

/// One check of a signature, microseconds.
fn check_us() -> Result<f64, Failure> {
    const CHECKS: u32 = 200;
    let key = SigningKey::generate(Algorithm::Es256)?;
    let verifying = key.verifying_key()?;
    let message = [7; 69];
    let mut signature = Vec::new();
    key.sign_into(&message, &mut signature)?;
    let begun = Instant::now();
    for _ in 0..CHECKS {
        verifying.verify(&message, &signature)?;
    }
    Ok(begun.elapsed().as_secs_f64() * 1e6 / f64::from(CHECKS))
}

fn median(mut all: Vec<f64>) -> f64 {
    all.sort_by(f64::total_cmp);
    all[all.len() / 2]
}

async fn measured(seconds: f64) -> Result<Line, Failure> {
    let provider = Provider::start(1, None).await?;
    let client = provider.known_client("web")?;
    let redirect = &provider.developer["clients"]["web"]["redirect_uris"][0];
    let redirect = redirect.as_str().ok_or("no redirect_uris")?;
    let mut connection = provider.target()?.connect().await?;
    let cookie = provider.log_in(&mut connection, client.client_id(), redirect);
    let mut cookies = Cookies::default();
    cookies.take(cookie.await?.split("; "));
    let mut browser = Browser {
        connection,
        cookies,
        authenticator: Authenticator::new(&provider.issuer, "localhost"),
        provider: &provider,
        client: &client,
        redirect,
        waited: Duration::ZERO,
        requests: 0,
    };
    browser.enrol().await?;
    let mut flow = CodeFlow::new(&provider, &client, redirect).await?;
    provider.settled().await?;
    let _together = Together::place(&[provider.server.id()]);
    let begun = Instant::now();
    for _ in 0..20 {
        browser.log_in().await?;
        flow.run().await?;
    }
    let each = begun.elapsed().as_secs_f64() / 20.0;
    let count = ((seconds / TURNS as f64 / each) as usize).max(2);
    browser.requests = 0;
    let (mut ours, mut floors) = (Vec::new(), Vec::new());
    let (mut cpu, mut floor_cpu) = (0, 0);
    for _ in 0..TURNS {
        let before = provider.cpu_us()?;
        browser.waited = Duration::ZERO;
        for _ in 0..count {
            browser.log_in().await?;
        }
        let between = provider.cpu_us()?;
        ours.push(browser.waited.as_secs_f64() * 1e6 / count as f64);
        let begun = Instant::now();
        for _ in 0..count {
            flow.run().await?;
        }
        let flows = begun.elapsed().as_secs_f64() * 1e6 / count as f64;
        floors.push(flows + check_us()?);
        cpu += between - before;
        floor_cpu += provider.cpu_us()? - between;
    }
    let logins = (TURNS * count) as f64;
    eprintln!(
        "requests of a login: {}",
        f64::from(browser.requests) / logins
    );
    Ok(Line {
        name: "login with a passkey, to the tokens".into(),
        value_us: median(ours),
        floor_us: median(floors),
        floor: "the code flow of somebody who is logged in, and one ES256 check".into(),
        cpu: Some((cpu as f64 / logins, floor_cpu as f64 / logins + check_us()?)),
        aim: Some(1.0),
    })
}

fn main() -> Result<(), Failure> {
    let seconds = std::env::var("SECONDS").ok();
    let seconds = seconds.and_then(|text| text.parse().ok()).unwrap_or(1.0) * 6.0;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let mut report = Report::default();
    report.add(LocalSet::new().block_on(&runtime, measured(seconds))?);
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/bench");
    report.write(&directory, "passkey")?;
    Ok(())
}
