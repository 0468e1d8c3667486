//! One connection, ready for work: to a server that takes writes, with the statements prepared.
use super::{
    Options, PostgresError,
    layout::{self, Place},
    schema,
    tls::MakeTls,
};
use crate::schema::Migration;
use futures_util::future::{self, try_join_all};
use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::SeqCst},
    },
    time::Duration,
};
use tokio::{task::JoinHandle, time::timeout};
use tokio_postgres::{AsyncMessage, Client, Config, Statement, config::SslMode};

/// Seconds that connecting to one host of a PostgreSQL store may take
pub const CONNECT_SECONDS: u64 = 2;

/// Seconds that each of a transaction's two round trips may take; then the database counts as lost
pub const PHASE_SECONDS: u64 = 3;

/// The statements are simple, and each has one good plan: by its indexes. A transaction that lost
/// its client lets go of its locks soon.
const SETTINGS: &str = "SET jit = off; SET plan_cache_mode = force_generic_plan;
    SET enable_seqscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off;
    SET enable_bitmapscan = off; SET lock_timeout = '2s';
    SET idle_in_transaction_session_timeout = '10s'";

/// Which of the servers that speak the protocol.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Dialect {
    PostgreSql,
    /// CockroachDB, YugabyteDB: serializable by themselves, without `LOCK TABLE`.
    Distributed,
}

impl Dialect {
    /// On PostgreSQL the locks of `signet_lock` order all changes of a key, and each statement sees
    /// what was committed before it began: with every writer taking them first, that is
    /// serializable, and nothing fails for it. Elsewhere a snapshot may be older than the locks.
    pub(super) fn begin(self) -> &'static str {
        match self {
            Dialect::PostgreSql => "BEGIN ISOLATION LEVEL READ COMMITTED",
            Dialect::Distributed => "BEGIN ISOLATION LEVEL SERIALIZABLE",
        }
    }
}

/// How many statements are prepared, and which.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Query {
    Get { ends: bool },
    Look { ends: bool },
    Partition { ends: bool },
    FirstPage { ends: bool },
    Page { ends: bool },
    Upsert(Place),
    Delete(Place),
    Buckets,
    Lock,
    Mark,
    ReadMark,
    Schema,
}

impl Query {
    fn text(self) -> String {
        match self {
            Query::Get { ends } => layout::get(ends),
            Query::Look { ends } => layout::look(ends),
            Query::Partition { ends } => layout::partition(ends),
            Query::FirstPage { ends } => layout::page(ends, true),
            Query::Page { ends } => layout::page(ends, false),
            Query::Upsert(place) => layout::upsert(place),
            Query::Delete(place) => layout::delete(place),
            Query::Buckets => layout::BUCKETS.to_owned(),
            Query::Lock => layout::LOCK.to_owned(),
            Query::Mark => layout::MARK.to_owned(),
            Query::ReadMark => layout::READ_MARK.to_owned(),
            Query::Schema => schema::READ.to_owned(),
        }
    }

    fn of(purpose: Purpose) -> Vec<Query> {
        let both = |query: fn(bool) -> Query| [query(false), query(true)];
        match purpose {
            Purpose::Reading => [
                both(|ends| Query::Get { ends }),
                both(|ends| Query::Partition { ends }),
                both(|ends| Query::FirstPage { ends }),
                both(|ends| Query::Page { ends }),
            ]
            .concat(),
            Purpose::Writing => Place::all()
                .flat_map(|place| [Query::Upsert(place), Query::Delete(place)])
                .chain(both(|ends| Query::Look { ends }))
                .chain([
                    Query::Schema,
                    Query::Buckets,
                    Query::Lock,
                    Query::Mark,
                    Query::ReadMark,
                ])
                .collect(),
            Purpose::Schema => Vec::new(),
        }
    }
}

/// What a connection is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Purpose {
    Reading,
    Writing,
    /// The layout itself, which may not be there yet.
    Schema,
}

pub(super) struct Session {
    pub(super) client: Client,
    pub(super) dialect: Dialect,
    statements: HashMap<Query, Statement>,
    /// The server said that a commit was not waited for by its standby, though it ought to be.
    pub(super) unsure: Arc<AtomicBool>,
    _driver: Driver,
}

/// Moves the bytes. Ends with its session, so that nothing is sent that nobody waits for.
struct Driver(JoinHandle<()>);

impl Drop for Driver {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Session {
    /// Connects to the first host that takes writes.
    pub(super) async fn open(
        options: &Options,
        purpose: Purpose,
    ) -> Result<Session, PostgresError> {
        let mut last = PostgresError::Unreachable("the URL names no host".to_owned());
        for number in 0..options.address.hosts.len() {
            let patience = Duration::from_secs(CONNECT_SECONDS);
            let host = &options.address.hosts[number];
            let connected = timeout(patience, Session::connect(options, number, purpose)).await;
            match connected {
                Ok(Ok(session)) => return Ok(session),
                Ok(Err(error)) => last = error.at(host),
                Err(_) => {
                    last = PostgresError::Slow.at(host);
                }
            }
        }
        Err(last)
    }

