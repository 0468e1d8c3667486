//! What claims of groups and roles cost: the same operations of a client without a table of claims
//! and of one with it, in turns, at one server.

use std::time::Instant;

use bytes::Bytes;
use http::Method;
use signet_crypto::Algorithm;
use signet_encoding::base64url;
use tokio::task::LocalSet;

use crate::client::{Connection, Failure};
use crate::load::flow::{Provider, RegisteredClient};
use crate::load::operation::{CodeFlow, Operation, Refresh};
use crate::nodes::said;
use crate::report::record::{Measure, Row, Unit};
use crate::report::summary::Summary;
use crate::run::{Options, Part, Run};

/// Claims.
pub const PART: Part = Part {
    name: "claims",
    title: "Claims of groups and roles, beside none",
    plan,
    run,
};

const TURNS: usize = 20;
const REDIRECT: &str = "http://127.0.0.1:47999/callback";
/// Mapped, each with the values that the person has.
const CLAIMS: &str = r#"claims=["groups","roles"]"#;
/// What an operation with them may take of one without.
const GOAL: f64 = 1.1;

/// Seconds of an operation's turns.
fn seconds(options: &Options) -> f64 {
    options.choose(2.0, 6.0)
}

fn plan(options: &Options) -> f64 {
    8.0 + 3.0 * seconds(options) * options.pace
}

fn run(run: &mut Run) -> Result<(), Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    LocalSet::new().block_on(&runtime, measured(run))?;
    run.progress.done(plan(&run.options));
    Ok(())
}

async fn measured(run: &mut Run) -> Result<(), Failure> {
    let provider = Provider::start(1, None).await?;
    let (plain, mapped) = (client(&provider).await?, client(&provider).await?);
    let person = provider.developer["user"]["username"].as_str();
    let person = person.ok_or("no username")?;
    let directory = provider.server.directory();
    for command in [
        &["group", "add", "staff"][..],
        &["group", "add", "engineering", "--parent", "staff"],
        &["group", "members", "engineering", "add", person],
        &["role", "add", "editor"],
        &["role", "members", "editor", "add", person],
        &["client", "set", mapped.client_id(), CLAIMS],
    ] {
        said(directory, command)?;
    }
    provider.settled().await?;
    let _together = run.together(&[provider.server.id()]);
    let mut without = CodeFlow::new(&provider, &plain, REDIRECT).await?;
    let mut with = CodeFlow::new(&provider, &mapped, REDIRECT).await?;

    let mut userinfo = (
        Userinfo::new(&provider, &mut without, false).await?,
        Userinfo::new(&provider, &mut with, true).await?,
    );
    turns(run, "userinfo", &mut userinfo.0, &mut userinfo.1).await?;
    turns(run, "authorization_code", &mut without, &mut with).await?;
    let mut refresh = (
        Refresh::new(&mut without, &plain).await?,
        Refresh::new(&mut with, &mapped).await?,
    );
    turns(run, "refresh_token", &mut refresh.0, &mut refresh.1).await
}

async fn client(provider: &Provider) -> Result<RegisteredClient, Failure> {
    let metadata = serde_json::json!({
        "application_type": "native", "redirect_uris": [REDIRECT], "response_types": ["code"],
        "grant_types": ["authorization_code", "refresh_token"],
        "scope": "openid profile offline_access",
    });
    let client = provider.register("client_secret_basic", Algorithm::Es256, metadata);
    client.await
}

/// Whether a person's groups and roles are said, and a client that has none mapped gets none.
fn expect(claims: &serde_json::Value, mapped: bool) -> Result<(), Failure> {
    let holds = |claim: &str, value: &str| {
        let all = claims[claim].as_array().into_iter().flatten();
        all.filter_map(serde_json::Value::as_str)
            .any(|one| one == value)
    };
    let right = match mapped {
        true => {
            holds("groups", "engineering") && holds("groups", "staff") && holds("roles", "editor")
        }
        false => claims.get("groups").is_none() && claims.get("roles").is_none(),
    };
    match right {
        true => Ok(()),
        false => Err(format!("other claims than expected: {claims}").into()),
    }
}

struct Userinfo {
    connection: Connection,
    bearer: String,
    answer: Bytes,
}

impl Userinfo {
    async fn new(
        provider: &Provider,
        flow: &mut CodeFlow,
        mapped: bool,
    ) -> Result<Userinfo, Failure> {
        let tokens = flow.run().await?;
        let token = tokens["access_token"].as_str().ok_or("no access_token")?;
        let payload = token.split('.').nth(1).ok_or("no JWT")?;
        let payload =
            base64url::decode(payload.as_bytes()).map_err(|error| format!("{error:?}"))?;
        expect(&serde_json::from_slice(&payload)?, mapped)?;
        let mut userinfo = Userinfo {
            connection: provider.target()?.connect().await?,
            bearer: format!("Bearer {token}"),
            answer: Bytes::new(),
        };
        userinfo.answer = userinfo.ask().await?;
        expect(&serde_json::from_slice(&userinfo.answer)?, mapped)?;
        Ok(userinfo)
    }

    async fn ask(&mut self) -> Result<Bytes, Failure> {
        let headers = [("authorization", self.bearer.as_str())];
        let answer = self
            .connection
            .send(Method::GET, "/userinfo", &headers, Bytes::new());
        Ok(answer.await?.body.clone())
    }
}

impl Operation for Userinfo {
    async fn once(&mut self) -> Result<(), Failure> {
        let answer = self.ask().await?;
        if answer != self.answer {
            let shown = String::from_utf8_lossy(&answer).into_owned();
            return Err(format!("another answer than before: {shown}").into());
        }
        Ok(())
    }
}

/// One operation without and one with, again and again.
async fn turns(
    run: &mut Run,
    name: &str,
    without: &mut impl Operation,
    with: &mut impl Operation,
) -> Result<(), Failure> {
    const WARM: usize = 32;
    run.progress.says(&format!("claims: {name}"));
    let begun = Instant::now();
    for _ in 0..WARM {
        without.once().await?;
        with.once().await?;
    }
    let each = begun.elapsed().as_secs_f64() / WARM as f64;
    let time = run.options.time(seconds(&run.options)).as_secs_f64();
    let count = ((time / TURNS as f64 / each) as usize).max(4);
    let (mut withouts, mut withs) = (Vec::new(), Vec::new());
    for _ in 0..TURNS {
        let (mut first, mut second) = (0.0, 0.0);
        for _ in 0..count {
            let start = Instant::now();
            without.once().await?;
            first += start.elapsed().as_secs_f64();
            let start = Instant::now();
            with.once().await?;
            second += start.elapsed().as_secs_f64();
        }
        withouts.push(first * 1e6 / count as f64);
        withs.push(second * 1e6 / count as f64);
    }
    let name = format!("{name} with groups and roles");
    let row = Row::new("claims", name, Unit::Microseconds, Summary::of(withs));
    let row = row.floor("the same without claims", Summary::of(withouts));
    run.add(row.goal(Measure::OverFloor, GOAL));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_person_has_not_is_no_mapped_claim() {
        let all = serde_json::json!({ "groups": ["engineering", "staff"], "roles": ["editor"] });
        let some = serde_json::json!({ "groups": ["engineering"], "roles": ["editor"] });
        let none = serde_json::json!({ "sub": "x" });
        for (claims, mapped, right) in [
            (&all, true, true),
            (&all, false, false),
            (&some, true, false),
            (&some, false, false),
            (&none, true, false),
            (&none, false, true),
        ] {
            assert_eq!(expect(claims, mapped).is_ok(), right, "{claims} {mapped}");
        }
    }
}
