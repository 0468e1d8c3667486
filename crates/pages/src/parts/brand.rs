//! The face of a realm, and of its clients: name, logo, colours, links, style sheet. Colours that
//! cannot be read are refused when they are configured (WCAG 2.2, success criteria 1.4.3 and
//! 1.4.11).

use std::{collections::HashMap, fmt::Write, sync::Arc};

use signet_oauth::params::encode_into;
use signet_texts::OwnTexts;

use crate::parts::style::{STYLE, csp_hash};

/// Longest own style sheet, in bytes: it goes out with every page.
pub const MAX_CSS_BYTES: usize = 32 * 1024;
/// Longest name, in bytes: it has to fit a telephone.
pub const MAX_BRAND_NAME_BYTES: usize = 64;
/// Least contrast of text (WCAG 2.2 AA, success criterion 1.4.3).
pub const MIN_CONTRAST: f64 = 4.5;

/// The cards that text stands on, of the two schemes; as in the style sheet.
const CARD_LIGHT: Color = Color(0xff, 0xff, 0xff);
const CARD_DARK: Color = Color(0x18, 0x21, 0x1e);
/// The softest text on the ground, of the light scheme.
const SOFT_LIGHT: Color = Color(0x52, 0x62, 0x5b);
/// What stands on the accent: the better of these.
const INKS: [(Color, &str); 2] = [
    (Color(0xff, 0xff, 0xff), "#ffffff"),
    (Color(0, 0, 0), "#000000"),
];
const ACCENT: &str = "#0b6b50";

/// A picture that the server has and serves itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Picture {
    /// Its media type, from its first bytes.
    pub media_type: &'static str,
    /// The file.
    pub bytes: Vec<u8>,
}

impl Picture {
    /// PNG, JPEG, WebP, ICO or SVG. None: none of them.
    pub fn of(bytes: Vec<u8>) -> Option<Picture> {
        let start = String::from_utf8_lossy(&bytes[..bytes.len().min(512)]);
        let media_type = match &*bytes {
            [0x89, b'P', b'N', b'G', ..] => "image/png",
            [0xff, 0xd8, 0xff, ..] => "image/jpeg",
            [
                b'R',
                b'I',
                b'F',
                b'F',
                _,
                _,
                _,
                _,
                b'W',
                b'E',
                b'B',
                b'P',
                ..,
            ] => "image/webp",
            [0, 0, 1, 0, ..] => "image/x-icon",
            _ if start.contains("<svg") => "image/svg+xml",
            _ => return None,
        };
        Some(Picture { media_type, bytes })
    }
}

/// What a brand is made of, as it is configured.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct BrandParts {
    /// What the pages are called. None: Signet.
    pub name: Option<String>,
    /// Beside the name, or, where it says the name itself, in its place.
    pub logo: Option<Picture>,
    /// The icon of the browser's tab.
    pub favicon: Option<Picture>,
    /// `#rrggbb`: buttons and links of the light scheme.
    pub accent: Option<String>,
    /// The same of the dark scheme. None: the accent, as light as it has to be.
    pub accent_dark: Option<String>,
    /// `#rrggbb`: behind the card, in the light scheme.
    pub background: Option<String>,
    /// https URL.
    pub privacy: Option<String>,
    /// https URL.
    pub terms: Option<String>,
    /// https URL.
    pub help: Option<String>,
    /// Behind the house's own style sheet.
    pub css: Option<String>,
    /// What pages and mails say in place of the house's texts.
    pub texts: Arc<OwnTexts>,
}

impl BrandParts {
    /// What is not given is the other's. Name and logo go together: the picture of one beside the
    /// name of the other would say what neither is.
    #[must_use]
    pub fn or(self, other: BrandParts) -> BrandParts {
        let (name, logo) = match (self.name, self.logo) {
            (None, None) => (other.name, other.logo),
            own => own,
        };
        BrandParts {
            name,
            logo,
            favicon: self.favicon.or(other.favicon),
            // The dark twin of another accent is of another colour.
            accent_dark: match self.accent.is_some() {
                true => self.accent_dark,
                false => self.accent_dark.or(other.accent_dark),
            },
            accent: self.accent.or(other.accent),
            background: self.background.or(other.background),
            privacy: self.privacy.or(other.privacy),
            terms: self.terms.or(other.terms),
            help: self.help.or(other.help),
            css: self.css.or(other.css),
            texts: match self.texts.is_empty() {
                true => other.texts,
                false => Arc::new(self.texts.over(&other.texts)),
            },
        }
    }
}

/// The brands of a realm: its own, and those of clients that have one.
#[derive(Debug, Default)]
pub struct Brands {
    own: Arc<Brand>,
    clients: HashMap<String, Arc<Brand>>,
}

