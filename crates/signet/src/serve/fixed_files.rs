//! Files that the configuration names and that are read at the start alone: what they held then.
//!
//! An operator who replaces such a file expects it to count. A reload compares them, and names the
//! settings whose files it does not read again.

use std::path::{Path, PathBuf};

use signet_crypto::hash::sha256;

use signet_config::engine;
use signet_config::{Config, brand::Brand, secret::SecretRef};

/// By setting and path: SHA-256 of what the file held; none: it could not be read.
#[derive(Debug, PartialEq, Eq)]
pub struct FixedFiles(Vec<(&'static str, PathBuf, Option<[u8; 32]>)>);

impl FixedFiles {
    /// The files of a configuration, as they are now.
    pub fn of(config: &Config, base: &Path) -> FixedFiles {
        let smtp = config.mail.as_ref().and_then(|mail| mail.smtp.as_ref());
        let proxy = config.proxy.as_ref();
        let mut named: Vec<(&'static str, PathBuf)> = Vec::new();
        let mut add = |setting, path: Option<&PathBuf>| {
            named.extend(path.map(|path| (setting, base.join(path))));
        };
        add("outbound.trust", config.outbound.trust.as_ref());
        add("mail.smtp.trust", smtp.and_then(|smtp| smtp.trust.as_ref()));
        let password = smtp.and_then(|smtp| smtp.password.as_ref());
        add("mail.smtp.password", password.and_then(file_of));
        add(
            "store.password",
            config.store.password.as_ref().and_then(file_of),
        );
        add(
            "proxy.secret_file",
            proxy.and_then(|proxy| proxy.secret_file.as_ref()),
        );
        let telemetry = &config.telemetry;
        add("telemetry.ca_file", telemetry.ca_file.as_ref());
        let headers = telemetry.otlp_headers.as_ref();
        add("telemetry.otlp_headers", headers.and_then(file_of));
        for path in engine::files_of_url(&config.store) {
            add("store.url", Some(&path));
        }
        for brand in std::iter::once(&config.brand).chain(config.brand.clients.values()) {
            let Brand {
                logo, favicon, css, ..
            } = brand;
            for path in [logo, favicon, css].into_iter().flatten() {
                add("brand", Some(path));
            }
        }
        let digest = |path: &PathBuf| std::fs::read(path).ok().map(|bytes| sha256(&bytes));
        let files = named.into_iter().map(|(setting, path)| {
            let digest = digest(&path);
            (setting, path, digest)
        });
        FixedFiles(files.collect())
    }

    /// The settings whose files are not what these are.
    pub fn changed(&self, now: &FixedFiles) -> Vec<&'static str> {
        let of = |files: &FixedFiles, setting: &str| -> Vec<_> {
            let files = files.0.iter().filter(|(own, ..)| *own == setting);
            files
                .map(|(_, path, digest)| (path.clone(), *digest))
                .collect()
        };
        let mut settings: Vec<&'static str> = self.0.iter().chain(&now.0).map(|f| f.0).collect();
        settings.sort_unstable();
        settings.dedup();
        settings.retain(|setting| of(self, setting) != of(now, setting));
        settings
    }
}

fn file_of(reference: &SecretRef) -> Option<&PathBuf> {
    match reference {
        SecretRef::File(path) => Some(path),
        // A process' environment is its own for its life.
        SecretRef::Env(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_replaced_and_not_read_again_is_named_by_its_setting() {
        let base = tempfile::tempdir().expect("a directory");
        let put =
            |name: &str, text: &str| std::fs::write(base.path().join(name), text).expect(name);
        let names = [
            "trust.pem",
            "smtp.pem",
            "smtp.pass",
            "db.pass",
            "root.pem",
            "own.css",
            "secret",
        ];
        names.iter().for_each(|name| put(name, "before"));
        let config: Config = toml::from_str(
            r#"
            issuer = "https://id.example.com"
            listeners = [{ address = "127.0.0.1:8080", protocol = "http" }]
            outbound = { trust = "trust.pem" }
            brand = { css = "own.css" }
            proxy = { trusted = ["192.0.2.1"], secret_file = "secret" }
            [store]
            engine = "postgres"
            url = "postgres://signet@db.example.com/signet?sslrootcert=root.pem"
            password = { file = "db.pass" }
            [mail]
            from = "id@example.com"
            [mail.smtp]
            host = "mail.example.com"
            username = "id"
            password = { file = "smtp.pass" }
            trust = "smtp.pem"
            "#,
        )
        .expect("a configuration");
        let files = || FixedFiles::of(&config, base.path());
        let begun_with = files();
        assert!(begun_with.changed(&files()).is_empty());
        for (name, setting) in names.into_iter().zip([
            "outbound.trust",
            "mail.smtp.trust",
            "mail.smtp.password",
            "store.password",
            "store.url",
            "brand",
            "proxy.secret_file",
        ]) {
            put(name, "after");
            assert_eq!(begun_with.changed(&files()), [setting]);
            std::fs::remove_file(base.path().join(name)).expect(name);
            assert_eq!(begun_with.changed(&files()), [setting]);
            put(name, "before");
        }
        assert!(begun_with.changed(&files()).is_empty());
    }
}
