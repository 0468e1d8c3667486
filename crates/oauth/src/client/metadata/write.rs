//! Writing a client's metadata.
use super::{MEMBERS, SetBy};
use crate::client::Client;
use signet_encoding::json::Writer;

/// Writes a client's metadata as members of the object that is open; absent values are left out.
pub fn write(w: &mut Writer<'_>, client: &Client) {
    write_those(w, client, SetBy::Registrant);
    // The only subject type (OpenID Connect Core section 8).
    w.member("subject_type").string("public");
}

/// Writes the operator's policy as members of the open object: with [`write`], everything that
/// [`Rules::operator`](super::Rules::operator) reads.
pub fn write_policy(w: &mut Writer<'_>, client: &Client) {
    write_those(w, client, SetBy::Operator);
}

fn write_those(w: &mut Writer<'_>, client: &Client, set_by: SetBy) {
    for member in MEMBERS.iter().filter(|member| member.set_by == set_by) {
        member.write(client, w);
    }
}