impl Brands {
    /// Of the realm alone.
    pub fn new(own: Brand) -> Brands {
        Brands {
            own: Arc::new(own),
            clients: HashMap::new(),
        }
    }

    /// Adds that of a client, by its `client_id`.
    #[must_use]
    pub fn with_client(mut self, client_id: &str, mut brand: Brand) -> Brands {
        let mut query = String::from("?client_id=");
        encode_into(client_id, &mut query);
        brand.query = query;
        self.clients.insert(client_id.to_owned(), Arc::new(brand));
        self
    }

    /// The realm's.
    pub fn own(&self) -> &Arc<Brand> {
        &self.own
    }

    /// What a page looks like that is shown for a client, if it is for one.
    pub fn of(&self, client_id: Option<&str>) -> &Arc<Brand> {
        client_id
            .and_then(|client_id| self.clients.get(client_id))
            .unwrap_or(&self.own)
    }
}

/// A brand that can be shown.
#[derive(Debug)]
pub struct Brand {
    name: String,
    is_named: bool,
    /// Behind the addresses of its pictures: whose they are.
    pub(crate) query: String,
    button: (String, &'static str),
    pub(crate) is_own: bool,
    logo: Option<Picture>,
    favicon: Option<Picture>,
    pub(crate) links: Vec<(&'static str, String)>,
    colors: String,
    colors_hash: String,
    pub(crate) style: String,
    pub(crate) style_hash: String,
    pub(crate) texts: Arc<OwnTexts>,
}

impl Default for Brand {
    fn default() -> Self {
        // Invariant: nothing was configured that could be refused.
        Brand::new(BrandParts::default()).expect("the house's own brand can be shown")
    }
}

impl Brand {
    /// Checks it. The error names the member, and says what is wrong with it.
    pub fn new(parts: BrandParts) -> Result<Brand, (&'static str, String)> {
        let name = parts.name.as_deref().map(str::trim);
        if let Some(name) = name
            && (name.is_empty()
                || name.len() > MAX_BRAND_NAME_BYTES
                || name.contains(char::is_control))
        {
            let text = format!("needs 1 to {MAX_BRAND_NAME_BYTES} bytes of text");
            return Err(("name", text));
        }
        let accent = color("accent", parts.accent.as_deref())?;
        if let Some(accent) = accent {
            readable("accent", accent, CARD_LIGHT, "the white card")?;
        }
        let dark = match (color("accent_dark", parts.accent_dark.as_deref())?, accent) {
            (Some(dark), _) => {
                readable("accent_dark", dark, CARD_DARK, "the dark card")?;
                Some(dark)
            }
            (None, Some(accent)) => Some(accent.lightened_for(CARD_DARK)),
            (None, None) => None,
        };
        let background = color("background", parts.background.as_deref())?;
        if let Some(background) = background {
            readable("background", background, SOFT_LIGHT, "the text on it")?;
            if let Some(accent) = accent {
                readable("background", background, accent, "the accent's links on it")?;
            }
        }
        let mut links = Vec::new();
        for (member, text, url) in [
            ("privacy", "page-privacy", parts.privacy),
            ("terms", "page-terms", parts.terms),
            ("help", "page-help", parts.help),
        ] {
            let Some(url) = url else { continue };
            if !url.starts_with("https://") || url.contains(|c: char| c.is_control() || c == ' ') {
                return Err((member, "needs an https URL".to_owned()));
            }
            links.push((text, url));
        }
        let css = parts.css.unwrap_or_default();
        if css.len() > MAX_CSS_BYTES {
            let text = format!("is longer than {MAX_CSS_BYTES} bytes");
            return Err(("css", text));
        }
        // It stands in a `<style>`, whose end must not be in it.
        if css.contains('<') {
            return Err(("css", "must not contain `<`".to_owned()));
        }
        let mut style = String::new();
        if let Some(accent) = accent {
            let (ink, soft) = (accent.ink().1, accent.mixed(CARD_LIGHT, 0.9));
            let _ = write!(
                style,
                ":root{{--accent:{accent};--accent-ink:{ink};--accent-soft:{soft}}}"
            );
        }
        if let Some(background) = background {
            let _ = write!(style, ":root{{--ground:{background}}}");
        }
        if accent.is_some() || dark.is_some() || background.is_some() {
            style.push_str("@media(prefers-color-scheme:dark){:root{");
            if let Some(dark) = dark {
                let (ink, soft) = (dark.ink().1, dark.mixed(CARD_DARK, 0.85));
                let _ = write!(
                    style,
                    "--accent:{dark};--accent-ink:{ink};--accent-soft:{soft};"
                );
            }
            style.push_str("--ground:#101614}}");
        }
        let colors = style;
        let mut style = STYLE.clone();
        style.push_str(&colors);
        style.push_str(&css);
        let button = match accent {
            Some(accent) => (accent.to_string(), accent.ink().1),
            None => (ACCENT.to_owned(), INKS[0].1),
        };
        Ok(Brand {
            is_own: name.is_none() && parts.logo.is_none(),
            is_named: name.is_some(),
            name: name.unwrap_or("Signet").to_owned(),
            query: String::new(),
            button,
            logo: parts.logo,
            favicon: parts.favicon,
            links,
            colors_hash: csp_hash(colors.as_bytes()),
            colors,
            style_hash: csp_hash(style.as_bytes()),
            style,
            texts: parts.texts,
        })
    }

    /// What the pages are called.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// As [`Brand::name`], where somebody chose it.
    pub fn chosen_name(&self) -> Option<&str> {
        self.is_named.then_some(&*self.name)
    }

    /// Its colours as a style sheet that sets custom properties alone, and the hash that a policy
    /// names; empty: the house's own. For pages with a style sheet of their own.
    pub fn colors(&self) -> (&str, &str) {
        (&self.colors, &self.colors_hash)
    }

    /// Colours of a main button and of its text.
    pub fn button(&self) -> (&str, &str) {
        (&self.button.0, self.button.1)
    }

    /// The picture beside the name.
    pub fn logo(&self) -> Option<&Picture> {
        self.logo.as_ref()
    }

    /// The icon of the browser's tab, where it is not the house's own.
    pub fn favicon(&self) -> Option<&Picture> {
        self.favicon.as_ref()
    }
}

fn color(
    member: &'static str,
    text: Option<&str>,
) -> Result<Option<Color>, (&'static str, String)> {
    match text.map(Color::parse) {
        None => Ok(None),
        Some(Some(color)) => Ok(Some(color)),
        Some(None) => Err((member, "needs a colour as #rrggbb".to_owned())),
    }
}

fn readable(
    member: &'static str,
    one: Color,
    other: Color,
    what: &str,
) -> Result<(), (&'static str, String)> {
    let contrast = one.contrast(other);
    if contrast >= MIN_CONTRAST {
        return Ok(());
    }
    // Cut, not rounded: 4.49 is not enough.
    let shown = (contrast * 100.0).floor() / 100.0;
    let text = format!(
        "its contrast with {what} is {shown:.2}, and WCAG AA asks for {MIN_CONTRAST} at least"
    );
    Err((member, text))
}

/// An sRGB colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Color(u8, u8, u8);

impl std::fmt::Display for Color {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "#{:02x}{:02x}{:02x}", self.0, self.1, self.2)
    }
}

