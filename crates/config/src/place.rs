//! Places of a file: where a member stands, what stands at a line, and taking it out, so that the
//! rest can be read.
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// The path of another member of the table that this one is in.
pub(crate) fn beside(path: &str, name: &str) -> String {
    match path.rsplit_once('.') {
        Some((table, _)) => format!("{table}.{name}"),
        None => name.to_owned(),
    }
}

/// Takes every value out whose key begins at such a place, and gives their paths.
pub(crate) fn take_out_where(
    table: &mut DeTable<'_>,
    at: &dyn Fn(usize) -> bool,
    path: &str,
    gone: &mut Vec<String>,
) {
    let mut wrong = Vec::new();
    for (key, value) in table.iter_mut() {
        let name = key.get_ref().as_ref();
        let own = match path {
            "" => name.to_owned(),
            path => format!("{path}.{name}"),
        };
        match value.get_mut() {
            DeValue::Table(inner) => take_out_where(inner, at, &own, gone),
            DeValue::Array(items) => {
                for (index, item) in items.iter_mut().enumerate() {
                    if let DeValue::Table(inner) = item.get_mut() {
                        take_out_where(inner, at, &format!("{own}[{index}]"), gone);
                    }
                }
            }
            _ if at(key.span().start) => wrong.push((key.clone(), own)),
            _ => {}
        }
    }
    for (key, own) in wrong {
        table.remove(&key);
        gone.push(own);
    }
}

/// Takes the innermost value at this place of the text out, and gives its path. None: there is no
/// such value.
pub(crate) fn take_out(table: &mut DeTable<'_>, at: usize, path: &str) -> Option<String> {
    let mut here = None;
    for (key, value) in table.iter_mut() {
        let holds = value.span().contains(&at) || key.span().contains(&at);
        let name = key.get_ref().as_ref();
        let own = match path {
            "" => name.to_owned(),
            path => format!("{path}.{name}"),
        };
        let taken = match value.get_mut() {
            DeValue::Table(inner) => take_out(inner, at, &own),
            DeValue::Array(items) => items.iter_mut().enumerate().find_map(|(i, item)| {
                let DeValue::Table(inner) = item.get_mut() else {
                    return None;
                };
                take_out(inner, at, &format!("{own}[{i}]"))
            }),
            _ => None,
        };
        if taken.is_some() {
            return taken;
        }
        if holds {
            here = Some((key.clone(), own));
        }
    }
    let (key, own) = here?;
    table.remove(&key).map(|_| own)
}

pub(crate) fn position(text: &str, offset: usize) -> (usize, usize) {
    let before = &text.as_bytes()[..offset.min(text.len())];
    let line = before.iter().filter(|b| **b == b'\n').count() + 1;
    let column = before.iter().rev().take_while(|b| **b != b'\n').count() + 1;
    (line, column)
}

pub(crate) fn offset(text: &str, line: usize, column: usize) -> usize {
    let before = text.split_inclusive('\n').take(line.saturating_sub(1));
    before.map(str::len).sum::<usize>() + column.saturating_sub(1)
}

/// Former names, which go on to be read: the name, and what it is called now. If both are written,
/// the error says that one is there twice.
pub(crate) const FORMER: &[(&str, &str)] = &[("guessing", "login_limits")];

/// The line of a file that gives a setting; none where it does not, or is no TOML.
pub fn line_of(text: &str, path: &str) -> Option<usize> {
    let root = DeTable::parse(text).ok()?;
    let mut names = path.split('.');
    let mut table = root.get_ref();
    loop {
        let name = names.next()?;
        let former = FORMER.iter().find(|(_, now)| *now == name);
        let former = former.map(|(former, _)| *former);
        let (key, value) = table.iter().find(|(key, _)| {
            let key: &str = key.get_ref();
            key == name || Some(key) == former
        })?;
        match value.get_ref().as_table() {
            Some(inner) if names.clone().next().is_some() => table = inner,
            _ => return Some(position(text, key.span().start).0),
        }
    }
}

/// Line and column of `clients[1].redirect_uris[0]`, or of the nearest part of it that the file
/// has.
pub(crate) fn locate(text: &str, root: &DeTable<'_>, path: &str) -> (usize, usize) {
    place(root, path).map_or((0, 0), |(offset, _)| position(text, offset))
}

/// Where the nearest part of a path that the file has begins, and whether that is all of it.
pub(crate) fn place(root: &DeTable<'_>, path: &str) -> Option<(usize, bool)> {
    let mut offset = None;
    let mut table = Some(root);
    for segment in path.split('.') {
        let mut parts = segment.split(['[', ']']).filter(|p| !p.is_empty());
        let name = parts.next()?;
        let named = |(key, _): &(&Spanned<_>, &Spanned<DeValue<'_>>)| is_named(key, name);
        let Some((key, value)) = table.and_then(|t| t.iter().find(named)) else {
            return offset.map(|offset| (offset, false));
        };
        offset = Some(key.span().start);
        let mut value = value;
        for index in parts {
            let item = index
                .parse::<usize>()
                .ok()
                .and_then(|i| value.get_ref().get(i));
            let Some(item) = item else {
                return offset.map(|offset| (offset, false));
            };
            offset = Some(item.span().start);
            value = item;
        }
        table = value.get_ref().as_table();
    }
    offset.map(|offset| (offset, true))
}

fn is_named(key: &Spanned<std::borrow::Cow<'_, str>>, name: &str) -> bool {
    key.get_ref().as_ref() == name
}
