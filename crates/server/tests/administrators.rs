//! Who may do what in administration: roles, and that nobody rises above their own.

use crate::admin::{Device, admin_client, new_user};
use crate::common::{
    Place, SECRET, Server, Setup, block_on, client, client::Call, in_second_realm, scope,
};
use http::Method;
use serde_json::{Value, json};
use signet_directory::{NewUser, User};
use signet_oauth::administration::ReasonWanted;
use signet_oauth::client::Client;
use signet_operation::facts::Method as OperationMethod;
use signet_operation::right::Right;

/// The roles that every realm has.
pub const ROLES: &[&str] = &[
    "owner",
    "security",
    "people",
    "clients",
    "auditor",
    "help-desk",
];

/// Which of them may perform which operation, written out: a change of the tables has to be written
/// here, too.
pub const MAY: &[(&str, &str)] = &[
    ("listAdministratorRoles", "owner security auditor"),
    ("showAdministratorRole", "owner security auditor"),
    ("writeAdministratorRole", "owner"),
    ("removeAdministratorRole", "owner"),
    ("listApiKeys", "owner security auditor"),
    ("createApiKey", "owner"),
    ("removeApiKey", "owner"),
    ("listAgents", "owner security people auditor"),
    ("registerAgent", "owner security"),
    ("showAgent", "owner security people auditor"),
    ("renewAgent", "owner security"),
    ("stopAgent", "owner security"),
    ("unbindAgent", "owner security"),
    ("endAgentGrant", "owner security"),
    ("listAgentsOfUser", "owner security people auditor"),
    ("stopAgentsOfUser", "owner security"),
    ("showAudit", "owner security auditor"),
    ("listAuditLines", "owner security auditor"),
    ("readAuditSegment", "owner security auditor"),
    ("verifyAudit", "owner security auditor"),
    ("listClients", "owner security clients auditor"),
    ("createClient", "owner clients"),
    ("showClient", "owner security clients auditor"),
    ("replaceClient", "owner clients"),
    ("removeClient", "owner clients"),
    ("changeRedirectUris", "owner clients"),
    ("changePostLogoutRedirectUris", "owner clients"),
    ("rotateClientSecret", "owner clients"),
    ("enableClient", "owner clients"),
    ("disableClient", "owner clients"),
    ("revokeClient", "owner clients"),
    ("listCredentials", "owner security people auditor help-desk"),
    ("removeCredentials", "owner security people help-desk"),
    ("removeCredential", "owner security people help-desk"),
    (
        "exportDeclarations",
        "owner security people clients auditor",
    ),
    ("showDeclaration", "owner security people clients auditor"),
    ("planDeclarations", "owner security people clients auditor"),
    ("applyDeclarations", "owner security people clients"),
    ("exportUsers", "owner security people auditor"),
    ("exportUsersWithCredentials", "owner"),
    ("exportUser", "owner security people auditor"),
    ("listAllGrants", "owner security people auditor help-desk"),
    ("listGrants", "owner security people auditor help-desk"),
    ("revokeGrant", "owner security people help-desk"),
    ("listConsents", "owner security people auditor help-desk"),
    ("withdrawConsent", "owner security people help-desk"),
    ("importClient", "owner clients"),
    ("importUsers", "owner people"),
    ("listKeys", "owner security auditor"),
    ("rotateKeys", "owner security"),
    ("rotateSealingKey", "owner security"),
    ("listLogouts", "owner security people auditor help-desk"),
    ("listMails", "owner security people auditor help-desk"),
    ("listNodes", "owner security auditor"),
    ("inviteNode", "owner"),
    ("removeNode", "owner"),
    ("moveStore", "owner"),
    ("getStoreMove", "owner security auditor"),
    ("getTrace", "owner security auditor"),
    ("listGroups", "owner security people auditor help-desk"),
    ("showGroup", "owner security people auditor help-desk"),
    ("writeGroup", "owner people"),
    ("removeGroup", "owner people"),
    (
        "listGroupMembers",
        "owner security people auditor help-desk",
    ),
    ("listRoles", "owner security people auditor help-desk"),
    ("showRole", "owner security people auditor help-desk"),
    ("writeRole", "owner people"),
    ("removeRole", "owner people"),
    ("listAttributes", "owner security people auditor help-desk"),
    ("showAttribute", "owner security people auditor help-desk"),
    ("writeAttribute", "owner people"),
    ("removeAttribute", "owner people"),
    ("listProviders", "owner security auditor"),
    ("showProvider", "owner security auditor"),
    ("writeProvider", "owner security"),
    ("removeProvider", "owner security"),
    ("listRealms", "owner security auditor"),
    ("showRealm", "owner security auditor"),
    ("writeRealm", "owner"),
    ("suspendRealm", "owner"),
    ("resumeRealm", "owner"),
    ("renameRealm", "owner"),
    ("removeRealm", "owner"),
    ("listResources", "owner security clients auditor"),
    ("showResource", "owner security clients auditor"),
    ("writeResource", "owner clients"),
    ("removeResource", "owner clients"),
    ("listScopes", "owner security clients auditor"),
    ("writeScope", "owner clients"),
    ("removeScope", "owner clients"),
    ("revokeEverywhere", "owner security"),
    ("listRules", "owner security people clients auditor"),
    ("showRule", "owner security people clients auditor"),
    ("writeRule", "owner security"),
    ("removeRule", "owner security"),
    ("explainAccess", "owner security people clients auditor"),
    ("showAccessMode", "owner security people clients auditor"),
    ("listAllSessions", "owner security people auditor help-desk"),
    ("listSessions", "owner security people auditor help-desk"),
    ("endSession", "owner security people help-desk"),
    ("listSettings", "owner security clients auditor"),
    ("lookAtToken", "owner security auditor"),
    ("revokeToken", "owner security"),
    ("listUsers", "owner security people auditor help-desk"),
    ("createUser", "owner people"),
    ("showUser", "owner security people auditor help-desk"),
    ("replaceUser", "owner people"),
    ("removeUser", "owner people"),
    ("setEmail", "owner people"),
    ("setPassword", "owner security people help-desk"),
    ("setUserAttributes", "owner people"),
    ("changeUserGroups", "owner people"),
    ("changeUserRoles", "owner people"),
    ("enableUser", "owner people"),
    ("disableUser", "owner people"),
    ("deleteUserLater", "owner people"),
    ("keepUser", "owner people"),
    ("inviteUser", "owner security people help-desk"),
    ("withdrawInvitation", "owner security people help-desk"),
    ("revokeUser", "owner security people help-desk"),
];

