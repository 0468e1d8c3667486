//! Which store a configuration names.

use std::path::{Path, PathBuf};

use signet_store::{
    Engine, StoreUrl,
    postgres::{Address, Options},
    sqlite,
};

use crate::model::{self, Config};

impl model::Store {
    /// Names this store instead. `text`: as it was written. The password stays.
    pub fn name(&mut self, url: &StoreUrl, text: &str) {
        match url {
            StoreUrl::Sqlite(directory) => {
                self.engine = model::StoreEngine::Sqlite;
                self.url = None;
                if directory.is_some() {
                    self.directory.clone_from(directory);
                }
            }
            StoreUrl::Postgres(_) => {
                self.engine = model::StoreEngine::Postgres;
                self.url = Some(text.to_owned());
            }
        }
    }
}

/// The engine that a configuration names, for its node.
pub fn of_config(config: &Config, base: &Path) -> Result<Engine, String> {
    match config.store.engine {
        model::StoreEngine::Sqlite => Ok(Engine::Sqlite {
            directory: config.store_directory(),
            options: sqlite::Options {
                reserve: config.store.reserve_bytes,
                ..sqlite::Options::default()
            },
        }),
        model::StoreEngine::Postgres => Ok(Engine::Postgres {
            options: postgres_options(&config.store, base)?,
            directory: Some(config.data_dir.clone()),
        }),
    }
}

/// The files that a database's URL names, as they stand there.
pub fn files_of_url(store: &model::Store) -> Vec<PathBuf> {
    let address = store.url.as_deref().map(Address::parse);
    let Some(Ok(address)) = address else {
        return Vec::new();
    };
    let (certificate, key) = address.client_certificate.unzip();
    let files = [
        address.root_certificates,
        address.password_file,
        certificate,
        key,
    ];
    files.into_iter().flatten().collect()
}

fn postgres_options(store: &model::Store, base: &Path) -> Result<Options, String> {
    let url = store.url.as_deref().unwrap_or_default();
    let mut address = Address::parse(url).map_err(|e| format!("store.url: {e}"))?;
    let from_base = |file: &mut PathBuf| *file = base.join(&*file);
    address.root_certificates.as_mut().map(from_base);
    address.password_file.as_mut().map(from_base);
    if let Some((certificate, key)) = &mut address.client_certificate {
        from_base(certificate);
        from_base(key);
    }
    let mut options = Options::new(address);
    if let Some(reference) = &store.password {
        let secret = reference.read(base);
        options.password = Some(secret.map_err(|e| format!("store.password: {e}"))?);
    }
    Ok(options)
}
