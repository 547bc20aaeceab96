//! The elements that reading a page tells apart.

/// An element by what becomes of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tag {
    /// Begins a line of its own; written with the name.
    Block(&'static str),
    /// Stands in a line; written with the name.
    Inline(&'static str),
    /// Stands in a line and means nothing to a reader: `font`, and any that is not known here.
    Plain,
    /// Like [`Tag::Plain`], of a name with a hyphen, which a page may draw as a block.
    Custom,
    /// Has no content: `br`, `hr`, `wbr`.
    Void(&'static str),
    /// The reading of a ruby text.
    Reading,
    Image,
    /// An input field and other elements without content that say nothing.
    Nothing,
    /// Dropped with all that is in it.
    Dropped(&'static str),
    Title,
    Meta,
    Base,
    /// `html`, `head`, `body`: every page has them, written or not.
    Frame,
}

impl Tag {
    /// The element of that name, in upper or lower case.
    pub(crate) fn of_name(name: &str) -> Self {
        let mut lower = [0; NAME_BYTES_MAX];
        let Some(lower) = lower.get_mut(..name.len()) else {
            return if name.contains('-') { Self::Custom } else { Self::Plain };
        };
        lower.copy_from_slice(name.as_bytes());
        lower.make_ascii_lowercase();
        let known = std::str::from_utf8(lower).ok().and_then(|name| {
            TAGS.binary_search_by(|(known, _)| (*known).cmp(name)).ok().map(|at| TAGS[at].1)
        });
        known.unwrap_or(if name.contains('-') { Self::Custom } else { Self::Plain })
    }

    /// Whether what follows its start tag is text up to its end tag.
    pub(crate) fn has_raw_text(self) -> bool {
        matches!(
            self,
            Self::Title
                | Self::Dropped("script" | "style" | "iframe" | "noembed" | "noframes" | "textarea")
                | Self::Block("xmp" | "plaintext")
        )
    }

    /// Whether it indents what is in it, or may hold that many cells.
    pub(crate) fn is_indent(self) -> bool {
        matches!(self, Self::Block("ul" | "ol" | "dl" | "blockquote" | "table"))
    }

    /// Whether it ends a paragraph that is open.
    pub(crate) fn ends_paragraph(self) -> bool {
        match self {
            Self::Block(_) => !self.is_in_table(),
            Self::Void(name) => name == "hr",
            Self::Inline(_) | Self::Plain | Self::Custom | Self::Reading | Self::Image | Self::Nothing => {
                false
            }
            Self::Dropped(_) | Self::Title | Self::Meta | Self::Base | Self::Frame => false,
        }
    }

    /// What the start of this element ends when it is open, and what bounds the search for it.
    pub(crate) fn siblings(self) -> Option<(&'static [Tag], &'static [Tag])> {
        let (Self::Block(name) | Self::Inline(name)) = self else {
            return None;
        };
        Some(match name {
            "li" => (&[Self::Block("li")], &[Self::Block("ul"), Self::Block("ol")]),
            "dt" | "dd" => (&[Self::Block("dt"), Self::Block("dd")], &[Self::Block("dl")]),
            "td" | "th" => (&CELLS, &TABLE),
            "tr" => (&ROWS, &TABLE),
            "tbody" | "thead" | "tfoot" => (&PARTS, &TABLE),
            "a" => (&[Self::Inline("a")], &CELLS),
            _ => return None,
        })
    }

    /// Whether it is `h1` to `h6`.
    pub(crate) fn is_heading(self) -> bool {
        matches!(self, Self::Block("h1" | "h2" | "h3" | "h4" | "h5" | "h6"))
    }

    /// Whether it makes sense only in a list or a table.
    pub(crate) fn is_item(self) -> bool {
        matches!(self, Self::Block("li" | "dt" | "dd")) || self.is_in_table()
    }

    /// Whether it makes sense only in a table.
    pub(crate) fn is_in_table(self) -> bool {
        matches!(self, Self::Block("td" | "th" | "tr" | "tbody" | "thead" | "tfoot" | "caption"))
    }

    /// Whether its class may say that it is not of the article. A heading or a row of a table that is in the
    /// article is of it, whatever its class: `code-header` is no header of the page.
    pub(crate) fn is_told_by_class(self) -> bool {
        match self {
            Self::Block("pre" | "dt" | "dd" | "blockquote" | "summary" | "xmp" | "plaintext") => false,
            Self::Block(_) => !self.is_heading() && !self.is_in_table(),
            Self::Inline(name) => name == "a",
            Self::Plain | Self::Custom | Self::Reading | Self::Image | Self::Nothing | Self::Void(_) => false,
            Self::Dropped(_) | Self::Title | Self::Meta | Self::Base | Self::Frame => false,
        }
    }

    /// Whether it is a cell of a table, or as closed as one.
    pub(crate) fn is_cell(self) -> bool {
        CELLS.contains(&self)
    }
}

const TABLE: [Tag; 1] = [Tag::Block("table")];
const CELLS: [Tag; 3] = [Tag::Block("td"), Tag::Block("th"), Tag::Block("caption")];
const ROWS: [Tag; 2] = [Tag::Block("tr"), Tag::Block("caption")];
const PARTS: [Tag; 4] =
    [Tag::Block("tbody"), Tag::Block("thead"), Tag::Block("tfoot"), Tag::Block("caption")];

/// Bytes of the longest name in [`TAGS`].
const NAME_BYTES_MAX: usize = 10;

const fn block(name: &'static str) -> (&'static str, Tag) {
    (name, Tag::Block(name))
}

const fn inline(name: &'static str) -> (&'static str, Tag) {
    (name, Tag::Inline(name))
}

const fn void(name: &'static str) -> (&'static str, Tag) {
    (name, Tag::Void(name))
}

const fn dropped(name: &'static str) -> (&'static str, Tag) {
    (name, Tag::Dropped(name))
}

/// By name, for a binary search. What is not in it is [`Tag::Plain`].
const TAGS: [(&str, Tag); 114] = [
    inline("a"),
    inline("abbr"),
    block("address"),
    dropped("annotation"),
    dropped("applet"),
    ("area", Tag::Nothing),
    block("article"),
    block("aside"),
    dropped("audio"),
    inline("b"),
    ("base", Tag::Base),
    ("bgsound", Tag::Nothing),
    block("blockquote"),
    ("body", Tag::Frame),
    void("br"),
    dropped("canvas"),
    block("caption"),
    ("center", Tag::Block("div")),
    inline("cite"),
    inline("code"),
    ("col", Tag::Nothing),
    dropped("datalist"),
    block("dd"),
    inline("del"),
    block("details"),
    inline("dfn"),
    block("dialog"),
    ("dir", Tag::Block("ul")),
    block("div"),
    block("dl"),
    block("dt"),
    inline("em"),
    ("embed", Tag::Nothing),
    ("fieldset", Tag::Block("div")),
    block("figcaption"),
    block("figure"),
    block("footer"),
    ("form", Tag::Block("div")),
    ("frame", Tag::Nothing),
    block("h1"),
    block("h2"),
    block("h3"),
    block("h4"),
    block("h5"),
    block("h6"),
    ("head", Tag::Frame),
    block("header"),
    ("hgroup", Tag::Block("header")),
    void("hr"),
    ("html", Tag::Frame),
    inline("i"),
    dropped("iframe"),
    ("image", Tag::Image),
    ("img", Tag::Image),
    ("input", Tag::Nothing),
    inline("ins"),
    inline("kbd"),
    ("keygen", Tag::Nothing),
    inline("label"),
    ("legend", Tag::Block("p")),
    block("li"),
    ("link", Tag::Nothing),
    ("listing", Tag::Block("pre")),
    block("main"),
    dropped("map"),
    inline("mark"),
    ("menu", Tag::Block("ul")),
    ("meta", Tag::Meta),
    block("nav"),
    dropped("noembed"),
    dropped("noframes"),
    dropped("noscript"),
    dropped("object"),
    block("ol"),
    block("p"),
    ("param", Tag::Nothing),
    block("plaintext"),
    block("pre"),
    inline("q"),
    dropped("rp"),
    ("rt", Tag::Reading),
    inline("s"),
    inline("samp"),
    dropped("script"),
    ("search", Tag::Block("section")),
    block("section"),
    dropped("select"),
    ("source", Tag::Nothing),
    inline("span"),
    inline("strong"),
    dropped("style"),
    inline("sub"),
    block("summary"),
    inline("sup"),
    dropped("svg"),
    block("table"),
    block("tbody"),
    block("td"),
    dropped("template"),
    dropped("textarea"),
    block("tfoot"),
    block("th"),
    block("thead"),
    inline("time"),
    ("title", Tag::Title),
    block("tr"),
    ("track", Tag::Nothing),
    inline("tt"),
    inline("u"),
    block("ul"),
    inline("var"),
    dropped("video"),
    void("wbr"),
    block("xmp"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_in_order_and_no_name_in_it_is_longer_than_the_bound() {
        assert!(TAGS.windows(2).all(|pair| pair[0].0 < pair[1].0));
        assert_eq!(TAGS.iter().map(|(name, _)| name.len()).max(), Some(NAME_BYTES_MAX));
    }

    #[test]
    fn a_name_is_known_in_any_case_and_an_unknown_one_is_plain() {
        for (name, expected) in [
            ("div", Tag::Block("div")),
            ("DIV", Tag::Block("div")),
            ("BlockQuote", Tag::Block("blockquote")),
            ("font", Tag::Plain),
            ("d\u{130}v", Tag::Plain),
            ("", Tag::Plain),
            ("my-card", Tag::Custom),
            ("a-very-long-name-of-an-element", Tag::Custom),
        ] {
            assert_eq!(Tag::of_name(name), expected, "{name}");
        }
    }
}
