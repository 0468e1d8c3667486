//! The commands: arguments, dispatch, and how an answer becomes output and an exit code.

mod admin;
mod agent;
mod audit;
mod ceremony;
mod certificate;
mod compact;
mod compact_claims;
mod compact_keys;
mod config;
mod dev;
mod explain;
mod gate;
mod manual;
mod mcp;
mod parameters;
mod serve;
mod status;
mod store;
mod token;

use std::{process::ExitCode, sync::LazyLock};

use clap::{CommandFactory, Parser, Subcommand};

use signet_terminal::output;
pub use signet_terminal::output::{Failure, Output, note};
pub use signet_terminal::progress::Progress;

/// The version, and the commit where the build knows it (`make build` says).
static VERSION: LazyLock<String> = LazyLock::new(|| {
    let version = env!("CARGO_PKG_VERSION");
    match option_env!("SIGNET_COMMIT") {
        Some(commit) if !commit.is_empty() => format!("{version} ({commit})"),
        _ => version.to_owned(),
    }
});

/// An OAuth 2.1 and OpenID Connect server: tokens and identities for people, services and agents.
#[derive(Debug, Parser)]
#[command(
    name = "signet",
    version = VERSION.as_str(),
    arg_required_else_help = true,
    after_help = "Example:\n  signet serve --dev"
)]
pub struct Arguments {
    /// Print data as JSON; a refusal as `error` and `error_description`.
    #[arg(long, global = true)]
    pub json: bool,
    #[command(subcommand)]
    pub command: Command,
}

