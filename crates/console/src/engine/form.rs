//! A form as a browser sends it. Records have more members than a request of the protocol may have
//! parameters, so forms of the console have bounds of their own.

/// Most fields of a form.
pub(crate) const MAX_FIELDS: usize = 512;

/// Names and values, in the order of the page.
#[derive(Debug, Default)]
pub(crate) struct Form {
    fields: Vec<(String, String)>,
}

impl Form {
    /// `application/x-www-form-urlencoded`, strictly; None: it is none, or a name comes twice.
    pub(crate) fn parse(body: &[u8]) -> Option<Form> {
        let mut fields: Vec<(String, String)> = Vec::new();
        let pairs = body.split(|b| *b == b'&').filter(|pair| !pair.is_empty());
        for pair in pairs {
            let at = pair.iter().position(|b| *b == b'=').unwrap_or(pair.len());
            let name = decoded(&pair[..at])?;
            let value = decoded(pair.get(at + 1..).unwrap_or_default())?;
            if fields.len() == MAX_FIELDS || fields.iter().any(|(known, _)| *known == name) {
                return None;
            }
            // Browsers send line breaks as CR LF.
            fields.push((name, value.replace("\r\n", "\n")));
        }
        Some(Form { fields })
    }

    /// Every field.
    pub(crate) fn all(&self) -> impl Iterator<Item = (&str, &str)> {
        let fields = self.fields.iter();
        fields.map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// The value of a field.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        let mut fields = self.fields.iter();
        let found = fields.find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str())
    }
}

fn decoded(encoded: &[u8]) -> Option<String> {
    let mut bytes = Vec::with_capacity(encoded.len());
    let mut rest = encoded.iter();
    let digit = |b: Option<&u8>| char::from(*b?).to_digit(16);
    while let Some(b) = rest.next() {
        bytes.push(match b {
            b'+' => b' ',
            b'%' => u8::try_from(digit(rest.next())? * 16 + digit(rest.next())?).ok()?,
            other => *other,
        });
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_read_as_they_were_typed() {
        let form = Form::parse(b"form=a%2Bb&b.name=J%C3%BCrgen+B&b.list=x%0D%0Ay&q=").unwrap();
        assert_eq!(form.get("form"), Some("a+b"));
        assert_eq!(form.get("b.list"), Some("x\ny"));
        assert_eq!(form.get("q"), Some(""));
        assert_eq!(form.get("other"), None);
        assert_eq!(form.get("b.name"), Some("Jürgen B"));
    }

    #[test]
    fn what_is_no_form_is_refused() {
        for bad in ["a=%", "a=%2", "a=%zz", "a=%ff", "a=1&a=2"] {
            assert!(Form::parse(bad.as_bytes()).is_none(), "{bad}");
        }
        let many: Vec<String> = (0..=MAX_FIELDS).map(|n| format!("f{n}=1")).collect();
        assert!(Form::parse(many.join("&").as_bytes()).is_none());
    }
}