impl Color {
    fn parse(text: &str) -> Option<Color> {
        let digits = text.strip_prefix('#')?;
        if digits.len() != 6 || !digits.bytes().all(|b| b.is_ascii_hexdigit()) {
            return None;
        }
        let [_, red, green, blue] = u32::from_str_radix(digits, 16).ok()?.to_be_bytes();
        Some(Color(red, green, blue))
    }

    /// WCAG 2.2, "relative luminance".
    fn luminance(self) -> f64 {
        let linear = |channel: u8| {
            let value = f64::from(channel) / 255.0;
            match value <= 0.04045 {
                true => value / 12.92,
                false => ((value + 0.055) / 1.055).powf(2.4),
            }
        };
        0.2126 * linear(self.0) + 0.7152 * linear(self.1) + 0.0722 * linear(self.2)
    }

    /// WCAG 2.2, "contrast ratio": 1 to 21.
    fn contrast(self, other: Color) -> f64 {
        let (one, two) = (self.luminance(), other.luminance());
        (one.max(two) + 0.05) / (one.min(two) + 0.05)
    }

    /// `share` of the way to another one.
    fn mixed(self, other: Color, share: f64) -> Color {
        let mix = |from: u8, to: u8| {
            let (from, to) = (f64::from(from), f64::from(to));
            (from + (to - from) * share).round() as u8
        };
        Color(
            mix(self.0, other.0),
            mix(self.1, other.1),
            mix(self.2, other.2),
        )
    }

    /// As little lighter as it can be read on `ground`.
    fn lightened_for(self, ground: Color) -> Color {
        (0..=20)
            .map(|step| self.mixed(Color(0xff, 0xff, 0xff), f64::from(step) / 20.0))
            .find(|color| color.contrast(ground) >= MIN_CONTRAST)
            .unwrap_or(Color(0xff, 0xff, 0xff))
    }

