//! Groups, roles and the schema of people's attributes.

use clap::{Subcommand, ValueEnum};
use http::Method;
use serde_json::{Value, json};
use signet_admin::{ATTRIBUTES, GROUPS, Noun, ROLES, USERS};

use super::{
    account::{find, path},
    fields::Field,
    noun::{self, Leave, Paging, item, list, record, remove, send, set, show},
};
use crate::cli::{Failure, Output, block_on};
use signet_admin_client::{Session, Target};

/// Who is put in, or taken out.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum Act {
    /// Put in.
    Add,
    /// Take out.
    Remove,
    /// Say who is there.
    List,
}

/// Members of a group that are shown with it.
const SHOWN: usize = 20;

/// `signet group ...`
#[derive(Debug, Subcommand)]
pub enum GroupCommand {
    /// List groups.
    #[command(after_help = "Example:\n  signet group list")]
    List {
        #[command(flatten)]
        target: Target,
        #[command(flatten)]
        paging: Paging,
    },
    /// Show one group.
    #[command(after_help = "Example:\n  signet group show engineering")]
    Show {
        /// Its name.
        name: String,
        #[command(flatten)]
        target: Target,
    },
    /// Make a group.
    #[command(
        after_help = "Example:\n  signet group add engineering --parent staff\n  signet group add editors --role web/editor"
    )]
    Add {
        /// Its name.
        name: String,
        /// The group that everybody in this one is in, too.
        #[arg(long)]
        parent: Option<String>,
        /// A role that everybody in it has: NAME, or CLIENT_ID/NAME. May be repeated.
        #[arg(long = "role", value_name = "ROLE")]
        roles: Vec<String>,
        /// For people.
        #[arg(long)]
        description: Option<String>,
        #[command(flatten)]
        target: Target,
    },
    /// Change a group.
    #[command(
        after_help = "Example:\n  signet group set engineering parent=staff roles+=web/editor"
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
    /// Put users into a group, take them out, or say who is in it.
    #[command(
        after_help = "Example:\n  signet group members engineering\n  signet group members engineering add alice"
    )]
    Members {
        /// The group's name.
        name: String,
        /// What to do.
        #[arg(default_value = "list")]
        act: Act,
        /// User names, mail addresses or ids.
        users: Vec<String>,
        #[command(flatten)]
        target: Target,
    },
    /// Remove a group that has no others in it.
    #[command(after_help = "Example:\n  signet group remove engineering")]
    Remove {
        /// Its name.
        name: String,
        #[command(flatten)]
        leave: Leave,
        #[command(flatten)]
        target: Target,
    },
}

/// `signet role ...`
#[derive(Debug, Subcommand)]
pub enum RoleCommand {
    /// List roles.
    #[command(after_help = "Example:\n  signet role list")]
    List {
        #[command(flatten)]
        target: Target,
        #[command(flatten)]
        paging: Paging,
    },
    /// Show one role.
    #[command(after_help = "Example:\n  signet role show web/editor")]
    Show {
        /// Its whole name.
        name: String,
        #[command(flatten)]
        target: Target,
    },
    /// Make a role: NAME of the realm, or CLIENT_ID/NAME of a client.
    #[command(after_help = "Example:\n  signet role add web/editor --description \"May write\"")]
    Add {
        /// Its whole name.
        name: String,
        /// For people.
        #[arg(long)]
        description: Option<String>,
        #[command(flatten)]
        target: Target,
    },
    /// Change a role.
    #[command(after_help = "Example:\n  signet role set web/editor description=\"May write\"")]
    Set {
        /// Its whole name.
        name: String,
        /// Members to change.
        #[arg(value_name = "NAME=VALUE", required = true)]
        fields: Vec<Field>,
        #[command(flatten)]
        target: Target,
    },
    /// Give users a role, or take it away. Who has it by a group keeps it.
    #[command(after_help = "Example:\n  signet role members web/editor add alice")]
    Members {
        /// The role's whole name.
        name: String,
        /// What to do.
        act: Act,
        /// User names, mail addresses or ids.
        users: Vec<String>,
        #[command(flatten)]
        target: Target,
    },
    /// Remove a role.
    #[command(after_help = "Example:\n  signet role remove web/editor")]
    Remove {
        /// Its whole name.
        name: String,
        #[command(flatten)]
        leave: Leave,
        #[command(flatten)]
        target: Target,
    },
}

/// `signet attribute ...`
#[derive(Debug, Subcommand)]
pub enum AttributeCommand {
    /// List the attributes of the schema.
    #[command(after_help = "Example:\n  signet attribute list")]
    List {
        #[command(flatten)]
        target: Target,
        #[command(flatten)]
        paging: Paging,
    },
    /// Show one attribute of the schema.
    #[command(after_help = "Example:\n  signet attribute show department")]
    Show {
        /// Its name.
        name: String,
        #[command(flatten)]
        target: Target,
    },
    /// Add an attribute to the schema.
    #[command(
        after_help = "Example:\n  signet attribute add department read=person label=Department\n  signet attribute add level type=number"
    )]
    Add {
        /// Its name.
        name: String,
        /// Members: type, label, read, write, verified, max_bytes, max_items.
        #[arg(value_name = "NAME=VALUE")]
        fields: Vec<Field>,
        #[command(flatten)]
        target: Target,
    },
    /// Change an attribute of the schema.
    #[command(after_help = "Example:\n  signet attribute set department write=person")]
    Set {
        /// Its name.
        name: String,
        /// Members to change.
        #[arg(value_name = "NAME=VALUE", required = true)]
        fields: Vec<Field>,
        #[command(flatten)]
        target: Target,
    },
    /// Remove an attribute from the schema.
    #[command(after_help = "Example:\n  signet attribute remove department")]
    Remove {
        /// Its name.
        name: String,
        #[command(flatten)]
        leave: Leave,
        #[command(flatten)]
        target: Target,
    },
}

