//! One operation of each scenario, as a client does it: on connections that are kept, one request
//! at a time, over the nodes in turns.

use bytes::Bytes;
use http::{Method, StatusCode};

use crate::client::{Answer, Connection, Failure, Target};
use crate::load::flow::{self, Prepared, Provider, RegisteredClient};

/// What is done again and again, and timed.
pub trait Operation {
    /// Does it once.
    fn once(&mut self) -> impl Future<Output = Result<(), Failure>>;

    /// Makes what `count` operations need ahead of the clock: what a client computes is not the
    /// server's time.
    ///
    /// # Errors
    /// Where it cannot be made.
    fn prepare(&mut self, _count: usize) -> Result<(), Failure> {
        Ok(())
    }
}

/// A connection to every node; requests go over them in turns.
pub struct Robin {
    connections: Vec<Connection>,
    at: usize,
}

impl Robin {
    /// Opens the connections.
    ///
    /// # Errors
    /// One that could not be opened.
    pub async fn connect(targets: &[Target]) -> Result<Robin, Failure> {
        let mut connections = Vec::with_capacity(targets.len());
        for target in targets {
            connections.push(target.connect().await?);
        }
        Ok(Robin { connections, at: 0 })
    }

    /// The next node's.
    pub fn turn(&mut self) -> &mut Connection {
        self.at = (self.at + 1) % self.connections.len();
        &mut self.connections[self.at]
    }
}

/// A token for an authenticated client: `client_credentials`.
pub struct TokenRequest<'a> {
    provider: &'a Provider,
    client: &'a RegisteredClient,
    robin: Robin,
    form: &'static str,
    ready: Vec<Prepared>,
}

impl<'a> TokenRequest<'a> {
    /// For a client that is registered.
    ///
    /// # Errors
    /// A connection that could not be opened.
    pub async fn new(
        provider: &'a Provider,
        client: &'a RegisteredClient,
    ) -> Result<TokenRequest<'a>, Failure> {
        Ok(TokenRequest {
            provider,
            client,
            robin: Robin::connect(&client.targets).await?,
            form: "grant_type=client_credentials",
            ready: Vec::new(),
        })
    }

    /// Bytes of a request's body.
    ///
    /// # Errors
    /// Where none can be made.
    pub fn body(&self) -> Result<usize, Failure> {
        let requests = self.provider.requests(self.client, self.form, 1)?;
        Ok(requests.first().map_or(0, |request| request.body.len()))
    }
}

impl Operation for TokenRequest<'_> {
    async fn once(&mut self) -> Result<(), Failure> {
        let request = self.ready.pop().ok_or("no request was prepared")?;
        let connection = self.robin.turn();
        let authorization = request.authorization.as_deref();
        let answer = connection.form("/token", authorization, request.body);
        expect(&answer.await?, StatusCode::OK)
    }

    fn prepare(&mut self, count: usize) -> Result<(), Failure> {
        self.ready = self.provider.requests(self.client, self.form, count)?;
        Ok(())
    }
}

/// Introspection of one token by the client that it was given to.
pub struct Introspect {
    robin: Robin,
    authorization: String,
    body: Bytes,
}

impl Introspect {
    /// Fetches a token, for a client of `client_credentials` with a secret.
    ///
    /// # Errors
    /// A connection that could not be opened, or no token.
    pub async fn new(
        provider: &Provider,
        client: &RegisteredClient,
    ) -> Result<Introspect, Failure> {
        let mut requests = provider.requests(client, "grant_type=client_credentials", 1)?;
        let request = requests.pop().ok_or("no request")?;
        let mut robin = Robin::connect(&client.targets).await?;
        let authorization = request.authorization.ok_or("client_secret_basic")?;
        let connection = robin.turn();
        let answer = connection.form("/token", Some(&authorization), request.body);
        let answer = answer.await?.json()?;
        let token = answer["access_token"].as_str().ok_or("no access_token")?;
        Ok(Introspect {
            robin,
            authorization,
            body: Bytes::from(format!("token={token}")),
        })
    }

    /// Bytes of a request's body.
    #[must_use]
    pub fn body(&self) -> usize {
        self.body.len()
    }
}

