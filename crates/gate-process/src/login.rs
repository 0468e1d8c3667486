//! `[login]`: the login of applications that have none.

use std::{path::Path, sync::Arc};

use signet_crypto::{Algorithm, SigningKey};
use signet_gate::Identity;
use signet_gate_login::{
    Application, ClientAuthentication, Ended, Login, PREFIX, PathRule, Paths, Settings, read_keys,
};
use signet_jose::jwt::JwtSigner;
use signet_verify::{Issuer, ReplayGuard, Revocations, Verifier, fetch::Outbound};

use super::{
    login_model::{LoginConfig, PrivateKey},
    model::{ClientSecret, GateConfig},
    secrets,
};

/// Longest session, in seconds: cookies that nothing ends are not handed out.
const MAX_SESSION_SECONDS: u64 = 30 * 24 * 3600;

impl LoginConfig {
    /// Whose people log in.
    pub(crate) fn issuer<'a>(&'a self, config: &'a GateConfig) -> Option<&'a str> {
        let first = || config.issuers.first().map(|issuer| issuer.issuer.as_str());
        self.issuer.as_deref().or_else(first)
    }

    fn authentication(&self, base: &Path) -> Result<ClientAuthentication, String> {
        let has_secret = self.client_secret_file.is_some() || self.client_secret_env.is_some();
        match &self.private_key {
            Some(_) if has_secret => Err("private_key or a secret, not both".into()),
            Some(key) => Ok(ClientAuthentication::PrivateKey(Box::new(key.read(base)?))),
            None => {
                let client = ClientSecret {
                    client_id: self.client_id.clone(),
                    client_secret_file: self.client_secret_file.clone(),
                    client_secret_env: self.client_secret_env.clone(),
                };
                let read = secrets::credentials("login", &client, base);
                let read = read.map_err(|why| why.trim_start_matches("login: ").to_owned())?;
                Ok(ClientAuthentication::Secret(read))
            }
        }
    }

    /// The settings, or every mistake in them.
    fn settings(
        &self,
        config: &GateConfig,
        identity: &Identity,
        base: &Path,
    ) -> Result<Settings, Vec<String>> {
        let mut mistakes = Vec::new();
        let issuer = self.issuer(config).unwrap_or("");
        if !config.issuers.iter().any(|one| one.issuer == issuer) {
            mistakes.push(format!("issuer: {issuer:?} is none of [[issuers]]"));
        }
        if config.proxy.is_none() {
            // Anybody could name a host, and be answered with its cookies.
            mistakes.push("it needs [proxy]: whose word about a request's host is taken".into());
        }
        if self.client_id.is_empty() {
            mistakes.push("client_id is empty".into());
        }
        let mut applications = Vec::new();
        for url in &self.applications {
            match Application::new(url) {
                Ok(one) if applications.contains(&one) => {
                    mistakes.push(format!("applications: {url} is there twice"));
                }
                Ok(one) => applications.push(one),
                Err(why) => mistakes.push(format!("applications: {why}")),
            }
        }
        if self.applications.is_empty() {
            mistakes.push("applications: whom are people logged in for? It names none".into());
        }
        for (name, path) in [
            ("redirect_path", Some(&self.redirect_path)),
            ("after_logout", self.after_logout.as_ref()),
        ] {
            if path.is_some_and(|path| !is_path(path)) {
                mistakes.push(format!("{name}: it is no path, such as /welcome"));
            }
        }
        let taken = [
            "login",
            "logout",
            "signed-out",
            "denied",
            "backchannel-logout",
        ];
        if taken
            .iter()
            .any(|name| self.redirect_path == [PREFIX, name].concat())
        {
            mistakes.push("redirect_path: something else is answered there".into());
        }
        if !self.scopes.iter().any(|scope| scope == "openid") {
            mistakes.push("scopes: openid is missing".into());
        }
        let words = [("scopes", &self.scopes), ("acr", &self.acr)];
        for (name, values) in words {
            for value in values.iter().filter(|value| !is_word(value)) {
                mistakes.push(format!("{name}: {value:?} is not one visible word"));
            }
        }
        for url in self
            .resources
            .iter()
            .filter(|url| !url.contains("://") || url.contains('#'))
        {
            mistakes.push(format!(
                "resources: {url:?} is no absolute URL without a fragment"
            ));
        }
        let (idle, absolute) = (self.idle.0, self.absolute.0);
        if idle == 0 || idle > absolute {
            mistakes.push("idle: it is at least one second, and at most absolute".into());
        }
        if absolute > MAX_SESSION_SECONDS {
            mistakes.push("absolute: it is at most 30 days".into());
        }
        // The first policy counts where a proxy's question names none.
        let demanded = config.policies.first().map(|policy| &policy.scopes);
        for scope in demanded.into_iter().flatten() {
            if !self.scopes.contains(scope) {
                mistakes.push(format!(
                    "scopes: the first policy demands {scope}, which no session would have"
                ));
            }
        }
        let rules = self.paths.iter().map(|rule| PathRule {
            path: rule.path.clone(),
            open: rule.open,
            groups: rule.groups.clone(),
            scopes: rule.scopes.clone(),
        });
        let paths = Paths::new(rules.collect()).unwrap_or_else(|wrong| {
            mistakes.extend(wrong);
            Paths::default()
        });
        let authentication = match self.authentication(base) {
            Ok(authentication) => Some(authentication),
            Err(why) => {
                mistakes.push(why);
                None
            }
        };
        match authentication {
            Some(authentication) if mistakes.is_empty() => Ok(Settings {
                issuer: issuer.to_owned(),
                client_id: self.client_id.clone(),
                authentication,
                applications,
                redirect_path: self.redirect_path.clone(),
                scopes: self.scopes.clone(),
                resources: self.resources.clone(),
                acr: self.acr.clone(),
                max_age: self.max_age.map(|age| age.0),
                idle,
                absolute,
                after_logout: self.after_logout.clone(),
                paths,
                claims: identity.claims().map(str::to_owned).collect(),
            }),
            Some(_) | None => Err(mistakes),
        }
    }
}

