//! A client of the API of a cluster: where it is, who asks, and its answers.
use bytes::Bytes;
use http::{Method, StatusCode};
use serde_json::Value;
use signet_admin_client::http_client::{Answer, Followed, HttpClient, percent_encode};
use signet_crypto::Secret;
use std::path::{Path, PathBuf};

/// Objects of one page of a list.
const PAGE: usize = 100;
/// How often a list is begun again whose next page the server has forgotten.
const AGAIN: usize = 3;

/// Why the API gave nothing.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Failed {
    /// 404: the words of the server.
    Missing(String),
    /// 410: what was asked for by its version is forgotten.
    Gone,
    /// Everything else, for people.
    Other(String),
}

/// Where the API is, and how it is asked.
#[derive(Debug)]
pub(super) struct Api {
    /// Without a slash at its end.
    pub(super) url: String,
    /// Read for each request: it is replaced before it expires.
    pub(super) token: Option<PathBuf>,
    pub(super) ca: Option<PathBuf>,
}

/// Objects of one kind, and the version of the list.
pub(super) struct List {
    pub(super) items: Vec<Value>,
    pub(super) version: String,
}

impl Api {
    fn client(&self) -> Result<HttpClient, Failed> {
        let client = HttpClient::new(self.ca.as_slice()).map_err(Failed::Other)?;
        Ok(client.authority_by("--kubernetes-ca FILE"))
    }

    fn authorization(&self) -> Result<Option<Secret<String>>, Failed> {
        let Some(file) = &self.token else {
            return Ok(None);
        };
        let text = std::fs::read_to_string(file).map(Secret::new);
        let text = text.map_err(|e| {
            Failed::Other(format!(
                "cannot read the token file {}: {e}",
                file.display()
            ))
        })?;
        let token = text.expose().trim();
        // Others are not header values; the client's own words could repeat them.
        let fits = |b: u8| b.is_ascii_graphic();
        match !token.is_empty() && token.bytes().all(fits) {
            true => Ok(Some(Secret::new(format!("Bearer {token}")))),
            false => Err(Failed::Other(format!(
                "the token file {} has no token",
                file.display()
            ))),
        }
    }

    async fn send(
        &self,
        method: Method,
        path: &str,
        (media_type, body): (&str, Bytes),
    ) -> Result<Value, Failed> {
        let authorization = self.authorization()?;
        let mut headers = vec![("accept", "application/json")];
        if let Some(authorization) = &authorization {
            headers.push(("authorization", authorization.expose()));
        }
        if !body.is_empty() {
            headers.push(("content-type", media_type));
        }
        let url = format!("{}{path}", self.url);
        let sent = self.client()?.send(method, &url, &headers, body).await;
        self.read(&sent.map_err(Failed::Other)?, path)
    }

    fn read(&self, answer: &Answer, path: &str) -> Result<Value, Failed> {
        let shown = path.split('?').next().unwrap_or(path);
        let value: Option<Value> = serde_json::from_slice(&answer.body).ok();
        if answer.status.is_success() {
            let other = || Failed::Other(format!("{shown}: the API's answer is not JSON"));
            return value.ok_or_else(other);
        }
        // A Status object says what is wrong.
        let said = value.as_ref().and_then(|value| value["message"].as_str());
        let said = said.unwrap_or("no reason given");
        Err(match answer.status {
            StatusCode::NOT_FOUND => Failed::Missing(said.to_owned()),
            StatusCode::GONE => Failed::Gone,
            StatusCode::UNAUTHORIZED => {
                let of = self.token.as_deref().map(Path::display);
                let of = of.map_or("no token".to_owned(), |file| format!("the token of {file}"));
                Failed::Other(format!("the API does not accept {of}: {said}"))
            }
            status => Failed::Other(format!("{shown}: the API answered {status}: {said}")),
        })
    }

    /// One object.
    pub(super) async fn get(&self, path: &str) -> Result<Value, Failed> {
        self.send(Method::GET, path, ("", Bytes::new())).await
    }

    /// Changes members of an object (RFC 7386).
    pub(super) async fn merge(&self, path: &str, patch: &Value) -> Result<(), Failed> {
        let body = Bytes::from(patch.to_string());
        let sent = ("application/merge-patch+json", body);
        self.send(Method::PATCH, path, sent).await.map(drop)
    }

    /// Every object below a path, page by page, as they were at one moment. At most `max` and one
    /// page more.
    pub(super) async fn list(&self, path: &str, max: usize) -> Result<List, Failed> {
        let mut list = List {
            items: Vec::new(),
            version: String::new(),
        };
        let mut next = String::new();
        let mut begun = 1;
        loop {
            let mut page = format!("{path}?limit={PAGE}");
            if !next.is_empty() {
                page.push_str(&format!("&continue={}", percent_encode(&next)));
            }
            let mut answer = match self.get(&page).await {
                // The rest of the list is forgotten: it is begun again.
                Err(Failed::Gone) if !next.is_empty() && begun < AGAIN => {
                    begun += 1;
                    next.clear();
                    list.items.clear();
                    continue;
                }
                answer => answer?,
            };
            let metadata = |member: &str| answer["metadata"][member].as_str().unwrap_or_default();
            metadata("resourceVersion").clone_into(&mut list.version);
            next = metadata("continue").to_owned();
            match answer.get_mut("items").map(Value::take) {
                Some(Value::Array(items)) => list.items.extend(items),
                _ => {
                    return Err(Failed::Other(format!(
                        "{path}: the API's answer is no list"
                    )));
                }
            }
            if next.is_empty() || list.items.len() > max {
                return Ok(list);
            }
        }
    }

    /// What happens below a path after a version, line by line.
    pub(super) async fn watch(&self, path: &str, version: &str) -> Result<Followed, Failed> {
        let authorization = self.authorization()?;
        let mut headers = vec![("accept", "application/json")];
        if let Some(authorization) = &authorization {
            headers.push(("authorization", authorization.expose()));
        }
        let version = percent_encode(version);
        let url = format!(
            "{}{path}?watch=true&allowWatchBookmarks=true&resourceVersion={version}",
            self.url
        );
        let followed = self.client()?.follow(&url, &headers).await;
        match followed.map_err(Failed::Other)? {
            Followed::Refused(answer) => Err(match self.read(&answer, path) {
                Err(failed) => failed,
                Ok(_) => Failed::Other(format!("{path}: the API answered {}", answer.status)),
            }),
            lines => Ok(lines),
        }
    }
}
