//! ZITADEL: what `POST /admin/v1/export` answers, organizations with everything in them. From its
//! published API (ExportDataResponse, DataOrg and the requests in it) and the source of its export,
//! not from a running one.
//!
//! The export has no client ids: applications as `apps/_search` lists them have, and are read from
//! files beside it.

mod apps;
mod form;
mod known;
mod people;
mod rows;

use std::collections::HashSet;

use crate::moved::{Group, Moved};
use crate::names;
use crate::people::finish;
use crate::read::{Part, ReadError};
use crate::sources::{Options, Source};
use form::{App, Org};

pub(super) const SOURCE: Source = Source {
    name: "zitadel",
    title: "ZITADEL",
    takes: "What `POST /admin/v1/export` with `withPasswords`, `withOtp` and `responseOutput` answers, in JSON. A directory may have beside it what `POST /management/v1/projects/ID/apps/_search` answers: client ids are there alone. Read by its published API; no ZITADEL was run here.",
    endings: &[".json"],
    folders: &[],
    rows: rows::ROWS,
    read,
};

fn read(parts: &[Part], _: &Options) -> Result<Moved, ReadError> {
    let (mut orgs, mut apps): (Vec<Org>, Vec<App>) = (Vec::new(), Vec::new());
    for part in parts {
        let export: form::Export = part.json()?;
        let is_export = export.orgs.is_some() || export.data_orgs.is_some();
        if !is_export && export.result.is_none() {
            return Err(part.error(
                "neither an export (with orgs) nor applications (with result): is it what ZITADEL answered?",
            ));
        }
        let nested = export.data_orgs.map(|data| data.orgs);
        orgs.extend(export.orgs.or(nested).unwrap_or_default());
        apps.extend(export.result.unwrap_or_default());
    }
    let mut moved = Moved {
        from: match &orgs[..] {
            [one] => format!("organization {} of ZITADEL", one.shown()),
            all => format!("{} organizations of ZITADEL", all.len()),
        },
        ..Moved::default()
    };
    if orgs.is_empty() {
        return Err(ReadError {
            place: parts.first().map_or("", |part| &part.name).to_owned(),
            why: "it has no organization".to_owned(),
        });
    }
    let mut known = known::read(&orgs, &mut moved);
    if orgs.len() > 1 {
        let mut taken = HashSet::new();
        for org in &orgs {
            match names::group(&[org.shown()], &mut taken) {
                Some(name) => {
                    known.organizations.insert(org.org_id.clone(), name.clone());
                    moved.groups.push(Group {
                        name,
                        description: None,
                        parent: None,
                        roles: Vec::new(),
                    });
                }
                None => moved
                    .report
                    .add(&rows::ORGANIZATIONS, org.shown(), "no name for a group"),
            }
        }
    }
    apps::read(&orgs, &apps, &mut moved);
    let mut usernames = HashSet::new();
    let mut drafts = Vec::new();
    for org in orgs {
        others(&org, &mut moved);
        drafts.extend(people::read(org, &known, &mut usernames, &mut moved.report));
    }
    finish(&mut moved, drafts, &rows::METADATA);
    Ok(moved)
}

/// What of an organization stays behind.
fn others(org: &Org, moved: &mut Moved) {
    let report = &mut moved.report;
    for user in &org.machine_users {
        let name = user.user.as_ref().map_or("", |user| &user.user_name);
        report.add(&rows::MACHINES, name, "");
    }
    for provider in &org.jwt_idps {
        report.add(&rows::JWT_IDPS, &*provider.idp_id, "");
    }
    for action in &org.actions {
        report.add(&rows::ACTIONS, &*action.action_id, "");
    }
    for grant in &org.project_grants {
        report.add(&rows::PROJECT_GRANTS, &*grant.grant_id, "");
    }
    let members = org.org_members.iter().chain(&org.project_members);
    for member in members.chain(&org.project_grant_members) {
        report.add(&rows::MANAGERS, &*member.user_id, "");
    }
    for (name, value) in &org.others {
        let is_said = match value {
            serde_json::Value::Null => false,
            serde_json::Value::Array(values) => !values.is_empty(),
            _ => true,
        };
        if is_said {
            report.add(&rows::SETTINGS, org.shown(), name);
        }
    }
}

#[cfg(test)]
mod tests;
