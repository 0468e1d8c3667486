//! Access rules, and what they decide.

use std::collections::BTreeMap;

use clap::{Args, Subcommand, ValueEnum};
use http::Method;
use serde_json::{Value, json};
use signet_admin::{EXPLAIN, RULES};

use super::{
    fields::Field,
    noun::{self, Leave, Paging, item, remove, send, set, show},
};
use crate::cli::{Failure, Output, block_on, output};
use signet_admin_client::http_client::percent_encode;
use signet_admin_client::{Session, Target};

/// What a rule does.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum Effect {
    /// Let in.
    Allow,
    /// Keep out, whatever lets in.
    Deny,
}

/// The conditions of a new rule: all of them hold. Each of those that name something may be
/// repeated, and then one of them is enough.
#[derive(Debug, Args)]
#[group(skip)]
pub struct Conditions {
    /// A person: user name, mail address or id.
    #[arg(long = "user", value_name = "USER")]
    users: Vec<String>,
    /// A group, and everybody in a group inside it.
    #[arg(long = "group", value_name = "GROUP")]
    groups: Vec<String>,
    /// An attribute with this value.
    #[arg(long = "attribute", value_name = "NAME=VALUE")]
    attributes: Vec<String>,
    /// A network that the request comes from: 10.0.0.0/8.
    #[arg(long = "network", value_name = "NETWORK")]
    networks: Vec<String>,
    /// A client, by its id.
    #[arg(long = "client", value_name = "CLIENT")]
    clients: Vec<String>,
    /// A scope.
    #[arg(long = "scope", value_name = "SCOPE")]
    scopes: Vec<String>,
    /// A resource server.
    #[arg(long = "resource", value_name = "URI")]
    resources: Vec<String>,
    /// An authentication context class that the login reaches.
    #[arg(long = "acr", value_name = "ACR")]
    acr: Vec<String>,
    /// A day: mon, tue, wed, thu, fri, sat, sun.
    #[arg(long = "day", value_name = "DAY")]
    days: Vec<String>,
    /// Hours: 08:00-18:00, or 22:00-06:00 over midnight.
    #[arg(long)]
    hours: Option<String>,
    /// The time zone of days and hours, as Europe/Berlin. Default: UTC.
    #[arg(long)]
    zone: Option<String>,
    /// From this moment: 2027-01-31T08:00:00Z.
    #[arg(long, value_name = "TIME")]
    not_before: Option<String>,
    /// Until this moment.
    #[arg(long, value_name = "TIME")]
    not_after: Option<String>,
    /// But not this person.
    #[arg(long = "except-user", value_name = "USER")]
    except_users: Vec<String>,
    /// But nobody in this group.
    #[arg(long = "except-group", value_name = "GROUP")]
    except_groups: Vec<String>,
    /// But not from this network.
    #[arg(long = "except-network", value_name = "NETWORK")]
    except_networks: Vec<String>,
    /// But not with a login that reaches this authentication context class.
    #[arg(long = "except-acr", value_name = "ACR")]
    except_acr: Vec<String>,
    /// For people.
    #[arg(long)]
    description: Option<String>,
}

impl Conditions {
    /// The rule as the admin API reads it.
    fn body(&self, effect: Effect) -> Result<Value, Failure> {
        let mut attributes: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for attribute in &self.attributes {
            let (name, value) = attribute
                .split_once('=')
                .ok_or_else(|| Failure::unusable("an attribute is NAME=VALUE"))?;
            attributes.entry(name).or_default().push(value);
        }
        let effect = match effect {
            Effect::Allow => "allow",
            Effect::Deny => "deny",
        };
        Ok(json!({
            "effect": effect,
            "description": self.description,
            "users": self.users,
            "groups": self.groups,
            "attributes": attributes,
            "networks": self.networks,
            "clients": self.clients,
            "scopes": self.scopes,
            "resources": self.resources,
            "acr": self.acr,
            "when": {
                "not_before": self.not_before,
                "not_after": self.not_after,
                "days": self.days,
                "hours": self.hours,
                "zone": self.zone,
            },
            "except": {
                "users": self.except_users,
                "groups": self.except_groups,
                "networks": self.except_networks,
                "acr": self.except_acr,
            },
        }))
    }
}

/// A question of access.
#[derive(Debug, Args)]
#[group(skip)]
pub struct Question {
    /// The person: user name, mail address or id. Without one, the client asks for itself.
    #[arg(long)]
    user: Option<String>,
    /// The client, by its id.
    #[arg(long)]
    client: String,
    /// A scope that is asked for. May be repeated.
    #[arg(long = "scope", value_name = "SCOPE")]
    scopes: Vec<String>,
    /// A resource server that the token is for. May be repeated; default: the default audience.
    #[arg(long = "resource", value_name = "URI")]
    resources: Vec<String>,
    /// The address that the request comes from. Default: one that every rule about networks lets
    /// in.
    #[arg(long, value_name = "ADDRESS")]
    network: Option<String>,
    /// An authentication context class that the login reaches. May be repeated.
    #[arg(long = "acr", value_name = "ACR")]
    acr: Vec<String>,
    /// The moment, as 2027-01-31T08:00:00Z. Default: now.
    #[arg(long, value_name = "TIME")]
    at: Option<String>,
}