/// Adds a record: there must be none of its name.
fn add(
    noun: &Noun,
    target: &Target,
    name: &str,
    body: &Value,
    output: &Output,
) -> Result<(), Failure> {
    send(target, Method::PUT, &item(noun, name), body, output, |_| {
        format!("{name} was made")
    })
}

/// `signet group ...`
pub fn group(command: GroupCommand, output: &Output) -> Result<(), Failure> {
    match command {
        GroupCommand::List { target, paging } => list(&GROUPS, &target, &paging, output),
        GroupCommand::Show { name, target } => block_on(Session::with(&target, async |session| {
            let group = session.get(&item(&GROUPS, &name)).await?;
            let members = format!("{}/members", item(&GROUPS, &name));
            let found = noun::all(session, &members, SHOWN + 1).await?;
            output.print(&group, || {
                let names = found.iter().filter_map(|user| user["username"].as_str());
                let mut names: Vec<&str> = names.take(SHOWN).collect();
                if found.len() > SHOWN {
                    names.push("... (signet group members has all)");
                }
                let said = match names.as_slice() {
                    [] => "nobody".to_owned(),
                    names => names.join(" "),
                };
                format!("{}\nmembers: {said}", noun::members(&group))
            })
        }))?,
        GroupCommand::Add {
            name,
            parent,
            roles,
            description,
            target,
        } => {
            let body = json!({ "parent": parent, "roles": roles, "description": description });
            add(&GROUPS, &target, &name, &body, output)
        }
        GroupCommand::Set {
            name,
            fields,
            target,
        } => set(&GROUPS, &target, &name, &fields, output),
        GroupCommand::Members {
            name,
            act: Act::List,
            users,
            target,
        } => {
            if !users.is_empty() {
                return Err(Failure::unusable("list names no users"));
            }
            let members = format!("{}/members", item(&GROUPS, &name));
            block_on(Session::with(&target, async |session| {
                let paging = Paging { limit: 1000 };
                let found = noun::all(session, &members, paging.limit).await?;
                noun::print_list(&USERS, found, &paging, output)
            }))?
        }
        GroupCommand::Members {
            name,
            act,
            users,
            target,
        } => change("groups", &name, act, &users, &target, output),
        GroupCommand::Remove {
            name,
            leave,
            target,
        } => remove(&GROUPS, &target, &name, leave, output),
    }
}

/// `signet role ...`
pub fn role(command: RoleCommand, output: &Output) -> Result<(), Failure> {
    match command {
        RoleCommand::List { target, paging } => list(&ROLES, &target, &paging, output),
        RoleCommand::Show { name, target } => show(&ROLES, &target, &name, output),
        RoleCommand::Add {
            name,
            description,
            target,
        } => {
            let body = json!({ "description": description });
            add(&ROLES, &target, &name, &body, output)
        }
        RoleCommand::Set {
            name,
            fields,
            target,
        } => set(&ROLES, &target, &name, &fields, output),
        RoleCommand::Members {
            name,
            act,
            users,
            target,
        } => change("roles", &name, act, &users, &target, output),
        RoleCommand::Remove {
            name,
            leave,
            target,
        } => remove(&ROLES, &target, &name, leave, output),
    }
}

/// `signet attribute ...`
pub fn attribute(command: AttributeCommand, output: &Output) -> Result<(), Failure> {
    match command {
        AttributeCommand::List { target, paging } => list(&ATTRIBUTES, &target, &paging, output),
        AttributeCommand::Show { name, target } => show(&ATTRIBUTES, &target, &name, output),
        AttributeCommand::Add {
            name,
            fields,
            target,
        } => {
            let body = Value::Object(record(&ATTRIBUTES, &fields)?);
            add(&ATTRIBUTES, &target, &name, &body, output)
        }
        AttributeCommand::Set {
            name,
            fields,
            target,
        } => set(&ATTRIBUTES, &target, &name, &fields, output),
        AttributeCommand::Remove {
            name,
            leave,
            target,
        } => remove(&ATTRIBUTES, &target, &name, leave, output),
    }
}

/// Puts users into a group or gives them a role, one after another; what was done before one that
/// fails stays done.
fn change(
    of: &str,
    name: &str,
    act: Act,
    users: &[String],
    target: &Target,
    output: &Output,
) -> Result<(), Failure> {
    let (member, said) = match act {
        Act::Add => ("add", "in"),
        Act::Remove => ("remove", "out of"),
        Act::List => {
            return Err(Failure::unusable(
                "who has a role is said by `signet user show`, and by its groups",
            ));
        }
    };
    if users.is_empty() {
        return Err(Failure::unusable("name a user"));
    }
    block_on(Session::with(target, async |session| {
        let mut changed = Vec::with_capacity(users.len());
        for user in users {
            let path = format!("{}/{of}", path(&find(session, user).await?));
            let body = json!({ member: [name] });
            let answer = session.call(Method::POST, &path, Some(&body), None).await?;
            changed.push(answer.value);
        }
        output.print(&Value::Array(changed), || {
            format!("{} {said} {name}", users.join(", "))
        })
    }))?
}