fn server() -> Server {
    Server::start(setup())
}

/// A server whose audit trail is written, for as long as the directory is there.
fn recorded() -> (Server, tempfile::TempDir) {
    let trail = tempfile::tempdir().unwrap();
    let server = Server::start(Setup {
        audit: Some(trail.path().join("audit")),
        ..setup()
    });
    (server, trail)
}

fn setup() -> Setup {
    let provisioning = Client {
        scope: scope("signet:scim"),
        ..client("hr")
    };
    let both = Client {
        scope: scope("signet:admin signet:scim openid"),
        ..client("both")
    };
    Setup {
        clients: vec![client("service"), admin_client(), provisioning, both],
        ..Setup::default()
    }
}

fn with_roles(server: &Server, name: &str, roles: &[&str]) -> User {
    let new = NewUser {
        username: name.to_owned(),
        admin: !roles.is_empty(),
        admin_roles: roles.iter().map(|role| (*role).to_owned()).collect(),
        ..NewUser::default()
    };
    let users = &server.realm.people.users;
    block_on(users.create(new, server.realm.now())).expect("is made")
}

/// An administrator with a token of the admin API.
struct Person<'s> {
    server: &'s Server,
    user: User,
    token: String,
}

impl<'s> Person<'s> {
    fn of(server: &'s Server, name: &str, roles: &[&str]) -> Person<'s> {
        let user = with_roles(server, name, roles);
        let token = Device::log_in(server, &user, "signet:admin", "operator").access_token;
        Person {
            server,
            user,
            token,
        }
    }

    fn call(&self, method: Method, target: &str) -> Call {
        Call::new(method, target).bearer(&self.token)
    }

    /// The status, and the code of a refusal.
    #[track_caller]
    fn expect(&self, method: Method, target: &str, body: Option<&Value>, status: u16) -> Value {
        let mut call = self.call(method.clone(), target);
        if let Some(body) = body {
            call = call.json(body);
        }
        if method == Method::PUT
            && let Some(etag) = self.etag(target)
        {
            call = call.header("if-match", &etag);
        }
        let reply = call.send(self.server);
        assert_eq!(reply.status, status, "{method} {target}: {}", reply.text());
        match reply.body.is_empty() {
            true => Value::Null,
            false => reply.json(),
        }
    }

    fn etag(&self, target: &str) -> Option<String> {
        let reply = self.call(Method::GET, target).send(self.server);
        let tag = reply.header("etag");
        (reply.status == 200 && !tag.is_empty()).then(|| tag.to_owned())
    }

    /// Refused, because its caller may not have power over somebody.
    #[track_caller]
    fn refused(&self, method: Method, target: &str, body: Option<&Value>) {
        let problem = self.expect(method.clone(), target, body, 403);
        assert_eq!(problem["code"], "insufficient_role", "{method} {target}");
    }
}

fn user_at(user: &User) -> String {
    format!("/admin/v1/users/{}", user.id)
}

#[test]
fn every_operation_is_in_the_table_of_who_may() {
    let known: Vec<&str> = signet_admin::rows().map(|row| row.facts().id).collect();
    let told: Vec<&str> = MAY.iter().map(|(id, _)| *id).collect();
    for id in &known {
        assert!(told.contains(id), "{id} is in no row of the table");
    }
    assert_eq!(known.len(), told.len());
}

#[test]
fn an_operation_is_performed_for_the_roles_that_have_it_and_refused_to_all_others() {
    let server = server();
    for role in ROLES {
        let person = Person::of(&server, role, &[role]);
        for row in signet_admin::rows() {
            let facts = row.facts();
            let (id, roles) = MAY.iter().find(|(id, _)| *id == facts.id).unwrap();
            let segments = facts.path.split('/');
            let segments = segments.map(|part| if part.starts_with('{') { "none" } else { part });
            let target = segments.collect::<Vec<_>>().join("/");
            let method = facts.method.http();
            // Without a body: what needs one is refused for that, after its caller is known to
            // be allowed.
            let reply = person.call(method, &target).send(&server);
            let may = roles.split(' ').any(|one| one == *role);
            if may && facts.needs == Right::Reveal {
                let problem = reply.expect(401);
                assert_eq!(problem.member("code"), "insufficient_user_authentication");
                continue;
            }
            assert_eq!(reply.status != 403, may, "{role}: {id}: {}", reply.text());
            if !may {
                assert_eq!(reply.member("code"), "insufficient_role", "{role}: {id}");
                let detail = reply.member("detail");
                let needed = roles.replace(' ', ", ");
                assert!(detail.contains(&format!("{id} needs one of the roles {needed}")));
                assert!(detail.contains(&format!("yours are {role}")), "{detail}");
                assert_eq!(reply.header("www-authenticate"), "", "no scope would do");
            }
        }
    }
}

#[test]
fn an_auditor_reads_all_and_changes_nothing() {
    for row in signet_admin::rows() {
        let facts = row.facts();
        let (_, roles) = MAY.iter().find(|(id, _)| *id == facts.id).unwrap();
        let may = roles.split(' ').any(|role| role == "auditor");
        assert_eq!(may, facts.needs == Right::Read, "{}", facts.id);
        // What shows is no change by another name.
        if facts.needs == Right::Read && facts.method != OperationMethod::Get {
            assert!(["planDeclarations", "lookAtToken"].contains(&facts.id));
        }
    }
}

#[test]
fn who_administered_before_there_were_roles_is_an_owner() {
    let server = server();
    let user = new_user(&server, "old", true);
    assert!(user.admin_roles.is_empty());
    let token = Device::log_in(&server, &user, "signet:admin", "operator").access_token;
    let call = Call::get(&user_at(&user)).bearer(&token);
    let shown = call.send(&server).expect(200).json();
    assert_eq!(shown["admin_roles"], json!(["owner"]));
    let call = Call::new(Method::DELETE, &user_at(&with_roles(&server, "x", &[]))).bearer(&token);
    call.send(&server).expect(204);
}

#[test]
fn the_help_desk_resets_people_without_roles_and_nobody_else() {
    let server = server();
    let desk = Person::of(&server, "desk", &["help-desk"]);
    let plain = with_roles(&server, "plain", &[]);
    let password = json!({ "password": "correct horse battery staple" });
    for role in ROLES {
        let other = with_roles(&server, &format!("the-{role}"), &[role]);
        let at = user_at(&other);
        let doors = [
            (Method::PUT, format!("{at}/password"), Some(&password)),
            (Method::DELETE, format!("{at}/credentials/totp"), None),
            (Method::DELETE, format!("{at}/credentials/passkey/x"), None),
            (Method::POST, format!("{at}/revoke"), None),
            (Method::DELETE, format!("{at}/sessions/x"), None),
            (
                Method::DELETE,
                format!("{at}/grants/AAAAAAAAAAAAAAAAAAAAAA"),
                None,
            ),
            (Method::DELETE, format!("{at}/consents/service"), None),
            (Method::POST, format!("{at}/invitation"), None),
            (Method::DELETE, format!("{at}/invitation"), None),
        ];
        for (method, target, body) in doors {
            match *role {
                // Their own role: they may do all that the other may.
                "help-desk" => {
                    let reply = desk.call(method, &target).send(&server);
                    assert_ne!(reply.status, 403, "{target}");
                }
                _ => desk.refused(method, &target, body),
            }
        }
    }
    let at = user_at(&plain);
    desk.expect(Method::PUT, &format!("{at}/password"), Some(&password), 204);
    desk.expect(Method::POST, &format!("{at}/revoke"), None, 204);
    desk.expect(Method::DELETE, &format!("{at}/credentials/totp"), None, 404);
    // No token, whosever it is.
    let look = json!({ "token": desk.token });
    desk.refused(Method::POST, "/admin/v1/tokens/look", Some(&look));
}

#[test]
fn a_manager_of_people_writes_nobody_who_may_do_more_and_gives_no_role_beyond_their_own() {
    let server = server();
    let manager = Person::of(&server, "manager", &["people"]);
    let plain = with_roles(&server, "plain", &[]);
    let set = |roles: &[&str]| json!({ "admin": false, "enabled": true, "profile": {}, "admin_roles": roles });
    for role in ["owner", "security", "clients", "auditor"] {
        let other = with_roles(&server, &format!("the-{role}"), &[role]);
        let at = user_at(&other);
        let email = json!({ "email": "mine@example.test", "verified": true });
        let by = json!({ "add": [], "remove": [] });
        let attributes = json!({ "attributes": {} });
        let change = json!({ "admin": false, "enabled": true, "profile": {}, "admin_roles": [] });
        let doors = [
            (Method::PUT, at.clone(), Some(&change)),
            (Method::DELETE, at.clone(), None),
            (Method::PUT, format!("{at}/email"), Some(&email)),
            (Method::PUT, format!("{at}/attributes"), Some(&attributes)),
            (Method::POST, format!("{at}/groups"), Some(&by)),
            (Method::POST, format!("{at}/roles"), Some(&by)),
            (Method::POST, format!("{at}/disable"), None),
            (Method::POST, format!("{at}/enable"), None),
            (Method::POST, format!("{at}/deletion"), None),
            (Method::DELETE, format!("{at}/deletion"), None),
        ];
        for (method, target, body) in doors {
            manager.refused(method, &target, body);
        }
        // Nor is somebody made who may do more, in any way.
        manager.refused(Method::PUT, &user_at(&plain), Some(&set(&[role])));
        manager.refused(
            Method::PUT,
            &user_at(&manager.user),
            Some(&json!({
                "admin": true, "enabled": true, "profile": {}, "admin_roles": ["people", role],
            })),
        );
        let new = json!({ "username": "new", "admin_roles": [role] });
        manager.refused(Method::POST, "/admin/v1/users", Some(&new));
        let import = json!({ "users": [{ "username": "new", "admin_roles": [role] }] });
        let done = manager.expect(Method::POST, "/admin/v1/user-import", Some(&import), 200);
        assert_eq!(done["results"][0]["outcome"], "refused", "{done}");
        let object = |name: &str| {
            json!({ "directory": "mine", "adopt": true, "objects": [
            { "kind": "user", "name": name, "members": { "username": name, "admin_roles": [role] } },
        ] })
        };
        for name in ["new", "plain"] {
            manager.refused(
                Method::POST,
                "/admin/v1/declarations/apply",
                Some(&object(name)),
            );
        }
        let taken = json!({ "directory": "mine", "adopt": true, "objects": [{
            "kind": "user", "name": format!("the-{role}"),
            "members": { "username": format!("the-{role}") },
        }] });
        manager.refused(Method::POST, "/admin/v1/declarations/apply", Some(&taken));
    }
    let new = json!({ "username": "new", "admin": true });
    manager.refused(Method::POST, "/admin/v1/users", Some(&new));
    let import = json!({ "users": [{ "username": "new", "admin": true }] });
    let done = manager.expect(Method::POST, "/admin/v1/user-import", Some(&import), 200);
    assert_eq!(done["results"][0]["outcome"], "refused", "{done}");
    // Their own rights, and less, they give.
    let shown = manager.expect(Method::PUT, &user_at(&plain), Some(&set(&["people"])), 200);
    assert_eq!(shown["admin_roles"], json!(["people"]));
    assert_eq!(shown["admin"], true);
    let helper = json!({ "username": "helper", "admin_roles": ["help-desk"] });
    let made = manager.expect(Method::POST, "/admin/v1/users", Some(&helper), 201);
    assert_eq!(made["admin_roles"], json!(["help-desk"]));
    let nobody = json!({ "username": "x", "admin_roles": ["emperor"] });
    let refused = manager.expect(Method::POST, "/admin/v1/users", Some(&nobody), 400);
    assert!(refused["detail"].as_str().unwrap().contains("emperor"));
}

#[test]
fn a_manager_of_clients_touches_and_makes_no_client_that_administers() {
    let server = server();
    let manager = Person::of(&server, "manager", &["clients"]);
    let uris = json!({ "add": ["https://evil.example/cb"] });
    for strong in ["operator", "hr", "both"] {
        let at = format!("/admin/v1/clients/{strong}");
        let document = json!({ "client_name": "Mine", "redirect_uris": ["https://mine.example/"] });
        for (method, target, body) in [
            (Method::PUT, at.clone(), Some(&document)),
            (Method::DELETE, at.clone(), None),
            (Method::POST, format!("{at}/redirect_uris"), Some(&uris)),
            (Method::POST, format!("{at}/secrets"), Some(&json!({}))),
            (Method::POST, format!("{at}/enable"), None),
            (Method::POST, format!("{at}/disable"), None),
            (Method::POST, format!("{at}/revoke"), None),
        ] {
            manager.refused(method, &target, body);
        }
    }
    for scope in [
        "signet:admin",
        "signet:admin.read",
        "signet:scim",
        "api:read signet:admin",
    ] {
        let document = json!({
            "client_id": "new", "grant_types": ["client_credentials"], "scope": scope,
            "token_endpoint_auth_method": "client_secret_basic",
        });
        manager.refused(Method::POST, "/admin/v1/clients", Some(&document));
        manager.refused(Method::POST, "/admin/v1/client-import", Some(&document));
        manager.refused(
            Method::PUT,
            "/admin/v1/clients/service",
            Some(&json!({
                "grant_types": ["client_credentials"], "scope": scope,
                "token_endpoint_auth_method": "client_secret_basic",
            })),
        );
        let declared = json!({ "directory": "mine", "objects": [
            { "kind": "client", "name": "new", "members": document, "secret": SECRET },
        ] });
        manager.refused(
            Method::POST,
            "/admin/v1/declarations/apply",
            Some(&declared),
        );
    }
    // What is no administrator's they do.
    let plain = json!({ "client_name": "Mine", "grant_types": ["client_credentials"], "scope": "api:read",
        "token_endpoint_auth_method": "client_secret_basic" });
    let made = manager.expect(Method::POST, "/admin/v1/clients", Some(&plain), 201);
    let at = format!("/admin/v1/clients/{}", made["client_id"].as_str().unwrap());
    manager.expect(Method::DELETE, &at, None, 204);
}

#[test]
fn a_directory_that_declares_is_bound_by_the_roles_of_its_caller() {
    let server = server();
    let manager = Person::of(&server, "manager", &["people"]);
    let declare = |kind: &str, name: &str, members: Value| json!({ "directory": "mine", "objects": [{ "kind": kind, "name": name, "members": members }] });
    let apply = "/admin/v1/declarations/apply";
    let group = declare("group", "staff", json!({ "name": "staff" }));
    manager.expect(Method::POST, apply, Some(&group), 200);
    for other in [
        declare(
            "scope",
            "mine",
            json!({ "name": "mine", "description": "x" }),
        ),
        declare("rule", "mine", json!({ "name": "mine", "effect": "allow" })),
        declare(
            "administrator_role",
            "mine",
            json!({ "name": "mine", "operations": ["people"] }),
        ),
    ] {
        manager.refused(Method::POST, apply, Some(&other));
    }
    // What they may not read, they are not shown.
    let export = manager.expect(Method::GET, "/admin/v1/declarations", None, 200);
    let kinds: Vec<&str> = export["objects"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|o| o["kind"].as_str())
        .collect();
    assert!(
        kinds.contains(&"group") && kinds.contains(&"user"),
        "{kinds:?}"
    );
    assert!(
        !kinds.contains(&"client") && !kinds.contains(&"scope"),
        "{kinds:?}"
    );
    manager.refused(Method::GET, "/admin/v1/declarations/client/service", None);
}

#[test]
fn provisioning_reaches_no_administrator_above_its_caller() {
    let server = server();
    let owner = with_roles(&server, "boss", &["owner"]);
    let plain = with_roles(&server, "plain", &[]);
    let scim = |role: &str| {
        let user = with_roles(&server, &format!("scim-{role}"), &[role]);
        Device::log_in(&server, &user, "signet:admin signet:scim", "both").access_token
    };
    let at = |user: &User| format!("/scim/v2/Users/{}", user.id);
    let delete = |token: &str, user: &User| {
        let call = Call::new(Method::DELETE, &at(user)).bearer(token);
        call.send(&server).status
    };
    let people = scim("people");
    assert_eq!(delete(&people, &owner), 403);
    assert_eq!(
        Call::get(&at(&plain)).bearer(&people).send(&server).status,
        200
    );
    let auditor = scim("auditor");
    assert_eq!(
        Call::get(&at(&plain)).bearer(&auditor).send(&server).status,
        200
    );
    assert_eq!(delete(&auditor, &plain), 403);
    assert_eq!(
        Call::get(&at(&plain))
            .bearer(&scim("clients"))
            .send(&server)
            .status,
        403
    );
    assert_eq!(delete(&people, &plain), 204);
}

#[test]
fn security_ends_no_owner_by_naming_them_in_a_body() {
    let server = server();
    let guard = Person::of(&server, "guard", &["security"]);
    let owner = with_roles(&server, "boss", &["owner"]);
    let plain = with_roles(&server, "plain", &[]);
    let everywhere = "/admin/v1/revocations";
    guard.refused(Method::POST, everywhere, Some(&json!({ "user": owner.id })));
    guard.refused(
        Method::POST,
        everywhere,
        Some(&json!({ "client": "operator" })),
    );
    guard.expect(
        Method::POST,
        everywhere,
        Some(&json!({ "user": plain.id })),
        200,
    );
}

#[test]
fn the_last_owner_is_neither_demoted_nor_removed() {
    let server = server();
    let owner = Person::of(&server, "boss", &["owner"]);
    // Administrators of other roles are none.
    with_roles(&server, "guard", &["security", "people", "clients"]);
    let demoted =
        json!({ "admin": true, "enabled": true, "profile": {}, "admin_roles": ["people"] });
    let problem = owner.expect(Method::PUT, &user_at(&owner.user), Some(&demoted), 409);
    assert_eq!(problem["code"], "last_administrator");
    let problem = owner.expect(Method::DELETE, &user_at(&owner.user), None, 409);
    assert_eq!(problem["code"], "last_administrator");
    with_roles(&server, "second", &["owner", "auditor"]);
    let shown = owner.expect(Method::PUT, &user_at(&owner.user), Some(&demoted), 200);
    assert_eq!(shown["admin_roles"], json!(["people"]));
}

#[test]
fn a_role_that_is_lost_counts_at_the_next_request_and_ends_the_tokens() {
    let server = server();
    let owner = Person::of(&server, "boss", &["owner"]);
    let manager = Person::of(&server, "manager", &["people", "clients"]);
    manager.expect(Method::GET, "/admin/v1/clients", None, 200);
    let fewer = json!({ "admin": true, "enabled": true, "profile": {}, "admin_roles": ["people"] });
    owner.expect(Method::PUT, &user_at(&manager.user), Some(&fewer), 200);
    manager.expect(Method::GET, "/admin/v1/users", None, 401);
}

#[test]
fn admin_and_admin_roles_say_one_thing() {
    let server = server();
    let owner = Person::of(&server, "boss", &["owner"]);
    let plain = with_roles(&server, "plain", &[]);
    let at = user_at(&plain);
    let set = |admin: bool, roles: Value| json!({ "admin": admin, "enabled": true, "profile": {}, "admin_roles": roles });
    // As `signet user set` sends them: one changed, the other as it was read.
    let shown = owner.expect(Method::PUT, &at, Some(&set(true, json!([]))), 200);
    assert_eq!(shown["admin_roles"], json!(["owner"]));
    let shown = owner.expect(Method::PUT, &at, Some(&set(true, json!(["auditor"]))), 200);
    assert_eq!(shown["admin_roles"], json!(["auditor"]));
    let shown = owner.expect(Method::PUT, &at, Some(&set(false, json!(["auditor"]))), 200);
    assert_eq!(
        (&shown["admin"], &shown["admin_roles"]),
        (&json!(false), &json!([]))
    );
    let shown = owner.expect(Method::PUT, &at, Some(&set(false, json!(["people"]))), 200);
    assert_eq!(
        (&shown["admin"], &shown["admin_roles"]),
        (&json!(true), &json!(["people"]))
    );
    let shown = owner.expect(Method::PUT, &at, Some(&set(true, json!([]))), 200);
    assert_eq!(
        (&shown["admin"], &shown["admin_roles"]),
        (&json!(false), &json!([]))
    );
    let both = set(true, json!(["owner"]));
    owner.expect(Method::PUT, &at, Some(&both), 200);
    owner.expect(Method::PUT, &at, Some(&set(false, json!(["people"]))), 400);
}

#[test]
fn an_own_role_lets_do_what_it_names_and_nothing_else() {
    let server = server();
    let owner = Person::of(&server, "boss", &["owner"]);
    let at = "/admin/v1/administrator-roles/registrar";
    let role = json!({ "description": "Registers clients", "operations": ["createClient", "clients:read"] });
    owner.expect(Method::PUT, at, Some(&role), 201);
    let registrar = Person::of(&server, "reg", &["registrar"]);
    registrar.expect(Method::GET, "/admin/v1/clients", None, 200);
    let document = json!({ "client_id": "new", "grant_types": ["client_credentials"], "scope": "api:read",
        "token_endpoint_auth_method": "client_secret_basic" });
    registrar.expect(Method::POST, "/admin/v1/clients", Some(&document), 201);
    registrar.refused(Method::DELETE, "/admin/v1/clients/new", None);
    registrar.refused(Method::GET, "/admin/v1/users", None);
    registrar.refused(Method::PUT, at, Some(&json!({ "operations": ["clients"] })));
    // A role that changes, or goes, counts at the next request.
    owner.expect(
        Method::PUT,
        at,
        Some(&json!({ "operations": ["clients:read"] })),
        200,
    );
    registrar.refused(Method::POST, "/admin/v1/clients", Some(&document));
    owner.expect(Method::DELETE, at, None, 204);
    registrar.refused(Method::GET, "/admin/v1/clients", None);
}

#[test]
fn an_own_role_names_what_there_is_and_takes_no_name_that_is_taken() {
    let server = server();
    let owner = Person::of(&server, "boss", &["owner"]);
    let at = |name: &str| format!("/admin/v1/administrator-roles/{name}");
    for (name, operations, status) in [
        ("mine", json!(["removeClients"]), 400),
        ("mine", json!(["clients:eat"]), 400),
        ("Mine", json!(["clients"]), 400),
        ("owner", json!(["clients"]), 409),
    ] {
        owner.expect(
            Method::PUT,
            &at(name),
            Some(&json!({ "operations": operations })),
            status,
        );
    }
    owner.expect(Method::DELETE, &at("help-desk"), None, 409);
    let list = owner.expect(Method::GET, "/admin/v1/administrator-roles", None, 200);
    let names: Vec<&str> = list["items"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|role| role["name"].as_str())
        .collect();
    assert_eq!(names, ROLES);
    // Who may write roles, by a role, writes none that may do more.
    owner.expect(
        Method::PUT,
        &at("smith"),
        Some(&json!({ "operations": ["administration", "people"] })),
        201,
    );
    let smith = Person::of(&server, "smith", &["smith"]);
    smith.expect(
        Method::PUT,
        &at("less"),
        Some(&json!({ "operations": ["people:read"] })),
        201,
    );
    smith.refused(
        Method::PUT,
        &at("more"),
        Some(&json!({ "operations": ["clients"] })),
    );
    smith.refused(
        Method::PUT,
        &at("smith"),
        Some(&json!({ "operations": ["administration", "clients"] })),
    );
}

#[test]
fn roles_count_in_their_realm_and_owners_of_the_first_administer_all() {
    in_second_realm(Place::ByPath, || {
        let server = server();
        let first = server.beside();
        for (role, status) in [("owner", 200), ("security", 403), ("help-desk", 403)] {
            let user = with_roles(first, role, &[role]);
            let token = Device::log_in(first, &user, "signet:admin", "operator").access_token;
            let call = Call::get("/admin/v1/users").bearer(&token);
            let reply = call.send(&server).expect(status);
            if status == 403 {
                assert_eq!(reply.member("code"), "insufficient_role");
            }
            Call::get("/admin/v1/users")
                .bearer(&token)
                .send(first)
                .expect(200);
        }
        let own = Person::of(&server, "own", &["owner"]);
        own.expect(Method::GET, "/admin/v1/users", None, 200);
        let reply = own.call(Method::GET, "/admin/v1/users").send(first);
        assert_eq!(reply.status, 401);
    });
}

/// What is said of an act in the audit trail.
fn of(records: &[Value], operation: &str) -> Vec<Value> {
    let own = records.iter().filter(|one| one["operation"] == operation);
    own.cloned().collect()
}

fn wanting(reason: ReasonWanted) -> Server {
    let mut setup = Setup {
        clients: vec![client("service"), admin_client()],
        ..Setup::default()
    };
    setup.settings.reason = reason;
    Server::start(setup)
}

#[test]
fn a_reason_is_asked_for_as_the_realm_says_and_what_is_read_needs_none() {
    let group = json!({ "description": "x" });
    for (wanted, plain, dangerous) in [
        (ReasonWanted::Optional, 201, 204),
        (ReasonWanted::Dangerous, 201, 400),
        (ReasonWanted::Required, 400, 400),
    ] {
        let server = wanting(wanted);
        let owner = Person::of(&server, "boss", &["owner"]);
        let victim = with_roles(&server, "plain", &[]);
        owner.expect(Method::GET, "/admin/v1/groups", None, 200);
        let reply = owner.expect(Method::PUT, "/admin/v1/groups/staff", Some(&group), plain);
        if plain == 400 {
            assert_eq!(reply["code"], "reason_required");
            assert!(reply["detail"].as_str().unwrap().contains("Signet-Reason"));
        }
        let revoke = format!("{}/revoke", user_at(&victim));
        owner.expect(Method::POST, &revoke, None, dangerous);
        let call = owner.call(Method::POST, &revoke);
        let call = call.header("signet-reason", "ticket 4711");
        call.send(&server).expect(204);
    }
}

#[test]
fn a_reason_and_what_changed_are_in_the_audit_trail_without_secrets() {
    let (server, _trail) = recorded();
    let owner = Person::of(&server, "boss", &["owner"]);
    let document = json!({ "client_name": "One", "grant_types": ["client_credentials"], "scope": "api:read",
        "token_endpoint_auth_method": "client_secret_basic" });
    let made = owner.expect(Method::POST, "/admin/v1/clients", Some(&document), 201);
    let at = format!("/admin/v1/clients/{}", made["client_id"].as_str().unwrap());
    let mut document = document;
    document["client_name"] = "Two".into();
    let call = owner
        .call(Method::PUT, &at)
        .header("if-match", &owner.etag(&at).unwrap());
    let call = call.header("signet-reason", "renamed by the team");
    call.json(&document).send(&server).expect(200);
    owner.expect(
        Method::POST,
        &format!("{at}/secrets"),
        Some(&json!({})),
        201,
    );
    let victim = with_roles(&server, "plain", &[]);
    let change = json!({ "admin": false, "enabled": true, "profile": { "name": "Jane Roe" }, "admin_roles": ["people"] });
    owner.expect(Method::PUT, &user_at(&victim), Some(&change), 200);
    let records = server.records();
    let replaced = of(&records, "replaceClient");
    assert_eq!(replaced[0]["reason"], "renamed by the team");
    assert_eq!(
        replaced[0]["changed"],
        json!(["client_name: \"One\" → \"Two\""])
    );
    let rotated = of(&records, "rotateClientSecret");
    assert_eq!(rotated[0]["changed"], json!(["secrets"]));
    assert!(rotated[0].get("reason").is_none());
    let user = of(&records, "replaceUser");
    assert_eq!(
        user[0]["changed"],
        json!(["admin_roles: [] → [\"people\"]", "profile"])
    );
    assert!(!format!("{user:?}").contains("Jane"), "{user:?}");
}

const KEYS: &str = "/admin/v1/api-keys";

/// Makes a key: its text and its id.
#[track_caller]
fn key_of(owner: &Person<'_>, roles: &[&str], seconds: u64) -> (String, String) {
    let wanted = json!({ "name": "script", "roles": roles, "expires_in": seconds });
    let made = owner.expect(Method::POST, KEYS, Some(&wanted), 201);
    let text = |member: &str| made[member].as_str().unwrap().to_owned();
    (text("api_key"), text("id"))
}

#[test]
fn an_api_key_may_what_its_roles_may_until_it_ends_or_is_removed() {
    let (server, _trail) = recorded();
    server.stop_clock();
    let owner = Person::of(&server, "boss", &["owner"]);
    let (key, id) = key_of(&owner, &["clients"], 3600);
    assert!(key.starts_with("signet_ak_"), "{key}");
    let get = |key: &str, target: &str| Call::get(target).bearer(key).send(&server);
    assert_eq!(get(&key, "/admin/v1/clients").status, 200);
    let refused = get(&key, "/admin/v1/users").expect(403);
    assert_eq!(refused.member("code"), "insufficient_role");
    // Another door does not know it.
    assert_eq!(get(&key, "/userinfo").status, 401);
    assert_eq!(get(&key, "/scim/v2/Users").status, 401);
    // Shown once; kept as a hash.
    let list = owner.expect(Method::GET, KEYS, None, 200).to_string();
    let secret = key.rsplit_once('_').unwrap().1;
    assert!(list.contains(&id) && !list.contains(secret), "{list}");
    let used = owner.expect(Method::GET, KEYS, None, 200);
    let first = used["items"][0]["last_used_at"].as_u64().unwrap();
    // Written once a minute at the most.
    for (pass, later) in [(30, 0), (31, 61)] {
        server.pass(pass);
        assert_eq!(get(&key, "/admin/v1/clients").status, 200);
        let used = owner.expect(Method::GET, KEYS, None, 200);
        assert_eq!(used["items"][0]["last_used_at"], first + later);
    }
    let (short, _) = key_of(&owner, &["clients"], 60);
    assert_eq!(get(&short, "/admin/v1/clients").status, 200);
    server.pass(60);
    assert_eq!(get(&short, "/admin/v1/clients").status, 401);
    owner.expect(Method::DELETE, &format!("{KEYS}/{id}"), None, 204);
    assert_eq!(get(&key, "/admin/v1/clients").status, 401);
    owner.expect(Method::DELETE, &format!("{KEYS}/{id}"), None, 404);
    let made = of(&server.records(), "createApiKey");
    assert_eq!(made[0]["target_name"], "script");
    assert!(!format!("{made:?}").contains(secret));
}

#[test]
fn an_api_key_never_has_more_than_who_made_it_and_ends_with_them() {
    let server = server();
    let owner = Person::of(&server, "boss", &["owner"]);
    let maker = Person::of(&server, "maker", &["owner"]);
    let (key, _) = key_of(&maker, &["owner"], 3600);
    let get = |target: &str| Call::get(target).bearer(&key).send(&server).status;
    assert_eq!(
        (get("/admin/v1/users"), get("/admin/v1/clients")),
        (200, 200)
    );
    // A key makes no key, and reveals nothing.
    let wanted = json!({ "name": "child", "roles": ["auditor"], "expires_in": 600 });
    let call = Call::post(KEYS).bearer(&key).json(&wanted);
    assert_eq!(
        call.send(&server).expect(409).member("code"),
        "not_of_this_realm"
    );
    let reveal = Call::post("/admin/v1/user-export")
        .bearer(&key)
        .send(&server);
    assert!(
        reveal.status == 401 || reveal.status == 404,
        "{}",
        reveal.status
    );
    let set = |roles: Value| json!({ "admin": true, "enabled": true, "profile": {}, "admin_roles": roles });
    owner.expect(
        Method::PUT,
        &user_at(&maker.user),
        Some(&set(json!(["people"]))),
        200,
    );
    assert_eq!(
        (get("/admin/v1/users"), get("/admin/v1/clients")),
        (200, 403)
    );
    owner.expect(
        Method::POST,
        &format!("{}/disable", user_at(&maker.user)),
        None,
        200,
    );
    assert_eq!(get("/admin/v1/users"), 401);
    owner.expect(
        Method::POST,
        &format!("{}/enable", user_at(&maker.user)),
        None,
        200,
    );
    assert_eq!(get("/admin/v1/users"), 200);
    owner.expect(Method::DELETE, &user_at(&maker.user), None, 204);
    assert_eq!(get("/admin/v1/users"), 401);
}

#[test]
fn api_keys_are_made_by_owners_with_an_end_and_roles_that_there_are() {
    let server = server();
    let owner = Person::of(&server, "boss", &["owner"]);
    let key =
        |roles: Value, seconds: u64| json!({ "name": "x", "roles": roles, "expires_in": seconds });
    for (wanted, word) in [
        (key(json!(["auditor"]), 59), "expires_in"),
        (key(json!(["auditor"]), 31_622_401), "expires_in"),
        (key(json!([]), 600), "roles"),
        (key(json!(["emperor"]), 600), "emperor"),
        (
            json!({ "name": "", "roles": ["auditor"], "expires_in": 600 }),
            "name",
        ),
        (json!({ "name": "x", "roles": ["auditor"] }), "expires_in"),
    ] {
        let refused = owner.expect(Method::POST, KEYS, Some(&wanted), 400);
        assert!(
            refused["detail"].as_str().unwrap().contains(word),
            "{refused}"
        );
    }
    let role = json!({ "operations": ["administration"] });
    owner.expect(
        Method::PUT,
        "/admin/v1/administrator-roles/smith",
        Some(&role),
        201,
    );
    let smith = Person::of(&server, "smith", &["smith"]);
    smith.refused(Method::POST, KEYS, Some(&key(json!(["smith"]), 600)));
}

#[test]
fn guesses_at_api_keys_are_counted_and_good_ones_are_never_held_up() {
    let server = server();
    server.stop_clock();
    let owner = Person::of(&server, "boss", &["owner"]);
    let (key, id) = key_of(&owner, &["clients"], 3600);
    let get = |key: &str| Call::get("/admin/v1/clients").bearer(key).send(&server);
    let wrong = format!("signet_ak_{id}_{}", "A".repeat(43));
    for (at, guess) in [wrong.as_str(), "signet_ak_", "signet_ak_x_y"]
        .into_iter()
        .cycle()
        .take(100)
        .enumerate()
    {
        assert_eq!(get(guess).status, 401, "{at}");
    }
    let refused = get(&wrong).expect(429);
    assert!(refused.header("retry-after").parse::<u64>().unwrap() > 0);
    get(&key).expect(200);
}

#[test]
fn an_owners_key_of_the_first_realm_administers_all_realms_and_another_key_its_own() {
    in_second_realm(Place::ByPath, || {
        let server = server();
        let first = server.beside();
        let owner = Person::of(first, "boss", &["owner"]);
        let get = |key: &str| {
            Call::get("/admin/v1/users")
                .bearer(key)
                .send(&server)
                .status
        };
        let (strong, _) = key_of(&owner, &["owner"], 600);
        let (weak, _) = key_of(&owner, &["people"], 600);
        assert_eq!((get(&strong), get(&weak)), (200, 403));
    });
}
