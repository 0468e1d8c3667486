//! `signet status`: what a server says of itself to anybody, without a login.

use clap::Args;
use serde_json::{Value, json};

use super::{Failure, Output, block_on};
use signet_admin_client::Target;
use signet_admin_client::http_client::{Answer, HttpClient};

/// `signet status ...`
#[derive(Debug, Args)]
pub struct Status {
    #[command(flatten)]
    target: Target,
}

/// Exit 0: it is ready; 1: it answers, and is not; 2: nothing answers.
pub fn run(command: &Status, output: &Output) -> Result<(), Failure> {
    let place = command.target.place()?;
    let client = HttpClient::new(place.trust.as_slice()).map_err(Failure::unusable)?;
    let ask = async |path: &str| {
        let url = format!("{}{path}", place.base);
        client.get(&url, &[]).await.map_err(Failure::unusable)
    };
    let (ready, metadata) = block_on(async {
        let ready = ask("/health/ready").await?;
        let metadata = ask("/.well-known/openid-configuration").await?;
        Ok::<_, Failure>((ready, metadata))
    })??;
    let said = first_line(&ready);
    let issuer = serde_json::from_slice::<Value>(&metadata.body).unwrap_or_default();
    let issuer = issuer["issuer"].as_str().unwrap_or_default();
    let is_ready = ready.status.is_success();
    let answer = json!({
        "ready": is_ready,
        "state": said,
        "issuer": issuer,
        "url": place.base,
        "command": env!("CARGO_PKG_VERSION"),
    });
    if is_ready {
        return output.print(&answer, || {
            format!("{}: {said}, issuer {issuer}", place.base)
        });
    }
    let why = format!("{}: {said}", place.base);
    Err(Failure::no("not_ready", why).with(answer))
}

/// What a server wrote, fit for a terminal.
fn first_line(answer: &Answer) -> String {
    let text = String::from_utf8_lossy(&answer.body);
    let line = text.lines().next().unwrap_or_default();
    line.chars().filter(|c| !c.is_control()).take(200).collect()
}