/// Every command.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Serve: with a configuration file, or in development mode.
    #[command(
        after_help = "Example:\n  signet serve --dev\n  signet serve --config /etc/signet/signet.toml"
    )]
    Serve(serve::Serve),
    /// A first token, and what a development server made.
    #[command(subcommand, after_help = "Example:\n  signet dev token")]
    Dev(dev::DevCommand),
    /// Validate tokens for others: an HTTP service for applications and reverse proxies. With
    /// `[login]` in its file it also logs people in for applications that have no login.
    #[command(
        after_help = "Example:\n  signet gate --issuer https://localhost:8443 --audience https://orders.example.com --ca-cert .signet/ca.pem\n  signet gate --config /etc/signet/gate.toml"
    )]
    Gate(gate::Gate),
    /// Look into tokens and verify them.
    #[command(subcommand, after_help = "Example:\n  signet token inspect \"$TOKEN\"")]
    Token(token::Token),
    /// Administer clients.
    #[command(
        subcommand,
        after_help = "Example:\n  signet client list --data-dir .signet"
    )]
    Client(admin::ClientCommand),
    /// Administer users, and make the first administrator.
    #[command(
        subcommand,
        after_help = "Example:\n  signet user list --data-dir .signet"
    )]
    User(admin::UserCommand),
    /// Bring people, clients, groups, roles and identity providers from another server's export.
    #[command(
        after_help = "docs/moving.md says for each server which file it takes, what comes over and what does not. What is there already stays as it is.\n\nExample:\n  signet import keycloak export/ --dry-run\n  signet import keycloak export/ --data-dir .signet"
    )]
    Import(signet_moving::Import),
    /// See and rotate the signing keys.
    #[command(
        subcommand,
        after_help = "Example:\n  signet key list --data-dir .signet"
    )]
    Key(admin::KeyCommand),
    /// See and end login sessions.
    #[command(
        subcommand,
        after_help = "Example:\n  signet session list --user alice"
    )]
    Session(admin::SessionCommand),
    /// See and end what people have granted to clients.
    #[command(subcommand, after_help = "Example:\n  signet grant list --user alice")]
    Grant(admin::GrantCommand),
    /// Administer groups of people, and who is in them.
    #[command(subcommand, after_help = "Example:\n  signet group list")]
    Group(admin::GroupCommand),
    /// Administer roles, of the realm and of clients.
    #[command(subcommand, after_help = "Example:\n  signet role list")]
    Role(admin::RoleCommand),
    /// Administer the schema of people's attributes.
    #[command(subcommand, after_help = "Example:\n  signet attribute list")]
    Attribute(admin::AttributeCommand),
    /// Administer access rules: who may get tokens for what, from where, how and when.
    #[command(
        subcommand,
        after_help = "Example:\n  signet rule add contractors --group contractors --client grafana --effect deny"
    )]
    Rule(admin::RuleCommand),
    /// Administer identity providers of others, at which people log in.
    #[command(subcommand, after_help = "Example:\n  signet provider list")]
    Provider(admin::ProviderCommand),
    /// Administer the realms of a server: issuers with people, clients and keys of their own.
    #[command(subcommand, after_help = "Example:\n  signet realm add acme")]
    Realm(admin::RealmCommand),
    /// Administer scopes.
    #[command(subcommand, after_help = "Example:\n  signet scope list")]
    Scope(admin::ScopeCommand),
    /// Administer resource servers.
    #[command(subcommand, after_help = "Example:\n  signet resource list")]
    Resource(admin::ResourceCommand),
    /// Revoke everything of a user, a client, an agent, a delegation or a session, on every node.
    #[command(
        after_help = "Example:\n  signet revoke --user alice\n  signet revoke --before 2026-11-22T10:00:00Z --yes"
    )]
    Revoke(admin::Revoke),
    /// See the nodes of an installation, let further ones join, remove them.
    #[command(
        subcommand,
        after_help = "Example:\n  signet node list --data-dir .signet"
    )]
    Node(admin::NodeCommand),
    /// The audit trail: who was allowed what, in a log that nobody can rewrite unseen.
    #[command(
        subcommand,
        after_help = "Example:\n  signet audit verify --data-dir .signet"
    )]
    Audit(audit::AuditCommand),
    /// Make keys and tokens of the compact format, and verify them.
    #[command(
        subcommand,
        after_help = "Example:\n  signet compact verify --key verifying.key \"$TOKEN\""
    )]
    Compact(compact::Compact),
    /// Identities of agents, their grants and receipts.
    #[command(
        subcommand,
        after_help = "Example:\n  signet agent create --name alice --out alice.aid"
    )]
    Agent(agent::Agent),
    /// See, register and stop agents at a server.
    #[command(
        subcommand,
        after_help = "Example:\n  signet agents list --data-dir .signet"
    )]
    Agents(admin::AgentsCommand),
    /// Serve one agent identity to a model's host, over the Model Context Protocol on standard
    /// input and output.
    #[command(
        after_help = "Example:\n  signet mcp --identity alice.aid --policy policy.toml --grants grants/"
    )]
    Mcp(mcp::Mcp),
    /// API keys: who administers by a script, with roles and an end.
    #[command(
        subcommand,
        after_help = "Example:\n  signet api-key add backup --role auditor --expires-in 90d"
    )]
    ApiKey(signet_administrators::ApiKeyCommand),
    /// The database: its schema, and moving from one engine to another.
    #[command(
        subcommand,
        after_help = "Example:\n  signet store status --data-dir .signet"
    )]
    Store(store::StoreCommand),
    /// Write everything of a server into one encrypted file, while it serves, and verify it by
    /// restoring it.
    #[command(
        after_help = "docs/backup.md says what is in it, what a restore brings back, and what it does not.\n\nExample:\n  signet backup --to /backup/2026-11-27.age --passphrase-file /etc/signet/backup-passphrase --config /etc/signet/signet.toml\n  signet backup --to backup.age --passphrase-file passphrase --data-dir .signet"
    )]
    Backup(signet_keeping::Backup),
    /// Make a data directory from a backup: whole, or not at all.
    #[command(
        after_help = "Example:\n  signet restore --from /backup/2026-11-27.age --passphrase-file /etc/signet/backup-passphrase --data-dir /var/lib/signet"
    )]
    Restore(signet_keeping::Restore),
    /// Whether this version can take a server over that another version wrote.
    #[command(
        subcommand,
        after_help = "Example:\n  signet upgrade check --data-dir .signet"
    )]
    Upgrade(signet_keeping::UpgradeCommand),
    /// Look whether everything around a server is right: name, certificate, clock, proxy, mail,
    /// store, disk, permissions, limits. Exit 0: nothing is wrong; 1: something is, and what mends
    /// it.
    #[command(
        after_help = "Example:\n  signet doctor --config /etc/signet/signet.toml\n  signet doctor --data-dir .signet --sizes --json"
    )]
    Doctor(signet_keeping::Doctor),
    /// Show what a directory of declarations, or a namespace of Kubernetes, would change, and how
    /// much would end. Exit 0: nothing; 1: changes are pending; 2: the directory is wrong.
    #[command(after_help = "Example:\n  signet plan declarations/ --data-dir .signet")]
    Plan(signet_declaration::Plan),
    /// Make a server as a directory declares it, or a namespace of Kubernetes: all of the plan, or
    /// nothing.
    #[command(
        after_help = "Example:\n  signet apply declarations/ --yes --prune\n  signet apply --kubernetes --yes --watch --server https://id.example"
    )]
    Apply(signet_declaration::Apply),
    /// Write what a server has into a directory of declarations, without secrets; with --people,
    /// its people, too.
    #[command(
        after_help = "docs/moving-out.md has the form that people are written in. With credentials it is encrypted.\n\nExample:\n  signet export declarations/ --data-dir .signet\n  signet export moved/ --people --with-credentials --recipient age1... --login alice"
    )]
    Export(signet_declaration::Export),
    /// Compare what two servers have. Exit 0: the same; 1: what differs.
    #[command(
        after_help = "Example:\n  signet diff --server https://id.example --server https://staging.id.example"
    )]
    Diff(signet_declaration::Diff),
    /// Check the configuration file or a directory of declarations, or print their schemas.
    #[command(
        subcommand,
        after_help = "Example:\n  signet config check /etc/signet/signet.toml"
    )]
    Config(config::ConfigCommand),
    /// Print what a setting of the configuration file is: what it is for, what may be written, its
    /// default and, with --config, its value.
    #[command(
        after_help = "Example:\n  signet explain lifetimes.code\n  signet explain lifetimes --config /etc/signet/signet.toml\n  signet explain lifetimes --running --realm acme"
    )]
    Explain(explain::Explain),
    /// Say whether a server is ready, and why not. Exit 0: it is; 1: it is not; 2: nothing answers.
    #[command(
        after_help = "Example:\n  signet status --data-dir .signet\n  signet status --server https://id.example.com"
    )]
    Status(status::Status),
    #[command(flatten)]
    Setup(signet_setup::SetupCommand),
    #[command(flatten)]
    Login(signet_admin_client::LoginCommand),
    /// Print the version, and the commit where the build knows it.
    #[command(after_help = "Example:\n  signet version")]
    Version,
    /// Print what a shell needs to complete these commands.
    #[command(
        after_help = "Example:\n  signet completions bash > /usr/share/bash-completion/completions/signet"
    )]
    Completions {
        /// Which shell.
        #[arg(value_enum)]
        shell: clap_complete::Shell,
    },
    /// Write the manual pages of all commands, in section 1, into a directory.
    #[command(
        after_help = "Example:\n  signet man --out /usr/local/share/man/man1\n  signet man --out /tmp/man && man /tmp/man/signet-serve.1"
    )]
    Man(manual::Man),
}