    async fn connect(
        options: &Options,
        number: usize,
        purpose: Purpose,
    ) -> Result<Session, PostgresError> {
        let (address, host) = (&options.address, &options.address.hosts[number]);
        let mut config = Config::new();
        config
            .host(&host.name)
            .port(host.port)
            .user(&address.user)
            .dbname(&address.database)
            .application_name(schema::application(options.migrations))
            .keepalives_idle(Duration::from_secs(10))
            .tcp_user_timeout(Duration::from_secs(10))
            .ssl_mode(match address.uses_tls(host) {
                true => SslMode::Require,
                false => SslMode::Disable,
            });
        if let Some(password) = options.password_of(host)? {
            config.password(password.expose());
        }
        let (client, mut connection) = config.connect(MakeTls::new(address)?).await?;
        let unsure = Arc::new(AtomicBool::new(false));
        let noted = unsure.clone();
        let driver = Driver(tokio::spawn(async move {
            while let Some(Ok(message)) = future::poll_fn(|cx| connection.poll_message(cx)).await {
                if let AsyncMessage::Notice(notice) = message {
                    // "canceling wait for synchronous replication": committed here, and nowhere
                    // else yet.
                    if notice.code().code() == "01000" && notice.severity() == "WARNING" {
                        noted.store(true, SeqCst);
                    }
                    tracing::debug!(
                        notice = notice.message(),
                        "received a notice from the database"
                    );
                }
            }
        }));
        Session::prepare(client, driver, unsure, purpose, options.migrations).await
    }

    async fn prepare(
        client: Client,
        driver: Driver,
        unsure: Arc<AtomicBool>,
        purpose: Purpose,
        migrations: &'static [Migration],
    ) -> Result<Session, PostgresError> {
        let standby: String = client
            .query_one("SHOW transaction_read_only", &[])
            .await?
            .get(0);
        if standby != "off" {
            return Err(PostgresError::Unreachable("it takes no writes".to_owned()));
        }
        let version: String = client.query_one("SELECT version()", &[]).await?.get(0);
        let foreign = version.contains("CockroachDB") || version.contains("-YB-");
        let dialect = match foreign {
            true => Dialect::Distributed,
            false => Dialect::PostgreSql,
        };
        if dialect == Dialect::PostgreSql {
            client.batch_execute(SETTINGS).await?;
            let durable: String = client
                .query_one("SHOW synchronous_commit", &[])
                .await?
                .get(0);
            if durable == "off" {
                // What is answered must be on the disk.
                client.batch_execute("SET synchronous_commit = on").await?;
            }
        }
        if purpose != Purpose::Schema {
            schema::check(&client, migrations).await?;
        }
        let queries = Query::of(purpose);
        let prepared = queries.iter().map(|query| {
            let text = query.text();
            let client = &client;
            async move { client.prepare(&text).await }
        });
        let prepared = try_join_all(prepared).await?;
        Ok(Session {
            statements: queries.into_iter().zip(prepared).collect(),
            client,
            dialect,
            unsure,
            _driver: driver,
        })
    }

    /// # Panics
    /// For a query of another purpose than the session's.
    pub(super) fn statement(&self, query: Query) -> &Statement {
        &self.statements[&query]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{postgres::schema::MIGRATIONS, schema::statements};

    /// Words of what not all the servers have, or have at a price on a table that all nodes write.
    const NOT_EVERYWHERE: &[&str] = &[
        "advisory",
        "pg_advisory_lock",
        "pg_advisory_xact_lock",
        "listen",
        "notify",
        "nextval",
        "serial",
        "bigserial",
        "sequence",
        "identity",
        "trigger",
        "function",
        "procedure",
        "truncate",
        "exclusive",
        "ctid",
        "xmin",
        "merge",
    ];

    #[test]
    fn statements_of_every_connection_use_only_what_all_the_servers_have() {
        let reading = Query::of(Purpose::Reading).into_iter();
        let writing = Query::of(Purpose::Writing).into_iter();
        let sweeping = Place::all().flat_map(|place| [layout::sweep(place), layout::count(place)]);
        let steps = MIGRATIONS.iter();
        let all: Vec<String> = reading
            .chain(writing)
            .map(Query::text)
            .chain(sweeping)
            .chain([layout::OLD_MARKS.to_owned()])
            .chain(steps.flat_map(|step| statements(MIGRATIONS, step.version)))
            .collect();
        assert!(all.len() > 60, "{}", all.len());
        for statement in &all {
            let lower = statement.to_ascii_lowercase();
            let mut words = lower.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
            let found = words.find(|word| NOT_EVERYWHERE.contains(word));
            assert_eq!(found, None, "{statement}");
        }
    }
}
