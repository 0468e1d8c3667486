//! A namespace of a cluster: where its API is, and what it declares.
use super::api::{Api, Failed};
use super::definitions::{GROUP, VERSION, plural};
use super::resources::{Resource, Secrets, secrets_named};
use crate::check;
use crate::directory::Directory;
use crate::mistake::Mistake;
use clap::Args;
use serde_json::Value;
use signet_admin::{DECLARED, Declared, MAX_DECLARED};
use signet_admin_client::http_client::percent_encode;
use signet_terminal::output::Failure;
use std::collections::BTreeMap;
use std::env::VarError;
use std::path::{Path, PathBuf};

/// Where a pod finds who it is.
const ACCOUNT: &str = "/var/run/secrets/kubernetes.io/serviceaccount";

/// A namespace that declares, by the command line.
#[derive(Debug, Args)]
pub(crate) struct InCluster {
    /// Read the custom resources of a Kubernetes namespace, in the place of a directory. In a pod
    /// the API and the account are the pod's.
    #[arg(long, conflicts_with = "directory")]
    pub(crate) kubernetes: bool,
    /// The namespace [default: the pod's, or default].
    #[arg(long, value_name = "NAME", requires = "kubernetes")]
    namespace: Option<String>,
    /// The name that the namespace owns objects by [default: its own].
    #[arg(long, value_name = "NAME", requires = "kubernetes")]
    directory_name: Option<String>,
    /// The API, outside a pod: https://HOST:PORT, or the http URL of `kubectl proxy`.
    #[arg(long, value_name = "URL", requires = "kubernetes")]
    kubernetes_api: Option<String>,
    /// File with the bearer token of the API, read for each request [default: the pod's, in a pod].
    #[arg(long, value_name = "FILE", requires = "kubernetes")]
    kubernetes_token: Option<PathBuf>,
    /// PEM file of the authority that the API's certificate comes from [default: the pod's, in a
    /// pod].
    #[arg(long, value_name = "FILE", requires = "kubernetes")]
    kubernetes_ca: Option<PathBuf>,
}

/// A namespace of a cluster.
#[derive(Debug)]
pub(crate) struct Cluster {
    pub(super) api: Api,
    pub(super) namespace: String,
    /// The name that it owns objects by.
    name: String,
}

