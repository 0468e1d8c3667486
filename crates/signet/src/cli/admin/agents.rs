//! `signet agents`: agents at a server. (`signet agent` is about identities, grants and receipts of
//! one's own.)

use std::path::PathBuf;

use clap::Subcommand;
use http::Method;
use serde_json::{Value, json};
use signet_admin::AGENTS;

use super::{
    account,
    noun::{self, Leave, Paging},
};
use crate::cli::{Failure, Output, block_on};
use signet_admin_client::http_client::percent_encode;
use signet_admin_client::{Session, Target};

/// `signet agents ...`
#[derive(Debug, Subcommand)]
pub enum AgentsCommand {
    /// List the agents that the server knows: registered, bound to a person, or seen in a chain.
    #[command(after_help = "Example:\n  signet agents list --user alice")]
    List {
        /// Only the identities that this user bound: name, mail address or id.
        #[arg(long, value_name = "NAME")]
        user: Option<String>,
        #[command(flatten)]
        target: Target,
        #[command(flatten)]
        paging: Paging,
    },
    /// Show an agent: whose identity it is, its grants and its living tokens.
    #[command(
        after_help = "Example:\n  signet agents show agent:PrB0uMSeKvMQA2kRVNqSQCSMDKTLzlaCxL4hQEnCjGY"
    )]
    Show {
        /// Its id.
        id: String,
        #[command(flatten)]
        target: Target,
    },
    /// Register an agent by its document, or replace the document by a newer one.
    #[command(after_help = "Example:\n  signet agents add bob.json")]
    Add {
        /// The document, as `signet agent show --document` prints it; or an identity file.
        document: PathBuf,
        #[command(flatten)]
        target: Target,
    },
    /// Stop an agent for good, or everything that acts for a person.
    #[command(
        after_help = "Example:\n  signet agents stop agent:PrB0uMSeKvMQA2kRVNqSQCSMDKTLzlaCxL4hQEnCjGY\n  signet agents stop --user alice"
    )]
    Stop {
        /// Its id.
        #[arg(required_unless_present = "user")]
        id: Option<String>,
        /// Everything that acts for this user by grants: name, mail address or id.
        #[arg(long, value_name = "NAME", conflicts_with = "id")]
        user: Option<String>,
        #[command(flatten)]
        leave: Leave,
        #[command(flatten)]
        target: Target,
    },
    /// Take an identity off its account, or end one grant; what was issued under it is revoked.
    #[command(
        after_help = "Example:\n  signet agents remove agent:PrB0uMSeKvMQA2kRVNqSQCSMDKTLzlaCxL4hQEnCjGY --grant GRANT_ID"
    )]
    Remove {
        /// Its id.
        id: String,
        /// The grant, as `show` names it; the binding unless given.
        #[arg(long, allow_hyphen_values = true)]
        grant: Option<String>,
        #[command(flatten)]
        leave: Leave,
        #[command(flatten)]
        target: Target,
    },
}

/// `signet agents ...`
pub fn run(command: AgentsCommand, output: &Output) -> Result<(), Failure> {
    match command {
        AgentsCommand::List {
            user: None,
            target,
            paging,
        } => noun::list(&AGENTS, &target, &paging, output),
        AgentsCommand::List {
            user: Some(name),
            target,
            ..
        } => block_on(Session::with(&target, async |session| {
            let id = account::find(session, &name).await?;
            let answer = session
                .get(&format!("{}/agents", account::path(&id)))
                .await?;
            let rows = answer["items"].as_array().cloned().unwrap_or_default();
            let text = noun::rows_table(&AGENTS, &rows);
            output.print(&Value::Array(rows), || text)
        }))?,
        AgentsCommand::Show { id, target } => noun::show(&AGENTS, &target, &id, output),
        AgentsCommand::Add { document, target } => {
            let document = crate::cli::agent::document_json(&document)?;
            let body = json!({ "document": document });
            noun::send(
                &target,
                Method::POST,
                AGENTS.path(),
                &body,
                output,
                |made| {
                    format!(
                        "{} is registered",
                        noun::cell("agent_id", &made["agent_id"])
                    )
                },
            )
        }
        AgentsCommand::Stop {
            id,
            user,
            leave,
            target,
        } => {
            let who = id.as_deref().or(user.as_deref()).unwrap_or_default();
            // As a revocation: a script that answers an incident does not stop here.
            leave.ask_a_person(&format!("Stop {who} for good, with everything granted?"))?;
            block_on(Session::with(&target, async |session| {
                let path = match (id, user) {
                    (_, Some(name)) => {
                        let id = account::find(session, &name).await?;
                        format!("{}/agents/stop", account::path(&id))
                    }
                    (id, None) => {
                        format!("{}/stop", noun::item(&AGENTS, &id.unwrap_or_default()))
                    }
                };
                let answer = session.call(Method::POST, &path, None, None).await?;
                output.print(&answer.value, || ended(&answer.value))
            }))?
        }
        AgentsCommand::Remove {
            id,
            grant,
            leave,
            target,
        } => {
            let what = grant.as_deref().unwrap_or("the binding");
            leave.ask(&format!(
                "Remove {what} of {id}, with what was issued under it?"
            ))?;
            block_on(Session::with(&target, async |session| {
                let one = noun::item(&AGENTS, &id);
                let path = match grant {
                    Some(grant) => format!("{one}/grants/{}", percent_encode(&grant)),
                    None => format!("{one}/binding"),
                };
                let answer = session.call(Method::DELETE, &path, None, None).await?;
                output.print(&answer.value, || ended(&answer.value))
            }))?
        }
    }
}

/// What ended, and how long each node took.
fn ended(answer: &Value) -> String {
    let mut text = format!(
        "{} grants have ended, {} identities are no longer bound",
        answer["grants_ended"], answer["identities_unbound"]
    );
    for node in answer["nodes"].as_array().into_iter().flatten() {
        let name = node["node"].as_str().unwrap_or_default();
        text.push_str(&format!("\n{name}: {} ms", node["milliseconds"]));
    }
    text
}
