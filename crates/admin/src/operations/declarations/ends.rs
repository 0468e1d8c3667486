//! What ends with a plan, counted: of each client, person, group, role and realm that the plan
//! takes something from.
//!
//! The rules are those of the application: what is asked here of the records that were tried is
//! asked there of the same records in effect. What two changes end is counted with both. Nobody
//! is stopped meanwhile: who logs in between the plan and its application is not in its numbers.
use super::model::{Act, ChangeDocument, CountedDocument, Ending, Why};
use super::people::Step;
use super::person::USER;
use signet_directory::User;
use signet_directory::grants::GrantRow;
use signet_oauth::client::GrantType;
use signet_operation::problem::Problem;
use signet_realm::realms::Realms;
use signet_realm::state::{Realm, RealmId, Snapshot};
use signet_realm::terminate::{Counted, Counts, LookingThrough, Loss};
use std::collections::BTreeMap;

const CLIENT: &str = "client";
const GROUP: &str = "group";
const REALM: &str = "realm";
const ROLE: &str = "role";

impl Ending {
    fn new(kind: &'static str, name: &str, why: Why) -> Ending {
        Ending {
            kind,
            name: name.to_owned(),
            why,
            people: None,
            sessions: None,
            grants: None,
            consents: None,
            agents: None,
        }
    }

    fn counted(self, counts: Counts) -> Ending {
        let some = |counted: Counted| {
            (counted != Counted::default()).then_some(CountedDocument {
                count: counted.count,
                more: counted.more,
            })
        };
        Ending {
            people: some(counts.people),
            sessions: some(counts.sessions),
            grants: some(counts.grants),
            consents: some(counts.consents),
            agents: some(counts.agents),
            ..self
        }
    }
}

/// Why what was issued to a client ends with a change; none: it does not.
pub(super) fn why_client(change: &ChangeDocument) -> Option<Why> {
    let is_disabled = change
        .members
        .iter()
        .any(|member| member.name == "enabled" && member.after == Some(false.into()));
    match change.act {
        _ if change.kind != CLIENT => None,
        Act::Remove => Some(Why::Removed),
        Act::Change if is_disabled => Some(Why::Disabled),
        Act::Add | Act::Change => None,
    }
}

/// What a plan takes from whom.
pub(super) struct Ends<'a> {
    pub(super) real: &'a Realm,
    pub(super) before: &'a Snapshot,
    /// The records as they would be.
    pub(super) after: &'a Snapshot,
    /// Groups or roles change, in which anybody may be.
    pub(super) concerns_everybody: bool,
}

