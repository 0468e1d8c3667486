//! `[brand]`: how the pages and mails of the realm look.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::Arc,
};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use signet_pages::{BrandParts, Brands, MAX_CSS_BYTES, Picture};
use signet_texts::OwnTexts;

/// Largest picture, in bytes: it is kept in memory, and sent to everybody who logs in.
pub const MAX_PICTURE_BYTES: u64 = 256 * 1024;

/// Name, logo and colours of the pages. Colours are refused where text in them, or on them, could
/// not be read (WCAG 2.2 AA, a contrast of 4.5).
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Brand {
    /// What pages and mails call the place. Default: Signet.
    pub name: Option<String>,
    /// File with a PNG, JPEG, WebP or SVG picture beside the name, at most 256 KiB.
    pub logo: Option<PathBuf>,
    /// File with the icon of the browser's tab (ICO, PNG or SVG), at most 256 KiB.
    pub favicon: Option<PathBuf>,
    /// Colour of buttons and links, `#rrggbb`.
    pub accent: Option<String>,
    /// The same in the dark scheme. Default: the accent, as light as it has to be there.
    pub accent_dark: Option<String>,
    /// Colour behind the card in the light scheme, `#rrggbb`.
    pub background: Option<String>,
    /// https URL of the privacy policy, linked below every page.
    pub privacy: Option<String>,
    /// https URL of the terms, linked below every page.
    pub terms: Option<String>,
    /// https URL of a help page, linked below every page.
    pub help: Option<String>,
    /// File with a style sheet that comes after the house's own, at most 32 KiB. It can load
    /// nothing: the content security policy forbids it.
    pub css: Option<PathBuf>,
    /// By language and id: what pages and mails say in place of the house's texts. `signet config
    /// texts` prints those. A text may have the variables that the house's has.
    pub texts: BTreeMap<String, BTreeMap<String, String>>,
    /// By `client_id`: how the pages and mails look that are shown for a client. What is left out
    /// is the realm's; a name without a logo, or a logo without a name, stands by itself.
    pub clients: BTreeMap<String, Brand>,
}

impl Brand {
    /// Reads the files and checks the whole. The error names the member.
    pub fn read(&self, base: &Path) -> Result<Brands, (String, String)> {
        let checked = |parts: BrandParts| signet_pages::Brand::new(parts);
        let realm = self.parts(base).map_err(owned)?;
        let mut brands = Brands::new(checked(realm.clone()).map_err(owned)?);
        for (client_id, look) in &self.clients {
            let at = |(member, why): (&str, String)| (format!("clients.{client_id}.{member}"), why);
            if !look.clients.is_empty() {
                return Err(at((
                    "clients",
                    "a client has no clients of its own".to_owned(),
                )));
            }
            let parts = look.parts(base).map_err(at)?.or(realm.clone());
            brands = brands.with_client(client_id, checked(parts).map_err(at)?);
        }
        Ok(brands)
    }

    fn parts(&self, base: &Path) -> Result<BrandParts, (&'static str, String)> {
        let picture = |member: &'static str, path: &Option<PathBuf>| match path {
            None => Ok(None),
            Some(path) => {
                let bytes = file(&base.join(path), MAX_PICTURE_BYTES).map_err(|e| (member, e))?;
                let picture = Picture::of(bytes);
                let unknown = || (member, "is no picture that browsers show".to_owned());
                picture.ok_or_else(unknown).map(Some)
            }
        };
        let css = match &self.css {
            None => None,
            Some(path) => {
                let bytes = file(&base.join(path), MAX_CSS_BYTES as u64);
                let text = bytes.and_then(|b| String::from_utf8(b).map_err(|e| e.to_string()));
                Some(text.map_err(|e| ("css", e))?)
            }
        };
        let texts = self.texts.iter().flat_map(|(tag, texts)| {
            let texts = texts.iter();
            texts.map(move |(id, text)| (&**tag, &**id, &**text))
        });
        let texts = OwnTexts::new(texts);
        let texts = texts.map_err(|(place, why)| ("texts", format!("{place} {why}")))?;
        Ok(BrandParts {
            name: self.name.clone(),
            logo: picture("logo", &self.logo)?,
            favicon: picture("favicon", &self.favicon)?,
            accent: self.accent.clone(),
            accent_dark: self.accent_dark.clone(),
            background: self.background.clone(),
            privacy: self.privacy.clone(),
            terms: self.terms.clone(),
            help: self.help.clone(),
            css,
            texts: Arc::new(texts),
        })
    }
}

fn owned((member, why): (&'static str, String)) -> (String, String) {
    (member.to_owned(), why)
}

fn file(path: &Path, most: u64) -> Result<Vec<u8>, String> {
    let failed = |e: std::io::Error| format!("{}: {e}", path.display());
    let size = std::fs::metadata(path).map_err(failed)?.len();
    if size > most {
        return Err(format!("{} is longer than {most} bytes", path.display()));
    }
    std::fs::read(path).map_err(failed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_read_beside_the_configuration_and_bounded() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("logo.svg"), "<svg xmlns=\"x\"/>").unwrap();
        std::fs::write(folder.path().join("own.css"), ".brand{gap:1rem}").unwrap();
        let brand = Brand {
            name: Some("Example".into()),
            logo: Some("logo.svg".into()),
            css: Some("own.css".into()),
            ..Brand::default()
        };
        let brands = brand.read(folder.path()).unwrap();
        let read = brands.own();
        assert_eq!(read.name(), "Example");
        assert_eq!(read.logo().unwrap().media_type, "image/svg+xml");
        let refused = |change: fn(&mut Brand)| {
            let mut brand = Brand::default();
            change(&mut brand);
            brand.read(folder.path()).unwrap_err().0
        };
        std::fs::write(folder.path().join("big"), vec![0; 300 * 1024]).unwrap();
        assert_eq!(refused(|b| b.logo = Some("big".into())), "logo");
        assert_eq!(refused(|b| b.css = Some("big".into())), "css");
        assert_eq!(refused(|b| b.favicon = Some("own.css".into())), "favicon");
        assert_eq!(refused(|b| b.css = Some("missing".into())), "css");
        assert_eq!(refused(|b| b.accent = Some("#ffff00".into())), "accent");
    }

    #[test]
    fn a_clients_brand_is_checked_together_with_what_it_has_of_the_realm() {
        let of_client = |client: Brand| Brand {
            name: Some("Example".into()),
            background: Some("#f4f5f7".into()),
            clients: BTreeMap::from([("shop".to_owned(), client)]),
            ..Brand::default()
        };
        let accent = |accent: &str| Brand {
            accent: Some(accent.into()),
            ..Brand::default()
        };
        let here = Path::new(".");
        let read = of_client(accent("#7a1fa2")).read(here).unwrap();
        let (shop, other) = (read.of(Some("shop")), read.of(Some("other")));
        assert_eq!((shop.name(), shop.button().0), ("Example", "#7a1fa2"));
        assert_eq!(other.button(), read.own().button());
        let (member, _) = of_client(accent("#ffff00")).read(here).unwrap_err();
        assert_eq!(member, "clients.shop.accent");
        // It can be read on the white card, and not on the realm's ground.
        let (member, _) = of_client(accent("#757575")).read(here).unwrap_err();
        assert_eq!(member, "clients.shop.background");
        let (member, _) = of_client(of_client(Brand::default()))
            .read(here)
            .unwrap_err();
        assert_eq!(member, "clients.shop.clients");
    }
}