impl PrivateKey {
    fn read(&self, base: &Path) -> Result<JwtSigner, String> {
        let wrong = |why: String| format!("private_key: {}: {why}", self.file.display());
        let algorithm = Algorithm::from_name(&self.algorithm)
            .filter(|algorithm| !algorithm.is_symmetric())
            .ok_or_else(|| {
                format!(
                    "private_key: {} is no algorithm of signatures",
                    self.algorithm
                )
            })?;
        let der = secrets::pkcs8(&base.join(&self.file)).map_err(wrong)?;
        let key = SigningKey::from_private(algorithm, der.secret_pkcs8_der());
        let key = key.map_err(|error| wrong(error.to_string()))?;
        Ok(JwtSigner::new(key, &self.kid))
    }
}

fn is_path(text: &str) -> bool {
    text.starts_with('/')
        && !text.starts_with("//")
        && text.bytes().all(|byte| byte.is_ascii_graphic())
        && !text.contains(['?', '#', '\\', '%'])
}

fn is_word(text: &str) -> bool {
    !text.is_empty()
        && text
            .bytes()
            .all(|byte| byte.is_ascii_graphic() && byte != b'"' && byte != b'\\')
}

/// What a login has in common with the rest of the process.
pub(crate) struct Shared<'a> {
    pub(crate) outbound: &'a Arc<Outbound>,
    pub(crate) stream: Option<Arc<dyn Revocations>>,
    pub(crate) replays: &'a Arc<ReplayGuard>,
    pub(crate) ended: &'a Arc<Ended>,
}

/// The login that a configuration names. `issuer_of` makes the issuer of a name, with its keys.
pub(crate) fn make(
    config: &GateConfig,
    identity: &Identity,
    base: &Path,
    shared: Shared<'_>,
    issuer_of: impl FnOnce(&str) -> Result<Issuer, String>,
) -> Result<Option<Arc<Login>>, String> {
    let Some(table) = &config.login else {
        return Ok(None);
    };
    let named = |mistakes: Vec<String>| {
        let lines = mistakes.iter().map(|mistake| format!("login: {mistake}"));
        lines.collect::<Vec<_>>().join("\n")
    };
    let settings = table.settings(config, identity, base).map_err(named)?;
    let file = base.join(&table.keys_file);
    let failed = |why: String| format!("login: keys_file: {}: {why}", file.display());
    let (keys, made) = read_keys(&file).map_err(|error| failed(error.to_string()))?;
    if made {
        tracing::info!(file = %file.display(), "created a key that seals sessions");
    }
    let mut builder = Verifier::builder()
        .issuer(issuer_of(&settings.issuer)?)
        .cache(0, 0)
        .replay_guard(shared.replays.clone());
    for policy in settings.policies() {
        builder = builder.policy(policy);
    }
    let verifier = builder.build().map_err(|error| format!("login: {error}"))?;
    let login = Login::new(
        settings,
        keys,
        Arc::new(verifier),
        shared.outbound.clone(),
        shared.stream,
        shared.ended.clone(),
    );
    Ok(Some(Arc::new(
        login.map_err(|why| format!("login: {why}"))?,
    )))
}

/// Ends what was begun before this process, where no stream of revocations tells what ended
/// meanwhile. `now_ms`: Unix milliseconds.
pub(crate) fn forget_before(config: &GateConfig, ended: &Ended, now_ms: u64) {
    let Some(issuer) = config.login.as_ref().and_then(|login| login.issuer(config)) else {
        return;
    };
    let mut all = config.issuers.iter();
    let is_followed = all.any(|one| one.issuer == issuer && one.revocations.is_some());
    if !is_followed {
        ended.before(issuer, now_ms);
    }
}