impl Ends<'_> {
    pub(super) async fn count(
        &self,
        changes: &[ChangeDocument],
        steps: &[Step],
    ) -> Result<Vec<Ending>, Problem> {
        let mut endings = Vec::new();
        for change in changes.iter().filter(|change| change.kind == REALM) {
            endings.extend(self.of_realm(change).await?);
        }
        endings.extend(self.of_everybody(changes).await?);
        for step in steps {
            endings.extend(self.of_user(step).await?);
        }
        Ok(endings)
    }

    /// A further realm that answers no more.
    async fn of_realm(&self, change: &ChangeDocument) -> Result<Option<Ending>, Problem> {
        let entry = |of: &Snapshot| of.registry.realms.get(&change.name).cloned();
        let Some(known) = entry(self.before).filter(|known| known.deletes_at.is_none()) else {
            return Ok(None);
        };
        let why = match entry(self.after) {
            Some(then) if then.deletes_at.is_some() => Why::Removed,
            Some(then) if known.answers() && then.suspended => Why::Suspended,
            Some(_) => return Ok(None),
            None => Why::Removed,
        };
        let ending = Ending::new(REALM, &change.name, why);
        let id = RealmId::parse(known.id()).ok();
        let Some((realms, id)) = Realms::of(self.real).zip(id) else {
            return Ok(Some(ending));
        };
        let Some(slot) = realms.table().slot(&id).cloned() else {
            return Ok(Some(ending));
        };
        Ok(Some(match realms.open_suspended(&slot).await {
            Ok(realm) => ending.counted(realm.count_everything().await?),
            // That it ends is said all the same.
            Err(error) => {
                tracing::warn!(realm = change.name, %error, "failed to count what a realm has");
                ending
            }
        }))
    }

    /// What people hold by clients, groups and roles that change: found by looking through all
    /// grants, once for all of them.
    async fn of_everybody(&self, changes: &[ChangeDocument]) -> Result<Vec<Ending>, Problem> {
        let mut clients: BTreeMap<&str, (Why, PeopleAndGrants)> = BTreeMap::new();
        for change in changes.iter().filter(|change| change.kind == CLIENT) {
            if let Some(why) = why_client(change).or_else(|| self.cannot_refresh(change)) {
                clients.insert(&change.name, (why, PeopleAndGrants::default()));
            }
        }
        let mut lost: BTreeMap<(&'static str, String), PeopleAndGrants> = BTreeMap::new();
        let may_lose = self.concerns_everybody && self.may_lose();
        if clients.is_empty() && !may_lose {
            return Ok(Vec::new());
        }
        let mut looking = LookingThrough::default();
        let mut person: Option<(String, Option<User>)> = None;
        while let Some(grants) = self.real.look_through_grants(&mut looking).await? {
            for (user_id, row) in grants {
                if let Some((_, counts)) = clients.get_mut(&*row.client_id) {
                    counts.add(&user_id);
                }
                if !may_lose {
                    continue;
                }
                if person.as_ref().is_none_or(|(id, _)| *id != user_id) {
                    let users = &self.real.people.users;
                    let user = users.by_id(&user_id, self.real.now()).await?;
                    person = Some((user_id.clone(), user));
                }
                let Some((_, Some(user))) = &person else {
                    continue;
                };
                for of in self.lost_by_all(user, &row) {
                    lost.entry(of).or_default().add(&user_id);
                }
            }
        }
        let more = looking.is_cut;
        let clients = clients
            .into_iter()
            .map(|(name, (why, counts))| counts.ending(CLIENT, name, why, more));
        let lost = lost
            .iter()
            .map(|((kind, name), counts)| counts.ending(kind, name, Why::Lost, more));
        Ok(clients.chain(lost).collect())
    }

    /// The groups and roles that a person has no more, where a grant of theirs ends by that.
    fn lost_by_all(&self, user: &User, row: &GrantRow) -> Vec<(&'static str, String)> {
        let claims = user.claims();
        let loss = Loss {
            settings: &self.before.settings,
            then: (&claims, &self.before.registry),
            now: (&claims, &self.after.registry),
            moment: self.real.now(),
        };
        let groups = loss.groups().into_iter().map(|name| (GROUP, name));
        let roles = loss.roles().into_iter().map(|name| (ROLE, name));
        let names = groups
            .chain(roles)
            .map(|(kind, name)| (kind, name.to_owned()));
        let names: Vec<_> = names.collect();
        match names.is_empty() || !loss.ends(row) {
            true => Vec::new(),
            false => names,
        }
    }

    /// A client that may not refresh any more: its refresh tokens are refused from then on.
    fn cannot_refresh(&self, change: &ChangeDocument) -> Option<Why> {
        let may = |of: &Snapshot| {
            let client = of.registry.clients.get(&change.name);
            client.is_some_and(|client| client.may_use(GrantType::RefreshToken))
        };
        (may(self.before) && !may(self.after)).then_some(Why::CannotRefresh)
    }

    /// Whether somebody who is in one group, or has one role, would lose anything.
    fn may_lose(&self) -> bool {
        let (before, after) = (&self.before.registry.people, &self.after.registry.people);
        let groups = before.groups.iter().any(|(name, group)| {
            let now = after.groups.get(name);
            now.is_none_or(|now| {
                now.id != group.id
                    || now.parent != group.parent
                    || group.roles.iter().any(|role| !now.roles.contains(role))
            })
        });
        let roles = before.roles.iter().any(|(name, role)| {
            let now = after.roles.get(name);
            now.is_none_or(|now| now.id != role.id)
        });
        groups || roles
    }

    /// A person of whom everything ends, or what groups and roles gave.
    async fn of_user(&self, step: &Step) -> Result<Option<Ending>, Problem> {
        let Some(user) = step.known() else {
            return Ok(None);
        };
        let ending = |why| Ending::new(USER, &user.username, why);
        if let Some(why) = step.ends() {
            let mut counts = self.real.count_of(&user.id).await?;
            counts.people = Counted::default();
            if why != Why::Removed {
                counts.consents = Counted::default();
            }
            return Ok(Some(ending(why).counted(counts)));
        }
        let states = step.holdings(&self.after.registry.people);
        let mut counts = Counts::default();
        for row in self.real.grants_in_force(&user.id).await? {
            let is_lost = states.windows(2).any(|states| {
                let [then, now] = states else { return false };
                let loss = Loss {
                    settings: &self.before.settings,
                    then: (then, &self.after.registry),
                    now: (now, &self.after.registry),
                    moment: self.real.now(),
                };
                let has_lost = !loss.groups().is_empty() || !loss.roles().is_empty();
                has_lost && loss.ends(&row)
            });
            counts.grants += usize::from(is_lost);
        }
        let is_any = counts != Counts::default();
        Ok(is_any.then(|| ending(Why::Lost).counted(counts)))
    }
}

/// Grants, and how many people they are of, who come one after another.
#[derive(Default)]
struct PeopleAndGrants {
    counts: Counts,
    last: Option<String>,
}

impl PeopleAndGrants {
    fn add(&mut self, user_id: &str) {
        self.counts.grants += 1;
        if self.last.as_deref() != Some(user_id) {
            self.last = Some(user_id.to_owned());
            self.counts.people += 1;
        }
    }

    fn ending(&self, kind: &'static str, name: &str, why: Why, more: bool) -> Ending {
        let mut counts = self.counts;
        counts.people.more |= more;
        counts.grants.more |= more;
        Ending::new(kind, name, why).counted(counts)
    }
}
