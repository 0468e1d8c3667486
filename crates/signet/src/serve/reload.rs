//! SIGHUP: the configuration is read again, and what can change while requests are answered changes
//! at once.
//!
//! A file that is not good changes nothing. Requests under way keep the snapshot that they began
//! with.

use std::{path::PathBuf, sync::Arc};

use signet_assembly::Further;
use signet_audit::{Action, Event};
use signet_crypto::seal::Purpose;
use signet_http::tls::Tls;
use signet_oauth::registry::Registry;
use signet_realm::state::Realm;
use signet_registry::delta::{Configuration, Delta};

use super::fixed_files::FixedFiles;
use signet_config::{Config, apply, fault::Faults, providers, read, settings};
use signet_process::log::LogLevel;
use signet_process::sockets;

/// What the running server was made from.
pub struct Reloader {
    /// `None`: development mode, whose configuration is the command line.
    pub file: Option<PathBuf>,
    /// As it was read last.
    pub config: Config,
    /// As it was at the start.
    pub begun_with: Config,
    /// What the files held that are not read again.
    pub files: FixedFiles,
    pub base: PathBuf,
    pub certificates: Vec<Tls>,
    pub level: LogLevel,
    /// Who makes further realms.
    pub further: Arc<Further>,
}

impl Reloader {
    /// Reads the file again and puts clients, resources, scopes, settings, certificates and log
    /// level in place.
    pub async fn reload(&mut self, realm: &Realm) {
        let Some(file) = &self.file else {
            self.certificates();
            tracing::info!("reloaded certificates; development mode has no configuration file");
            return;
        };
        let next = match read::load(file, true) {
            Ok(loaded) => loaded.config,
            Err(problems) => {
                for problem in problems {
                    tracing::error!(file = %file.display(), %problem, "rejected an invalid configuration");
                }
                tracing::error!("nothing was changed");
                return;
            }
        };
        for setting in self.needs_restart(&next) {
            tracing::warn!(setting, "ignored a changed setting until the next restart");
        }
        let mut faults = Faults::default();
        let mut settings = apply::settings(&next, &mut faults);
        // The issuer is who the server is: what was issued names it.
        settings.issuer.clone_from(&self.config.issuer);
        settings
            .mtls_base
            .clone_from(&realm.snapshot().settings.mtls_base);
        settings
            .node_base
            .clone_from(&realm.snapshot().settings.node_base);
        settings
            .signing_algs
            .clone_from(&realm.snapshot().settings.signing_algs);
        settings.compact_alg = realm.snapshot().settings.compact_alg;
        let keyring = realm.keyring();
        let seal = |client_id: &str, secret: &[u8]| {
            keyring
                .seal_with(Purpose::ClientSecret, client_id.as_bytes(), secret)
                .ok()
        };
        let mut declared = Registry::default();
        apply::extend_registry(&next, &self.base, &seal, &mut declared, &mut faults);
        let providers = providers::providers(&next, &self.base, &keyring, &mut faults);
        declared.providers = Arc::new(providers);
        let configuration = Delta::Configuration(Configuration {
            settings: Arc::new(settings),
            declared: Arc::new(declared),
        });
        if let Err(error) = realm.apply([configuration]) {
            tracing::error!(%error, "failed to apply the configuration");
            return;
        }
        for fault in faults.0 {
            // Files can change between the check and now; what could not be made is missing, and
            // said.
            tracing::error!(
                path = fault.path,
                reason = fault.message,
                "rejected a setting"
            );
        }
        if !self.level.apply(&next.log) {
            tracing::error!("failed to change the log level");
        }
        self.config = Config {
            issuer: self.config.issuer.clone(),
            ..next
        };
        if let Err(error) = realm
            .note_declared_clients(&apply::declared_clients(&self.config))
            .await
        {
            tracing::error!(%error, "failed to revoke what removed clients held; the next reload retries");
        }
        self.further.reload(&self.config);
        self.certificates();
        let event = Event::new(Action::ADMIN, realm.now_ms()).subject("configuration");
        realm.audit().record(event.operation("reload"));
        tracing::info!("reloaded the configuration");
    }

    fn certificates(&self) {
        let Some(tls) = &self.config.tls else { return };
        if let Err(error) = sockets::reload_tls(&self.certificates, tls, &self.base) {
            tracing::error!(
                error,
                "failed to reload the certificate and client CAs; the previous ones stay"
            );
        }
    }

    /// The settings that are fixed for the life of the process and are not what it began with: in
    /// the file, or in a file that it names and is not read again.
    fn needs_restart(&self, next: &Config) -> Vec<&'static str> {
        let mut settings = settings::changed_until_restart(&self.begun_with, next);
        settings.extend(self.files.changed(&FixedFiles::of(next, &self.base)));
        settings.sort_unstable();
        settings.dedup();
        settings
    }
}