impl Question {
    fn path(&self) -> String {
        let words = |list: &[String]| (!list.is_empty()).then(|| list.join(" "));
        let members = [
            ("client", Some(self.client.clone())),
            ("user", self.user.clone()),
            ("scope", words(&self.scopes)),
            ("resource", words(&self.resources)),
            ("network", self.network.clone()),
            ("acr", words(&self.acr)),
            ("at", self.at.clone()),
        ];
        let members = members.into_iter().filter_map(|(name, value)| {
            let value = value?;
            Some(format!("{name}={}", percent_encode(&value)))
        });
        let members: Vec<String> = members.collect();
        format!("{EXPLAIN}?{}", members.join("&"))
    }
}

/// `signet rule ...`
#[derive(Debug, Subcommand)]
pub enum RuleCommand {
    /// List access rules, and what holds where none decides.
    #[command(after_help = "Example:\n  signet rule list")]
    List {
        #[command(flatten)]
        target: Target,
        #[command(flatten)]
        paging: Paging,
    },
    /// Show one access rule.
    #[command(after_help = "Example:\n  signet rule show contractors")]
    Show {
        /// Its name.
        name: String,
        #[command(flatten)]
        target: Target,
    },
    /// Make an access rule. A rule that denies holds over every one that allows.
    #[command(
        after_help = "Example:\n  signet rule add contractors --group contractors --client grafana --effect deny\n  signet rule add \"grafana is for staff\" --client grafana --except-group staff --effect deny\n  signet rule add weekend --scope orders:write --day sat --day sun --zone Europe/Berlin --effect deny"
    )]
    Add {
        /// Its name.
        name: String,
        /// What it does.
        #[arg(long)]
        effect: Effect,
        #[command(flatten)]
        conditions: Box<Conditions>,
        #[command(flatten)]
        target: Target,
    },
    /// Change an access rule.
    #[command(
        after_help = "Example:\n  signet rule set contractors clients+=argocd\n  signet rule set weekend 'when={\"days\":[\"sun\"]}'"
    )]
    Set {
        /// Its name.
        name: String,
        /// Members to change.
        #[arg(value_name = "NAME=VALUE", required = true)]
        fields: Vec<Field>,
        #[command(flatten)]
        target: Target,
    },
    /// Remove an access rule.
    #[command(after_help = "Example:\n  signet rule remove contractors")]
    Remove {
        /// Its name.
        name: String,
        #[command(flatten)]
        leave: Leave,
        #[command(flatten)]
        target: Target,
    },
    /// Say which rule decides, as it would decide a request. Nothing is asked of anybody. Exit 0:
    /// allowed; 1: denied.
    #[command(
        after_help = "Example:\n  signet rule explain --user alice --client grafana --scope openid"
    )]
    Explain {
        #[command(flatten)]
        question: Box<Question>,
        #[command(flatten)]
        target: Target,
    },
}

/// `signet rule ...`
pub fn rule(command: RuleCommand, output: &Output) -> Result<(), Failure> {
    match command {
        RuleCommand::List { target, paging } => {
            block_on(Session::with(&target, async |session| {
                let found = noun::all(session, RULES.path(), paging.limit).await?;
                noun::print_list(&RULES, found, &paging, output)?;
                let mode = session.get(&format!("{EXPLAIN}/mode")).await?;
                // Beside the list, which scripts read.
                output::note(match mode["mode"].as_str() {
                    Some("deny") => "What no rule allows is denied.",
                    _ => "What no rule denies is allowed.",
                });
                Ok(())
            }))?
        }
        RuleCommand::Show { name, target } => show(&RULES, &target, &name, output),
        RuleCommand::Add {
            name,
            effect,
            conditions,
            target,
        } => {
            let body = conditions.body(effect)?;
            let path = item(&RULES, &name);
            send(&target, Method::PUT, &path, &body, output, |_| {
                format!("{name} was made")
            })
        }
        RuleCommand::Set {
            name,
            fields,
            target,
        } => set(&RULES, &target, &name, &fields, output),
        RuleCommand::Remove {
            name,
            leave,
            target,
        } => remove(&RULES, &target, &name, leave, output),
        RuleCommand::Explain { question, target } => {
            block_on(Session::with(&target, async |session| {
                let answer = session.get(&question.path()).await?;
                if answer["allowed"] == true {
                    return output.print(&answer, || explained(&answer));
                }
                // The answer is no: the sentence is the reason, and the JSON has all of it.
                Err(Failure::no("access_denied", explained(&answer)).with(answer))
            }))?
        }
    }
}

/// A decision in words.
fn explained(answer: &Value) -> String {
    let done = match answer["allowed"].as_bool() {
        Some(true) => "allowed",
        _ => "denied",
    };
    let by = match answer["rule"].as_str() {
        Some(rule) => format!("{done} by the rule {rule}"),
        None if answer["mode"] == "deny" => format!("{done}: no rule allows it"),
        None => format!("{done}: no rule denies it"),
    };
    let nothing = Vec::new();
    let holding = answer["holding"].as_array().unwrap_or(&nothing);
    let names: Vec<&str> = holding.iter().filter_map(Value::as_str).collect();
    match names.as_slice() {
        [] | [_] => by,
        names => format!("{by}\nrules that are about it: {}", names.join(", ")),
    }
}