    /// What is read best on it. White or black: one of them always has a contrast above 4.5.
    fn ink(self) -> (Color, &'static str) {
        let [white, black] = INKS;
        match self.contrast(white.0) >= self.contrast(black.0) {
            true => white,
            false => black,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(change: impl FnOnce(&mut BrandParts)) -> Result<Brand, (&'static str, String)> {
        let mut parts = BrandParts::default();
        change(&mut parts);
        Brand::new(parts)
    }

    #[test]
    fn contrast_is_that_of_wcag() {
        let of = |one, two| {
            Color::parse(one)
                .unwrap()
                .contrast(Color::parse(two).unwrap())
        };
        assert!((of("#000000", "#ffffff") - 21.0).abs() < 0.001);
        // The well-known pair around the bound.
        assert!(of("#767676", "#ffffff") >= 4.5);
        assert!(of("#777777", "#ffffff") < 4.5);
    }

    #[test]
    fn every_accent_has_an_ink_and_a_dark_twin_that_can_be_read() {
        for red in (0..=255).step_by(51) {
            for green in (0..=255).step_by(51) {
                for blue in (0..=255).step_by(51) {
                    let color = Color(red as u8, green as u8, blue as u8);
                    assert!(color.contrast(color.ink().0) >= MIN_CONTRAST, "{color}");
                    let dark = color.lightened_for(CARD_DARK);
                    assert!(dark.contrast(CARD_DARK) >= MIN_CONTRAST, "{color}");
                }
            }
        }
    }

    #[test]
    fn what_cannot_be_read_is_refused_by_name() {
        let refused = |change: fn(&mut BrandParts)| with(change).unwrap_err().0;
        assert_eq!(refused(|b| b.accent = Some("#ffd700".into())), "accent");
        assert_eq!(refused(|b| b.accent = Some("green".into())), "accent");
        assert_eq!(
            refused(|b| b.accent_dark = Some("#101010".into())),
            "accent_dark"
        );
        assert_eq!(
            refused(|b| b.background = Some("#333333".into())),
            "background"
        );
        assert_eq!(refused(|b| b.name = Some(" ".into())), "name");
        assert_eq!(
            refused(|b| b.help = Some("javascript:alert(1)".into())),
            "help"
        );
        assert_eq!(refused(|b| b.css = Some("</style>".into())), "css");
        let (_, text) = with(|b| b.accent = Some("#777777".into())).unwrap_err();
        assert!(text.contains("4.47"), "{text}");
    }

    #[test]
    fn colours_and_the_own_style_sheet_are_in_the_style_that_is_hashed() {
        let brand = with(|b| {
            b.accent = Some("#7a1fa2".into());
            b.css = Some(".brand{font-weight:800}".into());
        })
        .unwrap();
        assert!(brand.style.contains("--accent:#7a1fa2"));
        assert!(brand.style.ends_with(".brand{font-weight:800}"));
        assert_eq!(brand.style_hash, csp_hash(brand.style.as_bytes()));
        assert_eq!(brand.button(), ("#7a1fa2", "#ffffff"));
    }

    #[test]
    fn what_a_clients_brand_leaves_out_is_the_realms_but_no_picture_beside_another_name() {
        let picture = |byte| Picture::of(vec![0x89, b'P', b'N', b'G', byte]);
        let realm = BrandParts {
            name: Some("Realm".into()),
            logo: picture(1),
            accent: Some("#1a5fb4".into()),
            accent_dark: Some("#78aeed".into()),
            help: Some("https://help.example".into()),
            ..BrandParts::default()
        };
        assert_eq!(BrandParts::default().or(realm.clone()), realm);
        let own = BrandParts {
            name: Some("Shop".into()),
            accent: Some("#7a1fa2".into()),
            ..BrandParts::default()
        };
        let both = own.or(realm);
        assert_eq!(both.name.as_deref(), Some("Shop"));
        assert_eq!((both.logo, both.accent_dark), (None, None));
        assert_eq!(both.help.as_deref(), Some("https://help.example"));
    }

    #[test]
    fn a_page_for_a_client_has_that_clients_brand_and_any_other_page_the_realms() {
        let named = |name: &str| with(|b| b.name = Some(name.into())).unwrap();
        let brands = Brands::new(named("Realm")).with_client("a b&c", named("Shop"));
        assert_eq!(brands.of(Some("a b&c")).name(), "Shop");
        assert_eq!(brands.of(Some("a b&c")).query, "?client_id=a%20b%26c");
        for other in [Some("a"), Some(""), None] {
            assert_eq!(brands.of(other).name(), "Realm");
        }
        assert_eq!(brands.own().query, "");
    }

    #[test]
    fn pictures_are_known_by_their_bytes() {
        let of = |bytes: &[u8]| Picture::of(bytes.to_vec()).map(|p| p.media_type);
        assert_eq!(of(b"\x89PNG\r\n"), Some("image/png"));
        assert_eq!(of(b"<?xml?><svg xmlns="), Some("image/svg+xml"));
        assert_eq!(of(b"<html>"), None);
        assert_eq!(of(b""), None);
    }
}
