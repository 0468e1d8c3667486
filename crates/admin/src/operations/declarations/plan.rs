//! What declarations would change: each is tried, and what came out is compared with what was.
use super::NO_SUCH_KIND;
use super::ends::{self, why_client};
use super::kinds::{DECLARED, Declared, KINDS, Kind};
use super::model::{
    Act, ChangeDocument, Declarations, Ends, MemberChange, Mistake, Named, Object, PlanDocument,
};
use super::order::in_order;
use super::owners::{Owner, Owners};
use super::people::{self, Known, Step};
use super::person::{USER, is_user};
use crate::operations::realms;
use serde_json::{Map, Value};
use signet_crypto::{Secret, hash::sha256};
use signet_encoding::base64url;
use signet_oauth::client::Client;
use signet_operation::problem::Problem;
use signet_realm::records::Together;
use signet_realm::state::{Realm, Snapshot};
use signet_registry::kinds::RecordKind;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;

/// What was tried.
pub(super) struct Planned {
    pub(super) document: PlanDocument,
    /// What the directory owns afterwards.
    pub(super) owned: BTreeSet<Named>,
    /// Groups or roles change, in which anybody may be.
    pub(super) concerns_everybody: bool,
    /// What is done with accounts.
    pub(super) people: Vec<Step>,
    /// Clients that change, as they were and as they become.
    pub(super) clients: Vec<Arc<Client>>,
    /// The records as they become.
    pub(super) after: Arc<Snapshot>,
}

struct Trying<'a> {
    real: &'a Arc<Realm>,
    tried: &'a Arc<Realm>,
    owners: Owners,
    directory: &'a str,
    adopt: bool,
    changes: Vec<ChangeDocument>,
    mistakes: Vec<Mistake>,
    /// What each change was of, which names the plan beside what it shows.
    revisions: Vec<u64>,
    owned: BTreeSet<Named>,
    people: Vec<Step>,
}

/// Tries all of it. `secrets`: whether a secret is compared with the one that is there.
///
/// # Errors
/// Where nothing can be tried at all; what is wrong with an object is among the mistakes.
pub(super) async fn plan(
    realm: &Arc<Realm>,
    together: &Together<'_>,
    wanted: &Declarations,
    secrets: bool,
) -> Result<Planned, Problem> {
    let owners = Owners::read(realm).await?;
    let before = owners.owned(&wanted.directory);
    let mut trying = Trying {
        real: realm,
        tried: &together.tried,
        owners,
        directory: &wanted.directory,
        adopt: wanted.adopt,
        changes: Vec::new(),
        mistakes: Vec::new(),
        revisions: Vec::new(),
        owned: BTreeSet::new(),
        people: Vec::new(),
    };
    let declared = trying.sort(wanted);
    let removed = trying.removed(wanted, &declared).await?;
    for kind in KINDS {
        let (ordered, in_circles) = in_order(kind, &wanted.objects);
        for object in in_circles {
            let circle = Problem::invalid("it is in a circle, or names one that is");
            trying.mistake(&named(object), &circle);
        }
        for object in ordered {
            if declared
                .get(&named(object))
                .is_some_and(|one| std::ptr::eq(*one, object))
            {
                trying.put(kind, object, secrets).await?;
            }
        }
    }
    for object in wanted.objects.iter().filter(|one| is_user(&one.kind)) {
        if declared.contains_key(&named(object)) {
            trying.put_user(object).await?;
        }
    }
    let gone = before.iter().filter(|named| !declared.contains_key(*named));
    let gone: BTreeSet<&Named> = gone.chain(&removed).collect();
    let goes = |named: &Named| wanted.prune || removed.contains(named);
    let mut left = Vec::new();
    for user in gone.iter().filter(|named| is_user(&named.kind)) {
        trying.leave_user(user, goes(user), &mut left).await?;
    }
    for kind in KINDS.iter().rev() {
        let of_kind = gone
            .iter()
            .filter(|named| named.kind == kind.declared.kind());
        let mut of_kind: Vec<&Named> = of_kind.copied().collect();
        if kind.record == RecordKind::Group {
            // What is inside goes first.
            let snapshot = realm.snapshot();
            let groups = &snapshot.registry.people.groups;
            of_kind.sort_by_key(|named| {
                let up = |name: &String| groups.get(name).and_then(|group| group.parent.clone());
                let ways = std::iter::successors(Some(named.name.clone()), up).take(16);
                std::cmp::Reverse(ways.count())
            });
        }
        for named in of_kind {
            trying.leave(kind, named, goes(named), &mut left).await?;
        }
    }
    for mistake in &mut trying.mistakes {
        let object = wanted
            .objects
            .iter()
            .find(|object| object.kind == mistake.kind && object.name == mistake.name);
        mistake.member = object.and_then(|object| member_of(object, &mistake.detail));
    }
    trying.finish(together, &before, left).await
}