/// What a namespace has at one moment.
pub(crate) struct Found {
    pub(crate) directory: Directory,
    pub(crate) resources: Vec<Resource>,
    /// The version of the list of each kind.
    pub(super) versions: Vec<(&'static Declared, String)>,
}

impl InCluster {
    /// The cluster, if one is named.
    ///
    /// # Errors
    /// Where nothing says which.
    pub(crate) fn find(
        &self,
        variable: &dyn Fn(&'static str) -> Result<String, VarError>,
    ) -> Result<Option<Cluster>, Failure> {
        match self.kubernetes {
            true => Ok(Some(self.cluster(variable, Path::new(ACCOUNT))?)),
            false => Ok(None),
        }
    }

    fn cluster(
        &self,
        variable: &dyn Fn(&'static str) -> Result<String, VarError>,
        account: &Path,
    ) -> Result<Cluster, Failure> {
        let own = |name: &str| Some(account.join(name)).filter(|file| file.exists());
        let (api, is_pod) = match &self.kubernetes_api {
            Some(url) => (url.trim_end_matches('/').to_owned(), false),
            None => {
                let host = variable("KUBERNETES_SERVICE_HOST").map_err(|_| {
                    Failure::unusable(
                        "this is no pod of a cluster: --kubernetes-api URL names the API",
                    )
                })?;
                let port = variable("KUBERNETES_SERVICE_PORT");
                let host = match host.contains(':') {
                    true => format!("[{host}]"),
                    false => host,
                };
                let port = port.unwrap_or_else(|_| "443".to_owned());
                (format!("https://{host}:{port}"), true)
            }
        };
        let file = |given: &Option<PathBuf>, name: &str| {
            given.clone().or_else(|| own(name).filter(|_| is_pod))
        };
        let namespace = self.namespace.clone().or_else(|| {
            let file = own("namespace").filter(|_| is_pod)?;
            Some(std::fs::read_to_string(file).ok()?.trim().to_owned())
        });
        let namespace = namespace.unwrap_or_else(|| "default".to_owned());
        let name = self.directory_name.clone().unwrap_or(namespace.clone());
        if !check::is_name(&name) {
            return Err(Failure::unusable(
                "--directory-name must be 1 to 64 letters, digits and any of -._",
            ));
        }
        Ok(Cluster {
            api: Api {
                url: api,
                token: file(&self.kubernetes_token, "token"),
                ca: file(&self.kubernetes_ca, "ca.crt"),
            },
            namespace,
            name,
        })
    }
}

impl Cluster {
    /// Where the objects of a kind are.
    pub(super) fn path(&self, declared: &Declared) -> String {
        let namespace = percent_encode(&self.namespace);
        let plural = plural(declared);
        format!("/apis/{GROUP}/{VERSION}/namespaces/{namespace}/{plural}")
    }

    /// Reads what the namespace declares.
    ///
    /// # Errors
    /// An API that cannot be asked, or does not know the kinds. What is wrong with an object is
    /// among the directory's mistakes.
    pub(crate) async fn read(&self) -> Result<Found, Failure> {
        let mut resources = Vec::new();
        let mut versions = Vec::new();
        for declared in DECLARED {
            let listed = self.api.list(&self.path(declared), MAX_DECLARED).await;
            let listed = listed.map_err(|failed| match failed {
                Failed::Missing(_) => Failure::unusable(format!(
                    "the API has no {}.{GROUP}: signet config schema --kubernetes | kubectl apply -f -",
                    plural(declared)
                )),
                Failed::Gone => Failure::unusable("the API forgets its lists while they are read"),
                Failed::Other(why) => Failure::unusable(why),
            })?;
            versions.push((declared, listed.version));
            let items = listed.items.into_iter();
            resources.extend(items.filter_map(|item| Resource::read(declared, item)));
        }
        let secrets = self.secrets(&resources).await;
        let mut directory = Directory {
            name: self.name.clone(),
            objects: Vec::new(),
            mistakes: Vec::new(),
        };
        for resource in &resources {
            let (object, mistakes): (_, Vec<Mistake>) = resource.declare(&secrets);
            directory.objects.extend(object);
            directory.mistakes.extend(mistakes);
        }
        check::together(&mut directory, &self.namespace);
        Ok(Found {
            directory,
            resources,
            versions,
        })
    }

    /// The Secrets that objects name, each read once. No other is asked for.
    async fn secrets(&self, resources: &[Resource]) -> Secrets {
        let mut secrets = BTreeMap::new();
        for name in secrets_named(resources) {
            let namespace = percent_encode(&self.namespace);
            let path = format!(
                "/api/v1/namespaces/{namespace}/secrets/{}",
                percent_encode(&name)
            );
            let found = self.api.get(&path).await.map_err(|failed| match failed {
                Failed::Missing(_) => format!("there is no Secret {}/{name}", self.namespace),
                Failed::Gone => format!("the Secret {}/{name} is gone", self.namespace),
                Failed::Other(why) => why,
            });
            secrets.insert(name, found.map(data));
        }
        Secrets(secrets)
    }
}

/// What a Secret keeps.
fn data(mut secret: Value) -> Value {
    let data = secret.get_mut("data").map(Value::take);
    data.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Line {
        #[arg(value_name = "DIR")]
        directory: Option<PathBuf>,
        #[command(flatten)]
        cluster: InCluster,
    }

    fn cluster(line: &[&str], pod: bool, account: &Path) -> Result<Cluster, Failure> {
        let all = ["x", "--kubernetes"].iter().chain(line);
        let line = Line::parse_from(all);
        assert!(line.directory.is_none());
        let variable = |name: &'static str| match (pod, name) {
            (true, "KUBERNETES_SERVICE_HOST") => Ok("fd00::1".to_owned()),
            (true, "KUBERNETES_SERVICE_PORT") => Ok("6443".to_owned()),
            _ => Err(VarError::NotPresent),
        };
        line.cluster.cluster(&variable, account)
    }

    #[test]
    fn a_pod_asks_as_itself_and_others_as_they_say() {
        let dir = tempfile::tempdir().unwrap();
        for (name, text) in [("token", "t"), ("ca.crt", "c"), ("namespace", "id\n")] {
            std::fs::write(dir.path().join(name), text).unwrap();
        }
        let pod = cluster(&[], true, dir.path()).unwrap();
        assert_eq!(pod.api.url, "https://[fd00::1]:6443");
        assert_eq!(pod.api.token, Some(dir.path().join("token")));
        assert_eq!(pod.api.ca, Some(dir.path().join("ca.crt")));
        assert_eq!((pod.namespace.as_str(), pod.name.as_str()), ("id", "id"));
        let line = ["--namespace", "a", "--directory-name", "b"];
        let pod = cluster(&line, true, dir.path()).unwrap();
        assert_eq!((pod.namespace.as_str(), pod.name.as_str()), ("a", "b"));

        // The pod's token is for the pod's cluster alone.
        let line = ["--kubernetes-api", "https://k.example:6443/"];
        let other = cluster(&line, true, dir.path()).unwrap();
        assert_eq!(other.api.url, "https://k.example:6443");
        assert_eq!((other.api.token, other.api.ca), (None, None));
        assert_eq!(other.namespace, "default");

        let none = cluster(&[], false, dir.path()).unwrap_err();
        assert!(none.description().contains("--kubernetes-api"));
        assert!(cluster(&["--directory-name", "a/b"], true, dir.path()).is_err());
    }
}
