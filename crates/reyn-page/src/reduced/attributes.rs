//! The attributes that say something to a reader.

use crate::bounds::ATTRIBUTE_BYTES_MAX;
use crate::scan::StartTag;

/// What of an element's attributes is read.
#[derive(Default)]
pub(super) struct Attributes<'a> {
    pub(super) class: &'a str,
    pub(super) id: &'a str,
    pub(super) role: &'a str,
    pub(super) href: &'a str,
    pub(super) alt: &'a str,
    pub(super) start: &'a str,
    pub(super) colspan: &'a str,
    pub(super) property: &'a str,
    pub(super) content: &'a str,
    pub(super) is_hidden: bool,
    pub(super) is_open: bool,
}

impl<'a> Attributes<'a> {
    /// The first of each name counts, as in browsers.
    pub(super) fn of(tag: &StartTag<'a>) -> Self {
        let mut read = Self::default();
        let mut aria_hidden = "";
        let mut style = "";
        for (name, value) in tag.attributes() {
            let slot = match name.len() {
                2..=11 => {
                    let is = |known: &str| name.eq_ignore_ascii_case(known);
                    if is("hidden") {
                        read.is_hidden |= !value.eq_ignore_ascii_case("until-found");
                        continue;
                    }
                    if is("open") {
                        read.is_open = true;
                        continue;
                    }
                    match () {
                        () if is("class") => &mut read.class,
                        () if is("id") => &mut read.id,
                        () if is("role") => &mut read.role,
                        () if is("href") => &mut read.href,
                        () if is("alt") => &mut read.alt,
                        () if is("start") || is("value") => &mut read.start,
                        () if is("colspan") => &mut read.colspan,
                        () if is("property") || is("name") => &mut read.property,
                        () if is("content") => &mut read.content,
                        () if is("aria-hidden") => &mut aria_hidden,
                        () if is("style") => &mut style,
                        () => continue,
                    }
                }
                _ => continue,
            };
            if slot.is_empty() && value.len() <= ATTRIBUTE_BYTES_MAX {
                *slot = value;
            }
        }
        read.is_hidden |= aria_hidden.trim().eq_ignore_ascii_case("true") || hides(style);
        read
    }
}

/// Whether a `style` attribute takes the element out of the page.
fn hides(style: &str) -> bool {
    !style.is_empty()
        && unescaped(style).split(';').any(|declaration| {
            declaration.split_once(':').is_some_and(|(property, value)| {
                let value = value.trim().trim_end_matches("!important").trim_end();
                let (property, value) = (property.trim(), value.to_ascii_lowercase());
                property.eq_ignore_ascii_case("display") && value == "none"
                    || property.eq_ignore_ascii_case("visibility") && value == "hidden"
            })
        })
}

/// `value` with the character references that addresses and styles are written with.
pub(crate) fn unescaped(value: &str) -> String {
    let mut text = String::with_capacity(value.len());
    let mut rest = value;
    while let Some((before, after)) = rest.split_once('&') {
        text.push_str(before);
        let reference = after.split_once(';').filter(|(name, _)| name.len() <= 8);
        match reference.and_then(|(name, after)| Some((referenced(name)?, after))) {
            Some((character, after)) => {
                text.push(character);
                rest = after;
            }
            None => {
                text.push('&');
                rest = after;
            }
        }
    }
    text.push_str(rest);
    text
}

fn referenced(name: &str) -> Option<char> {
    let number = name.strip_prefix('#').and_then(|digits| {
        let hexadecimal = digits.strip_prefix(['x', 'X']);
        hexadecimal.map_or_else(|| digits.parse().ok(), |digits| u32::from_str_radix(digits, 16).ok())
    });
    match name {
        "amp" => Some('&'),
        "lt" => Some('<'),
        "gt" => Some('>'),
        "quot" => Some('"'),
        "apos" => Some('\''),
        "nbsp" => Some('\u{A0}'),
        "colon" => Some(':'),
        "Tab" => Some('\t'),
        "NewLine" => Some('\n'),
        _ => number.and_then(char::from_u32),
    }
}
