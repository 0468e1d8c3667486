//! A server with Alice, her identity, and agents that act for her by way of a client.
use crate::common::{
    SECRET, Server, block_on, client,
    client::{Call, Reply},
    made::{self, random_id},
    people::{Mail, start},
    scope,
};
use serde_json::Value;
use signet_agent::{
    Suite,
    capability::Capability,
    grant::Grant,
    identity::{Created, create},
    object::Signed,
    presentation::Presentation,
    proof::Proof,
};
use signet_crypto::{Algorithm, hash::sha256};
use signet_jose::{jwk::Jwk, jwt::JwtSigner};
use signet_oauth::client::Client;
use signet_oauth::issued::agent_grants::CHAIN_TYPE;
use signet_realm::agents::binding;
use signet_store::Store;
use std::sync::{Arc, Mutex};

pub const EXCHANGE: &str = "urn:ietf:params:oauth:grant-type:token-exchange";
pub const API: &str = "https://api.example";

pub struct World {
    pub server: Server,
    pub user_id: String,
    pub alice: Created,
    pub bob: Created,
    pub carol: Created,
    /// The key that tokens are bound to.
    pub key: JwtSigner,
    pub mail: Mutex<Mail>,
}

pub fn agent(name: &str) -> Created {
    // A minute ago: the server's clock is the system's.
    create(name, Suite::Ed25519, 1_700_000_000).unwrap()
}

pub fn capabilities(names: &[&str]) -> Vec<Capability> {
    names.iter().map(|name| name.parse().unwrap()).collect()
}

pub fn sign(by: &Created, body: &Grant) -> Signed<Grant> {
    Signed::sign(body, &by.document.signer(&by.keys)).unwrap()
}

pub fn thumbprint(key: &JwtSigner) -> [u8; 32] {
    Jwk::new(key.key().public().unwrap().clone()).thumbprint()
}

impl World {
    pub fn new() -> World {
        World::with(|_| {})
    }

    pub fn with(change: impl FnOnce(&mut Client)) -> World {
        World::over(None, change)
    }

    /// Over a store of the test's own.
    pub fn over(store: Option<Arc<dyn Store>>, change: impl FnOnce(&mut Client)) -> World {
        let mail = Mail::new();
        let mut platform = Client {
            may_exchange_agent_grants: true,
            resources: vec![API.to_owned()],
            ..client("platform")
        };
        change(&mut platform);
        let operator = Client {
            scope: scope("signet:admin"),
            ..client("operator")
        };
        let server = start(&mail, |setup| {
            setup.store = store;
            setup.settings.agents.enabled = true;
            setup.settings.agents.constraints = vec![("x-env".to_owned(), "test".to_owned())];
            setup.clients.extend([platform, operator, client("plain")]);
        });
        server.configure(|_, declared| {
            let resource = signet_oauth::registry::Resource {
                identifier: API.to_owned(),
                name: None,
                scopes: Default::default(),
                access_token_signed_response_alg: None,
                access_token_format: None,
                access_token_lifetime: None,
                introspectors: vec!["web".to_owned()],
                claims: Vec::new(),
                revision: 1,
            };
            declared.resources.insert(API.to_owned(), resource.into());
        });
        let users = &server.realm.people.users;
        let user = block_on(users.by_login("alice", server.realm.now()));
        let user_id = user.unwrap().unwrap().id;
        let world = World {
            alice: agent("alice"),
            bob: agent("bob"),
            carol: agent("carol"),
            key: made::signer(Algorithm::Es256),
            user_id,
            server,
            mail: Mutex::new(mail),
        };
        world.bind(&world.user_id, &world.alice);
        world
    }

    pub fn now(&self) -> u64 {
        self.server.realm.now()
    }

    pub fn bind(&self, user_id: &str, identity: &Created) {
        let store = &*self.server.realm.store;
        block_on(binding::bind(
            store,
            user_id,
            &identity.document,
            self.now(),
        ))
        .unwrap();
    }

    /// A grant for an hour.
    pub fn grant(&self, by: &Created, to: &Created, names: &[&str], max_depth: u64) -> Grant {
        let all = capabilities(names);
        let mut grant = Grant::new(by.document.by(), &to.document, all, self.now(), 3600);
        grant.max_depth = max_depth;
        grant
    }

    /// From Alice to Bob.
    pub fn direct(&self) -> Vec<Signed<Grant>> {
        let body = self.grant(&self.alice, &self.bob, &["read:*", "scope:openid"], 2);
        vec![sign(&self.alice, &body)]
    }

    /// From Alice to Bob to Carol.
    pub fn chain(&self) -> Vec<Signed<Grant>> {
        let mut links = self.direct();
        let body = self.grant(&self.bob, &self.carol, &["read:files/*", "scope:openid"], 0);
        links.push(sign(&self.bob, &body.under(&links[0]).unwrap()));
        links
    }

