//! What a kind of record is: one implementation of [`Stored`] says everything of it that the
//! registry, its rows in the store and its way between nodes need.
use signet_oauth::registry::Registry;
use signet_store::{Key, Table};
use std::{any::Any, sync::Arc};

/// How two changes of one member come together.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rule {
    /// The later one holds.
    LastWriter,
    /// A list: an element that one adds and another removes at the same time is in it.
    AddWins,
    /// A list: an element that one adds and another removes at the same time is not in it.
    RemoveWins,
    /// Words, separated by spaces: as [`Rule::RemoveWins`].
    Words,
}

/// A kind of what nodes announce to each other.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum RecordKind {
    /// A client, by `client_id`.
    Client,
    /// A resource server, by its identifier.
    Resource,
    /// A scope, by its name.
    Scope,
    /// A signing key, by `kid`; its private half sealed.
    Key,
    /// A revocation, by its subject: grows only, until its end.
    Revocation,
    /// A group of people, by its name.
    Group,
    /// A role, by its whole name.
    Role,
    /// An attribute of the people's schema, by its name.
    Attribute,
    /// An access rule, by its name.
    Rule,
    /// An identity provider, by its name; its secret sealed.
    Provider,
    /// A further realm of the process, by its name.
    Realm,
    /// A role of administrators, by its name.
    AdministratorRole,
}

/// Where the rows of a kind are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rows {
    /// A table of their own, by name.
    Table(Table),
    /// A partition of [`Table::Setting`], which lists them by name.
    Listed(&'static [u8]),
}

impl Rows {
    /// The row of this name.
    pub fn key(self, name: &str) -> Key {
        match self {
            Rows::Table(table) => Key::new(table, name),
            Rows::Listed(partition) => Key::with_sort(Table::Setting, partition, name),
        }
    }
}

/// How many records of a kind there may be.
#[derive(Clone, Copy, Debug)]
pub struct Most {
    /// The most that a realm may have.
    pub records: usize,
    /// The sentence for one too many.
    pub full: &'static str,
}

/// A kind of record that the registry holds. A new kind is one file of `kinds/` with its
/// implementation and its row, one line in the table, and its name in [`RecordKind`].
pub trait Stored: Any + Clone + Send + Sync + Sized {
    /// Its row.
    const ROW: &'static KindRow;
    /// Where there is a bound on their number.
    const MOST: Option<Most> = None;
    /// What the census ([`crate::census::Census`]) calls them: then every change of the kind has it
    /// as its condition, the bound is exact, and a rule may be over all of them. Others are counted
    /// as this node sees them.
    const COUNTED: Option<&'static str> = None;

    /// What the record is called.
    fn name(&self) -> &str;

    /// What grows at every write; none: whoever writes last holds.
    fn revision(&self) -> Option<u64>;

    /// Says which write it is.
    fn set_revision(&mut self, revision: u64);

    /// Its stored form, a JSON object.
    fn write(&self) -> Vec<u8>;

    /// Reads the stored form.
    ///
    /// # Errors
    /// What is wrong with it, for the log.
    fn read(stored: &[u8]) -> Result<Self, String>;

    /// The record of this name that every server has before anybody writes one.
    fn built_in(_name: &str) -> Option<Self> {
        None
    }

    /// The record of this name in a registry.
    fn get(registry: &Registry, name: &str) -> Option<Arc<Self>>;

    /// Puts the record in its place in a registry, or takes out the one of this name.
    fn set(registry: &mut Registry, name: &str, record: Option<Arc<Self>>);

    /// The names of those that a registry has.
    fn names(registry: &Registry) -> Vec<String>;
}

/// A record of any kind.
pub trait AnyStored: Any + Send + Sync {
    /// What the record is called.
    fn record_name(&self) -> &str;
    /// Its stored form.
    fn to_bytes(&self) -> Vec<u8>;
    /// As itself.
    fn into_any(self: Arc<Self>) -> Arc<dyn Any + Send + Sync>;
}

impl<T: Stored> AnyStored for T {
    fn record_name(&self) -> &str {
        self.name()
    }
    fn to_bytes(&self) -> Vec<u8> {
        self.write()
    }
    fn into_any(self: Arc<Self>) -> Arc<dyn Any + Send + Sync> {
        self
    }
}

impl std::fmt::Debug for dyn AnyStored {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.record_name())
    }
}

/// A row of the table of kinds.
#[derive(Debug)]
pub struct KindRow {
    /// The kind.
    pub kind: RecordKind,
    /// What it is called on the wire.
    pub number: u8,
    /// In words.
    pub what: &'static str,
    /// Where its rows are.
    pub rows: Rows,
    /// How two changes of a member come together.
    pub rule: fn(&str) -> Rule,
    /// What the registry does with one; none: another part of the memory has them (signing keys,
    /// revocations).
    pub registry: Option<InRegistry>,
}

/// A record of a kind that the caller knows.
pub type Record = Arc<dyn AnyStored>;

/// A kind as the registry sees it: [`Stored`], of a type that is not known.
#[derive(Clone, Copy, Debug)]
pub struct InRegistry {
    /// [`Stored::read`]
    pub read: fn(&[u8]) -> Result<Record, String>,
    /// [`Stored::get`]
    pub get: fn(&Registry, &str) -> Option<Record>,
    /// [`Stored::set`]
    pub set: fn(&mut Registry, &str, Option<Record>),
    /// [`Stored::names`]
    pub names: fn(&Registry) -> Vec<String>,
}

impl InRegistry {
    /// What the implementation of a type says.
    pub const fn of<T: Stored>() -> InRegistry {
        InRegistry {
            read: |stored| Ok(Arc::new(T::read(stored)?)),
            get: |registry, name| Some(T::get(registry, name)?),
            set: |registry, name, record| {
                // A record of another kind is none of this one: the row and the type are one.
                let record = record.and_then(|record| record.into_any().downcast::<T>().ok());
                let record = record.or_else(|| T::built_in(name).map(Arc::new));
                T::set(registry, name, record);
            },
            names: T::names,
        }
    }
}

/// A member of which the later change holds, as most are.
pub(crate) const fn last_writer(_: &str) -> Rule {
    Rule::LastWriter
}
