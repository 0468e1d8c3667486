//! An installation under load, and how the scenarios get what they prepare from it.

use bytes::Bytes;
use http::{Method, StatusCode};
use signet_jose::jwk::JwkSet;
use tokio::{runtime::Runtime, task::LocalSet};

use crate::client::{Answer, Connection, Failure, Target};
use crate::load::flow::{Provider, RegisteredClient};
use crate::load::operation::CodeFlow;

/// A running installation and a runtime to speak to it with.
pub struct Site {
    /// Its nodes.
    pub provider: Provider,
    runtime: Runtime,
    local: LocalSet,
}

impl Site {
    /// Starts it.
    ///
    /// # Errors
    /// A node that does not start.
    pub fn start(nodes: usize, store: Option<&str>) -> Result<Site, Failure> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let local = LocalSet::new();
        let provider = local.block_on(&runtime, Provider::start(nodes, store))?;
        Ok(Site {
            provider,
            runtime,
            local,
        })
    }

    /// Runs something to its end.
    ///
    /// # Errors
    /// Its own.
    pub fn block_on<T>(
        &self,
        future: impl Future<Output = Result<T, Failure>>,
    ) -> Result<T, Failure> {
        self.local.block_on(&self.runtime, future)
    }

    /// Where the load goes.
    ///
    /// # Errors
    /// A node without a port.
    pub fn targets(&self) -> Result<Vec<Target>, Failure> {
        self.provider.targets()
    }

    /// The `Host` of each node.
    pub(super) fn hosts(&self) -> Result<Vec<String>, Failure> {
        let targets = self.targets()?;
        let hosts = targets
            .iter()
            .map(|target| format!("localhost:{}", target.port));
        Ok(hosts.collect())
    }

    /// A connection to the first node.
    pub(super) async fn connect(&self) -> Result<Connection, Failure> {
        self.targets()?[0].connect().await
    }

    /// `Authorization` of a client with a secret.
    pub(super) fn basic(&self, client: &RegisteredClient) -> Result<String, Failure> {
        let mut requests = self.provider.requests(client, "", 1)?;
        let request = requests.pop().ok_or("no request")?;
        request
            .authorization
            .ok_or_else(|| "client_secret_basic".into())
    }

    /// The published keys, as bytes and parsed; and their path.
    pub(super) fn keys(&self) -> Result<(String, Bytes, JwkSet), Failure> {
        self.block_on(async {
            let mut connection = self.connect().await?;
            let path = "/.well-known/openid-configuration";
            let metadata = connection.send(Method::GET, path, &[], Bytes::new());
            let metadata = metadata.await?.json()?;
            let uri = metadata["jwks_uri"].as_str().ok_or("no jwks_uri")?;
            let path = uri
                .strip_prefix(&self.provider.issuer)
                .ok_or("keys elsewhere")?;
            let answer = connection
                .send(Method::GET, path, &[], Bytes::new())
                .await?;
            let set = JwkSet::parse(&answer.body).map_err(|error| format!("the keys: {error}"))?;
            Ok((path.to_owned(), answer.body.clone(), set))
        })
    }

    /// So many access tokens of `client_credentials`.
    pub(super) fn own_tokens(
        &self,
        client: &RegisteredClient,
        count: usize,
    ) -> Result<Vec<String>, Failure> {
        let authorization = self.basic(client)?;
        self.block_on(async {
            let mut connection = self.connect().await?;
            let mut tokens = Vec::with_capacity(count);
            for _ in 0..count {
                let body = Bytes::from_static(b"grant_type=client_credentials");
                let answer = connection
                    .form("/token", Some(&authorization), body)
                    .await?;
                tokens.push(member(&answer, "access_token")?);
            }
            Ok(tokens)
        })
    }

    /// So many token answers of the development user, by way of the code flow of the client `web`.
    pub(super) fn person_tokens(&self, count: usize) -> Result<Vec<serde_json::Value>, Failure> {
        let web = self.provider.known_client("web")?;
        self.block_on(async {
            let mut flow = CodeFlow::new(&self.provider, &web, &self.redirect()?).await?;
            let mut answers = Vec::with_capacity(count);
            for _ in 0..count {
                answers.push(flow.run().await?);
            }
            Ok(answers)
        })
    }

    /// As [`Site::person_tokens`], the access tokens alone.
    pub(super) fn person_access_tokens(&self, count: usize) -> Result<Vec<String>, Failure> {
        let answers = self.person_tokens(count)?;
        let tokens = answers.iter().map(|answer| {
            let token = answer["access_token"].as_str();
            token
                .map(str::to_owned)
                .ok_or_else(|| "no access_token".into())
        });
        tokens.collect()
    }

    /// Access tokens of the development user that have expired.
    pub(super) fn expired_tokens(&self, count: usize) -> Result<Vec<String>, Failure> {
        let web = self.provider.known_client("web")?;
        let set = |seconds: u32| {
            let member = format!("access_token_lifetime={seconds}");
            self.provider.server.set_client(web.client_id(), &member)
        };
        set(1)?;
        let tokens = self.person_access_tokens(count)?;
        set(3600)?;
        // They end with their second; a server may allow a clock's error beside.
        std::thread::sleep(std::time::Duration::from_millis(2100));
        Ok(tokens)
    }

    /// Revokes tokens of the client `web` (RFC 7009).
    pub(super) fn revoke(&self, tokens: &[String]) -> Result<(), Failure> {
        let web = self.provider.known_client("web")?;
        let authorization = self.basic(&web)?;
        self.block_on(async {
            let mut connection = self.connect().await?;
            for token in tokens {
                let body = Bytes::from(format!("token={token}"));
                let answer = connection
                    .form("/revoke", Some(&authorization), body)
                    .await?;
                if answer.status != StatusCode::OK {
                    return Err(format!("a revocation is answered {}", answer.status).into());
                }
            }
            Ok(())
        })?;
        if self.provider.count() > 1 {
            // Their bound is milliseconds; what is measured here is not that.
            std::thread::sleep(std::time::Duration::from_millis(500));
        }
        Ok(())
    }

    /// The redirect of the client `web`.
    pub(super) fn redirect(&self) -> Result<String, Failure> {
        let redirect = &self.provider.developer["clients"]["web"]["redirect_uris"][0];
        Ok(redirect.as_str().ok_or("no redirect_uris")?.to_owned())
    }
}

/// A member of an answer of JSON.
pub(super) fn member(answer: &Answer, name: &str) -> Result<String, Failure> {
    let json = answer.json()?;
    let text = json[name].as_str();
    text.map(str::to_owned)
        .ok_or_else(|| format!("no {name}: {json}").into())
}