// As many as the server takes of a call.
const _: () = assert!(signet_moving::AT_ONCE <= signet_admin::MAX_IMPORTED);

/// Parses the arguments, does the command, and turns its outcome into the exit code.
pub fn run() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(refused) => return output::usage(&refused),
    };
    let output = Output {
        json: arguments.json,
    };
    let outcome = match arguments.command {
        Command::Serve(command) => serve::run(command, &output),
        Command::Dev(command) => dev::run(command, &output),
        Command::Gate(command) => gate::run(command, &output),
        Command::Token(command) => token::run(command, &output),
        Command::Client(command) => admin::client(command, &output),
        Command::User(command) => admin::user(command, &output),
        Command::Import(command) => {
            block_on(signet_moving::import(&command, &output)).and_then(|done| done)
        }
        Command::Key(command) => admin::key(command, &output),
        Command::Session(command) => admin::session(command, &output),
        Command::Grant(command) => admin::grant(command, &output),
        Command::Group(command) => admin::group(command, &output),
        Command::Role(command) => admin::role(command, &output),
        Command::Attribute(command) => admin::attribute(command, &output),
        Command::Rule(command) => admin::rule(command, &output),
        Command::Provider(command) => admin::provider(command, &output),
        Command::Realm(command) => admin::realm(command, &output),
        Command::Scope(command) => admin::scope(command, &output),
        Command::Resource(command) => admin::resource(command, &output),
        Command::Revoke(command) => admin::revoke(command, &output),
        Command::Node(command) => admin::node(command, &output),
        Command::Audit(command) => audit::run(command, &output),
        Command::Compact(command) => compact::run(command, &output),
        Command::Agent(command) => agent::run(command, &output),
        Command::Agents(command) => admin::agents(command, &output),
        Command::ApiKey(command) => block_on(command.run(&output)).and_then(|done| done),
        Command::Mcp(command) => mcp::run(command, &output),
        Command::Store(command) => store::run(command, &output),
        Command::Backup(arguments) => arguments.run(&output),
        Command::Restore(arguments) => arguments.run(&output),
        Command::Upgrade(command) => command.run(&output),
        Command::Doctor(arguments) => arguments.run(&output),
        Command::Plan(arguments) => arguments.run(&output),
        Command::Apply(arguments) => arguments.run(&output),
        Command::Export(arguments) => arguments.run(&output),
        Command::Diff(arguments) => arguments.run(&output),
        Command::Config(command) => config::run(command, &output),
        Command::Explain(arguments) => explain::run(&arguments, &output),
        Command::Status(command) => status::run(&command, &output),
        Command::Setup(command) => {
            let routes: Vec<&'static str> = crate::serve::router().paths().collect();
            command.run(&routes, &output)
        }
        Command::Login(command) => block_on(command.run(&output)).and_then(|done| done),
        Command::Version => version(&output),
        Command::Completions { shell } => completions(shell),
        Command::Man(command) => manual::run(&command, &output),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => output.fail(&failure),
    }
}