    pub fn prove(&self, holder: &Created, links: &[Signed<Grant>]) -> Proof {
        let mut nonce = signet_crypto::random::bytes::<16>().to_vec();
        nonce.extend_from_slice(&thumbprint(&self.key));
        Proof {
            by: holder.document.by(),
            grant: links.last().unwrap().id(),
            audience: self.server.issuer(),
            at: self.now(),
            nonce,
            method: None,
        }
    }

    pub fn present(&self, holder: &Created, links: &[Signed<Grant>]) -> Presentation {
        let proof = self.prove(holder, links);
        self.present_with(holder, links, &proof)
    }

    pub fn present_with(
        &self,
        holder: &Created,
        links: &[Signed<Grant>],
        proof: &Proof,
    ) -> Presentation {
        Presentation {
            grants: links.to_vec(),
            proof: Signed::sign(proof, &holder.document.signer(&holder.keys)).unwrap(),
            documents: Vec::new(),
            declarations: Vec::new(),
            births: Vec::new(),
        }
    }

    /// The request, with a DPoP proof of `key` where there is one.
    pub fn ask(&self, shown: &str, key: Option<&JwtSigner>, more: &[(&str, &str)]) -> Reply {
        self.ask_as("platform", shown, key, more)
    }

    pub fn ask_as(
        &self,
        client_id: &str,
        shown: &str,
        key: Option<&JwtSigner>,
        more: &[(&str, &str)],
    ) -> Reply {
        let mut form = vec![
            ("grant_type", EXCHANGE),
            ("subject_token_type", CHAIN_TYPE),
            ("subject_token", shown),
        ];
        form.extend(more);
        let mut call = Call::post("/token").basic(client_id, SECRET).form(&form);
        if let Some(key) = key {
            let proof = made::proof(
                &self.server,
                key,
                &made::Proof {
                    htm: "POST",
                    path: "/token",
                    jti: &random_id(),
                    nonce: None,
                    token: None,
                },
            );
            call = call.header("dpop", &proof);
        }
        call.send(&self.server)
    }

    pub fn exchange(&self, holder: &Created, links: &[Signed<Grant>]) -> Reply {
        self.ask(&self.present(holder, links).to_text(), Some(&self.key), &[])
    }

    /// A token of the whole chain, with `openid`.
    #[track_caller]
    pub fn token(&self) -> String {
        self.token_of(&self.carol, &self.chain())
    }

    #[track_caller]
    pub fn token_of(&self, holder: &Created, links: &[Signed<Grant>]) -> String {
        let shown = self.present(holder, links).to_text();
        self.ask(&shown, Some(&self.key), &[("scope", "openid")])
            .expect(200)
            .member("access_token")
    }

    pub fn introspect(&self, token: &str) -> Value {
        Call::post("/introspect")
            .basic("platform", SECRET)
            .form(&[("token", token)])
            .send(&self.server)
            .expect(200)
            .json()
    }

    pub fn is_active(&self, token: &str) -> bool {
        self.introspect(token)["active"] == true
    }

    pub fn userinfo(&self, token: &str) -> Reply {
        let proof = made::proof(
            &self.server,
            &self.key,
            &made::Proof {
                htm: "GET",
                path: "/userinfo",
                jti: &random_id(),
                nonce: None,
                token: Some(token),
            },
        );
        Call::get("/userinfo")
            .header("authorization", &format!("DPoP {token}"))
            .header("dpop", &proof)
            .send(&self.server)
    }

    /// Asserts that an exchange is refused for this reason.
    #[track_caller]
    pub fn refused(&self, reply: Reply, error: &str, reason: &str) {
        let reply = reply.expect_error(400, error);
        assert_eq!(reply.member("error_description"), reason);
    }

    /// As an administrator.
    pub fn admin(&self, method: http::Method, target: &str, body: Option<&Value>) -> Reply {
        let form = [
            ("grant_type", "client_credentials"),
            ("scope", "signet:admin"),
        ];
        let token = Call::post("/token")
            .basic("operator", SECRET)
            .form(&form)
            .send(&self.server)
            .expect(200)
            .member("access_token");
        let mut call = Call::new(method, target).bearer(&token);
        if let Some(body) = body {
            call = call.json(body);
        }
        call.send(&self.server)
    }

    /// Sends a signed object to the statements endpoint.
    pub fn state(&self, text: &str) -> Reply {
        Call::post("/agent-statements")
            .body("application/json", text.as_bytes())
            .send(&self.server)
    }
}

/// A certificate's thumbprint, from its PEM.
pub fn certificate_thumbprint(pem: &str) -> [u8; 32] {
    use rustls::pki_types::{CertificateDer, pem::PemObject};
    sha256(&CertificateDer::from_pem_slice(pem.as_bytes()).unwrap())
}