fn declared_of(kind: &str) -> Option<&'static Declared> {
    DECLARED.iter().find(|declared| declared.kind() == kind)
}

/// The member that words are about: the one that they begin with, or else one that they name.
fn member_of(object: &Object, words: &str) -> Option<String> {
    let declared = declared_of(&object.kind)?;
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let words: Vec<&str> = words.split(|c| !is_part(c)).collect();
    let first = words.first().copied().unwrap_or_default();
    // One that is missing is none of the object's, and is named all the same.
    if declared.schema()["properties"].get(first).is_some() {
        return Some(first.to_owned());
    }
    let mut named = object.members.keys().filter(|member| {
        let one = member.strip_suffix('s').unwrap_or(member);
        member.as_str() != declared.id && (words.contains(&member.as_str()) || words.contains(&one))
    });
    named.next().cloned()
}

fn named(object: &Object) -> Named {
    Named {
        kind: object.kind.clone(),
        name: object.name.clone(),
    }
}

impl Trying<'_> {
    fn mistake(&mut self, of: &Named, problem: &Problem) {
        self.mistakes.push(Mistake {
            kind: of.kind.clone(),
            name: of.name.clone(),
            member: None,
            code: problem.code(),
            detail: problem.detail().to_owned(),
        });
    }

    /// The declared objects by their names; of two of one name, the first.
    fn sort<'w>(&mut self, wanted: &'w Declarations) -> BTreeMap<Named, &'w Object> {
        let mut declared = BTreeMap::new();
        for object in &wanted.objects {
            let of = named(object);
            if declared_of(&object.kind).is_none() {
                self.mistake(&of, &Problem::invalid(NO_SUCH_KIND));
                continue;
            }
            match declared.entry(of) {
                Entry::Vacant(free) => drop(free.insert(object)),
                Entry::Occupied(taken) => {
                    let twice = Problem::invalid("it is declared twice");
                    self.mistake(taken.key(), &twice);
                }
            }
        }
        declared
    }

    /// What is to be removed that there is, and that the directory may remove.
    async fn removed(
        &mut self,
        wanted: &Declarations,
        declared: &BTreeMap<Named, &Object>,
    ) -> Result<BTreeSet<Named>, Problem> {
        let mut removed = BTreeSet::new();
        for of in &wanted.remove {
            if declared.contains_key(of) {
                self.mistake(of, &Problem::invalid("it is declared, and to be removed"));
                continue;
            }
            let kind = KINDS.iter().find(|kind| kind.declared.kind() == of.kind);
            let (is_there, owner) = match kind {
                Some(kind) => {
                    let found = kind.document(&self.real.snapshot(), &of.name);
                    let owner = self.owners.of(self.real, kind, &of.name).await?;
                    (found.is_some(), owner)
                }
                None if is_user(&of.kind) => {
                    let user = people::one(self.real, &of.name).await?;
                    (user.is_some(), self.owners.of_user(&of.name))
                }
                None => {
                    self.mistake(of, &Problem::invalid(NO_SUCH_KIND));
                    continue;
                }
            };
            if !is_there {
                continue;
            }
            match self.may_take(&owner) {
                // Every server has it, and it is as it was.
                Ok(()) if owner == Owner::BuiltIn => {}
                Ok(()) => {
                    removed.insert(of.clone());
                }
                Err(problem) => self.mistake(of, &problem),
            }
        }
        Ok(removed)
    }

    /// Whether the directory may write an object that exists, whose owner is this.
    fn may_take(&self, owner: &Owner) -> Result<(), Problem> {
        let refused = |code, why: String| Err(Problem::new(http::StatusCode::CONFLICT, code, why));
        match owner {
            Owner::Directory(name) if name == self.directory => Ok(()),
            Owner::BuiltIn => Ok(()),
            Owner::Hand if self.adopt => Ok(()),
            Owner::Hand => refused(
                "not_owned",
                "it exists and was made by hand; --adopt takes it over".to_owned(),
            ),
            Owner::Directory(other) => {
                refused("other_directory", format!("the directory {other} owns it"))
            }
            Owner::Configuration => refused(
                "declared_in_configuration",
                "the server's configuration file declares it; change it there".to_owned(),
            ),
            Owner::Registration => refused(
                "registered",
                "the client registered itself, and owns its record".to_owned(),
            ),
            Owner::Scim => refused("provisioned", "it is provisioned by SCIM".to_owned()),
        }
    }

    /// A declared realm that is not there, because somebody gave it another name by hand.
    fn renamed(&self, object: &Object) -> Option<Problem> {
        let own = self.owners.owned(self.directory);
        let was_owned = own.contains(&named(object));
        let snapshot = self.real.snapshot();
        let issuer = object.members.get("issuer").and_then(Value::as_str);
        let entry = realms::renamed(&snapshot, &object.name, issuer, was_owned)?;
        let (old, new, issuer) = (&object.name, &entry.name, &entry.issuer);
        Some(Problem::new(
            http::StatusCode::CONFLICT,
            "renamed",
            format!(
                "it was renamed by hand, from {old} to {new}; to keep that, declare name = \"{new}\" \
                 with issuer = \"{issuer}\" and apply with --adopt; to undo it: signet realm rename {new} {old}"
            ),
        ))
    }

    async fn put(&mut self, kind: &Kind, object: &Object, secrets: bool) -> Result<(), Problem> {
        let of = named(object);
        let before = kind.document(&self.tried.snapshot(), &object.name);
        let mut act = Act::Add;
        let mut adopted = false;
        if before.is_none()
            && kind.record == RecordKind::Realm
            && let Some(problem) = self.renamed(object)
        {
            self.mistake(&of, &problem);
            return Ok(());
        }
        if before.is_some() {
            act = Act::Change;
            let owner = self.owners.of(self.real, kind, &object.name).await?;
            if let Err(problem) = self.may_take(&owner) {
                self.mistake(&of, &problem);
                return Ok(());
            }
            adopted = !matches!(owner, Owner::Directory(_));
        }
        let mut members = object.members.clone();
        let id = kind.declared.id;
        if members.get(id).is_none_or(Value::is_null) {
            members.insert(id.to_owned(), object.name.clone().into());
        }
        let known = before.as_ref().is_some_and(|before| before.has_secret);
        let secret = object.secret.clone().map(Secret::new);
        // Whoever only reads learns nothing of a secret that is there.
        let secret = secret.filter(|_| secrets || !known);
        if let Err(problem) = (kind.put)(self.tried, &object.name, members.into(), secret).await {
            match problem.status() {
                503 => return Err(problem),
                _ => self.mistake(&of, &problem),
            }
            return Ok(());
        }
        let after = kind.document(&self.tried.snapshot(), &object.name);
        self.owned.insert(of);
        let revision = before.as_ref().map_or(0, |before| before.revision);
        let (mut before, mut after) = (
            before.map(|one| one.members).unwrap_or_default(),
            after.map(|one| one.members).unwrap_or_default(),
        );
        for members in [&mut before, &mut after] {
            people::names_for_ids(self.real, kind.record, members).await?;
        }
        self.note(
            kind.declared.kind(),
            &object.name,
            act,
            &before,
            &after,
            revision,
        );
        if adopted && act == Act::Change {
            self.keep_empty();
        }
        Ok(())
    }

    /// The change that was noted last is one also where no member changes.
    fn keep_empty(&mut self) {
        if let Some(last) = self.revisions.last_mut() {
            *last |= ADOPTED;
        }
    }

    fn note(
        &mut self,
        kind: &'static str,
        name: &str,
        act: Act,
        before: &Map<String, Value>,
        after: &Map<String, Value>,
        revision: u64,
    ) {
        let names: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
        let members = names.into_iter().filter_map(|member| {
            let (then, now) = (before.get(member), after.get(member));
            (then != now).then(|| MemberChange {
                name: member.clone(),
                before: then.cloned(),
                after: now.cloned(),
            })
        });
        self.changes.push(ChangeDocument {
            kind,
            name: name.to_owned(),
            act,
            members: members.collect(),
        });
        self.revisions.push(revision);
    }

    async fn put_user(&mut self, object: &Object) -> Result<(), Problem> {
        let of = named(object);
        let known = match Known::find(self.real, &object.name).await {
            Ok(known) => known,
            Err(problem) if problem.status() == 503 => return Err(problem),
            Err(problem) => {
                self.mistake(&of, &problem);
                return Ok(());
            }
        };
        let owner = self.owners.of_user(&object.name);
        if known.is_some()
            && let Err(problem) = self.may_take(&owner)
        {
            self.mistake(&of, &problem);
            return Ok(());
        }
        let mut members = object.members.clone();
        members.insert("username".to_owned(), object.name.clone().into());
        let wanted = match people::wanted(members, &self.tried.snapshot(), self.real.now()) {
            Ok(wanted) => wanted,
            Err(problem) => {
                self.mistake(&of, &problem);
                return Ok(());
            }
        };
        self.owned.insert(of);
        let act = if known.is_some() {
            Act::Change
        } else {
            Act::Add
        };
        let before = known.as_ref().map(Known::members).unwrap_or_default();
        let password = object.secret.clone().map(Secret::new);
        self.note(USER, &object.name, act, &before, &wanted.members(), 0);
        if act == Act::Add
            && password.is_some()
            && let Some(change) = self.changes.last_mut()
        {
            change.members.push(secret_change("password"));
        }
        if act == Act::Change && owner == Owner::Hand {
            self.keep_empty();
        }
        self.people.push(Step::Put {
            known: known.map(Box::new),
            wanted: Box::new(wanted),
            password,
        });
        Ok(())
    }

    /// What the directory owned before and declares no more.
    async fn leave(
        &mut self,
        kind: &Kind,
        of: &Named,
        prune: bool,
        left: &mut Vec<Named>,
    ) -> Result<(), Problem> {
        let Some(before) = kind.document(&self.tried.snapshot(), &of.name) else {
            return Ok(());
        };
        if !prune {
            self.owned.insert(of.clone());
            left.push(of.clone());
            return Ok(());
        }
        if let Err(problem) = (kind.remove)(self.tried, &of.name).await {
            if problem.status() == 503 {
                return Err(problem);
            }
            self.mistake(of, &problem);
            return Ok(());
        }
        let mut members = before.members;
        people::names_for_ids(self.real, kind.record, &mut members).await?;
        let (name, none) = (&of.name, Map::new());
        let is_back = kind.document(&self.tried.snapshot(), name);
        match is_back {
            // What every server has goes back to its own words.
            Some(after) => self.note(
                kind.declared.kind(),
                name,
                Act::Change,
                &members,
                &after.members,
                before.revision,
            ),
            None => self.note(
                kind.declared.kind(),
                name,
                Act::Remove,
                &members,
                &none,
                before.revision,
            ),
        }
        Ok(())
    }

    async fn leave_user(
        &mut self,
        of: &Named,
        prune: bool,
        left: &mut Vec<Named>,
    ) -> Result<(), Problem> {
        let Some(known) = Known::find(self.real, &of.name).await? else {
            return Ok(());
        };
        if !prune {
            self.owned.insert(of.clone());
            left.push(of.clone());
            return Ok(());
        }
        let members = known.members();
        self.note(USER, &of.name, Act::Remove, &members, &Map::new(), 0);
        self.people.push(Step::Remove(Box::new(known)));
        Ok(())
    }

    async fn finish(
        mut self,
        together: &Together<'_>,
        before: &BTreeSet<Named>,
        left: Vec<Named>,
    ) -> Result<Planned, Problem> {
        let changed = together.changed().await;
        for one in &changed {
            let kind = KINDS.iter().find(|kind| kind.record == one.kind);
            let Some(kind) = kind else { continue };
            let own = kind.declared.kind();
            let noted = self
                .changes
                .iter_mut()
                .find(|change| change.kind == own && change.name == one.name);
            match noted {
                Some(change) => {
                    let secret = kind.declared.secret;
                    if let Some(secret) = secret.filter(|_| one.differs(kind.stored_secret)) {
                        change.members.push(secret_change(secret));
                    }
                }
                // It goes with another one: a role with its client.
                None => {
                    let snapshot = self.real.snapshot();
                    let members = kind.document(&snapshot, &one.name).map(|d| d.members);
                    let members = members.unwrap_or_default();
                    self.note(own, &one.name, Act::Remove, &members, &Map::new(), 0);
                }
            }
        }
        let touched: HashSet<(RecordKind, &str)> = changed
            .iter()
            .map(|one| (one.kind, one.name.as_str()))
            .collect();
        let record_of = |change: &ChangeDocument| {
            let kind = KINDS
                .iter()
                .find(|kind| kind.declared.kind() == change.kind)?;
            Some(kind.record)
        };
        let mut kept = Vec::new();
        let mut revisions = Vec::new();
        for (change, revision) in self.changes.into_iter().zip(self.revisions) {
            let differs = match record_of(&change) {
                Some(record) => touched.contains(&(record, change.name.as_str())),
                None => !change.members.is_empty(),
            };
            if differs || revision & ADOPTED != 0 {
                revisions.push(revision);
                kept.push(change);
            }
        }
        let (then, now) = (self.real.snapshot(), self.tried.snapshot());
        let of_clients = kept
            .iter()
            .filter(|change| record_of(change) == Some(RecordKind::Client));
        let clients = of_clients.flat_map(|change| {
            let both = [&then, &now].into_iter();
            both.filter_map(|snapshot| snapshot.registry.clients.get(&change.name).cloned())
        });
        let clients = clients.collect();
        let mut ends = Ends::default();
        for change in &kept {
            if why_client(change).is_some() {
                ends.clients.push(change.name.clone());
            }
        }
        let mut steps = Vec::new();
        for step in self.people {
            if let Some(name) = kept_user(&kept, &step) {
                if step.ends().is_some() {
                    ends.users.push(name);
                }
                steps.push(step);
            }
        }
        let concerns_everybody = changed
            .iter()
            .any(|one| matches!(one.kind, RecordKind::Group | RecordKind::Role));
        // What was owned and is gone is owned no more; a mistake changes nothing.
        let owned = match self.mistakes.is_empty() {
            true => self.owned,
            false => before.clone(),
        };
        let mut document = PlanDocument {
            plan: String::new(),
            changes: kept,
            ends,
            left,
            mistakes: self.mistakes,
        };
        let said = serde_json::to_vec(&(&document, &revisions)).unwrap_or_default();
        document.plan = base64url::encode(&sha256(&said));
        if document.mistakes.is_empty() {
            // After the hash: who logs in meanwhile makes no other plan of it.
            let ends = ends::Ends {
                real: self.real,
                before: &self.real.snapshot(),
                after: &self.tried.snapshot(),
                concerns_everybody,
            };
            document.ends.counted = ends.count(&document.changes, &steps).await?;
        }
        Ok(Planned {
            document,
            owned,
            concerns_everybody,
            people: steps,
            clients,
            after: now,
        })
    }
}

/// Beside a revision: the object changes its owner.
const ADOPTED: u64 = 1 << 63;

fn secret_change(name: &str) -> MemberChange {
    MemberChange {
        name: name.to_owned(),
        before: None,
        after: None,
    }
}

/// The user of a step, where the plan has a change of it.
fn kept_user(kept: &[ChangeDocument], step: &Step) -> Option<String> {
    let name = step.username();
    kept.iter()
        .any(|change| is_user(change.kind) && change.name == name)
        .then(|| name.to_owned())
}