fn version(output: &Output) -> Result<(), Failure> {
    let commit = option_env!("SIGNET_COMMIT").filter(|commit| !commit.is_empty());
    let answer = serde_json::json!({ "version": env!("CARGO_PKG_VERSION"), "commit": commit });
    output.print(&answer, || format!("signet {}", VERSION.as_str()))
}

fn completions(shell: clap_complete::Shell) -> Result<(), Failure> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Arguments::command(), "signet", &mut script);
    output::write_line(String::from_utf8_lossy(&script).trim_end())
}

/// Runs one future on a small runtime: the commands' own requests need no threads.
pub fn block_on<F: Future>(future: F) -> Result<F::Output, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|e| Failure::unusable(format!("cannot start: {e}")))?;
    Ok(runtime.block_on(future))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_arguments_are_consistent() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn every_command_has_help_with_an_example() {
        fn walk(command: &clap::Command, path: &str) {
            let help = command
                .get_after_help()
                .map(ToString::to_string)
                .unwrap_or_default();
            assert!(
                help.contains("Example:\n  signet "),
                "{path} has no example"
            );
            assert!(
                command.get_about().is_some(),
                "{path} says nothing about itself"
            );
            for sub in command.get_subcommands() {
                walk(sub, &format!("{path} {}", sub.get_name()));
            }
        }
        walk(&Arguments::command(), "signet");
    }

    #[test]
    fn no_argument_takes_a_secret() {
        fn walk(command: &clap::Command, path: &str) {
            for argument in command.get_arguments() {
                let name = argument.get_id().as_str();
                let secret = ["password", "secret", "passphrase"]
                    .iter()
                    .any(|s| name.contains(s));
                let flag = !argument.get_action().takes_values() || name.ends_with("_file");
                assert!(!secret || flag, "{path} {name}");
            }
            for sub in command.get_subcommands() {
                walk(sub, &format!("{path} {}", sub.get_name()));
            }
        }
        walk(&Arguments::command(), "signet");
    }
}