impl Operation for Introspect {
    async fn once(&mut self) -> Result<(), Failure> {
        let connection = self.robin.turn();
        let answer = connection.form("/introspect", Some(&self.authorization), self.body.clone());
        let answer = answer.await?;
        if !answer.body.starts_with(b"{\"active\":true") {
            return Err(format!("not active: {}", String::from_utf8_lossy(&answer.body)).into());
        }
        Ok(())
    }
}

/// The authorization code flow of somebody who is logged in and has consented, PKCE and all: two
/// round trips, to two nodes where there are several.
pub struct CodeFlow {
    robin: Robin,
    path: String,
    cookie: String,
    authorization: String,
    redirect_uri: String,
}

impl CodeFlow {
    /// Logs the development user in, for a client that may have codes.
    ///
    /// # Errors
    /// A connection that could not be opened, or a login that fails.
    pub async fn new(
        provider: &Provider,
        client: &RegisteredClient,
        redirect_uri: &str,
    ) -> Result<CodeFlow, Failure> {
        let mut requests = provider.requests(client, "", 1)?;
        let authorization = requests.pop().and_then(|request| request.authorization);
        let mut robin = Robin::connect(&client.targets).await?;
        let client_id = client.client_id();
        let cookie = provider.log_in(robin.turn(), client_id, redirect_uri);
        let cookie = cookie.await?;
        Ok(CodeFlow {
            robin,
            path: flow::authorization_path(client_id, redirect_uri, ""),
            cookie,
            authorization: authorization.ok_or("client_secret_basic")?,
            redirect_uri: redirect_uri.replace(':', "%3A").replace('/', "%2F"),
        })
    }

    /// The whole flow; the token endpoint's answer.
    ///
    /// # Errors
    /// Whatever is not the flow's success.
    pub async fn run(&mut self) -> Result<serde_json::Value, Failure> {
        let headers = [("cookie", self.cookie.as_str())];
        let connection = self.robin.turn();
        let answer = connection.send(Method::GET, &self.path, &headers, Bytes::new());
        let answer = answer.await?;
        let location = flow::location(&answer)
            .ok_or_else(|| format!("no redirect: {}", String::from_utf8_lossy(&answer.body)))?;
        let code = location
            .split(['?', '&'])
            .find_map(|pair| pair.strip_prefix("code="))
            .ok_or("no code")?;
        let body = format!(
            "grant_type=authorization_code&code={code}&redirect_uri={}&code_verifier={}",
            self.redirect_uri,
            flow::VERIFIER,
        );
        let connection = self.robin.turn();
        let answer = connection.form("/token", Some(&self.authorization), body.into());
        let answer = answer.await?;
        expect(&answer, StatusCode::OK)?;
        answer.json()
    }
}

impl Operation for CodeFlow {
    async fn once(&mut self) -> Result<(), Failure> {
        self.run().await.map(|_| ())
    }
}

/// Rotation of one family's refresh token.
pub struct Refresh {
    robin: Robin,
    authorization: String,
    refresh_token: String,
}

impl Refresh {
    /// Runs the code flow once for a first token.
    ///
    /// # Errors
    /// A connection that could not be opened, or a flow without a refresh token.
    pub async fn new(flow: &mut CodeFlow, client: &RegisteredClient) -> Result<Refresh, Failure> {
        let tokens = flow.run().await?;
        let refresh_token = tokens["refresh_token"].as_str();
        Ok(Refresh {
            robin: Robin::connect(&client.targets).await?,
            authorization: flow.authorization.clone(),
            refresh_token: refresh_token.ok_or("no refresh_token")?.to_owned(),
        })
    }
}

impl Operation for Refresh {
    async fn once(&mut self) -> Result<(), Failure> {
        let body = format!(
            "grant_type=refresh_token&refresh_token={}",
            self.refresh_token
        );
        let connection = self.robin.turn();
        let answer = connection.form("/token", Some(&self.authorization), body.into());
        let answer = answer.await?;
        expect(&answer, StatusCode::OK)?;
        let tokens = answer.json()?;
        let next = tokens["refresh_token"].as_str();
        self.refresh_token = next.ok_or("no refresh_token")?.to_owned();
        Ok(())
    }
}

fn expect(answer: &Answer, status: StatusCode) -> Result<(), Failure> {
    if answer.status == status {
        return Ok(());
    }
    let body = String::from_utf8_lossy(&answer.body);
    Err(format!("{} {body}", answer.status).into())
}
