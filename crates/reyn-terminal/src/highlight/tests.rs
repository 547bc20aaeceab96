//! Code as it is coloured.

use expect_test::{Expect, expect};
use proptest::prelude::*;

use super::*;

/// The code with what is coloured in brackets, after the first letter of what it is.
fn shown(name: &str, code: &str) -> String {
    let mut highlighter = Highlighter::new(name);
    let mut out = String::new();
    for line in code.lines() {
        for span in highlighter.line(line).spans() {
            let kind = match span.style() {
                COMMENT => "comment",
                TEXT => "text",
                KEYWORD => "word",
                CONSTANT => "constant",
                FUNCTION => "function",
                TYPE => "type",
                _ => "",
            };
            if kind.is_empty() {
                out.push_str(span.text());
            } else {
                out.push_str(&format!("⟨{} {}⟩", &kind[..1], span.text()));
            }
        }
        out.push('\n');
    }
    out
}

fn check(name: &str, code: &str, expected: &Expect) {
    expected.assert_eq(&shown(name, code));
}

#[test]
fn rust() {
    check(
        "rust",
        r####"
/// Docs /* no
pub async fn parse<'a>(text: &'a str, c: char) -> Option<u8> {
    let MAX_LEN = 0xff_u8 + 1..10; /* a /* nested
    comment */ still */ let x = 'x';
    println!("two \" {}
lines", r#"raw " text"#, self.type_of(b"x"), '\'');
    r##"over
"# lines"##
}"####,
        &expect![[r###"

            ⟨c /// Docs /* no⟩
            ⟨w pub⟩ ⟨w async⟩ ⟨w fn⟩ parse<⟨t 'a⟩>(text: &⟨t 'a⟩ ⟨t str⟩, c: ⟨t char⟩) -> ⟨t Option⟩<⟨t u8⟩> {
                ⟨w let⟩ ⟨c MAX_LEN⟩ = ⟨c 0xff_u8⟩ + ⟨c 1⟩..⟨c 10⟩; ⟨c /* a /* nested⟩
            ⟨c     comment */ still */⟩ ⟨w let⟩ x = ⟨t 'x'⟩;
                ⟨f println⟩!(⟨t "two \" {}⟩
            ⟨t lines"⟩, ⟨t r#"raw " text"#⟩, ⟨w self⟩.⟨f type_of⟩(⟨t b"x"⟩), ⟨t '\''⟩);
                ⟨t r##"over⟩
            ⟨t "# lines"##⟩
            }
        "###]],
    );
}

#[test]
fn python() {
    check(
        "py",
        r#"
@app.route("/x")
async def load(self, n: int = 1_000) -> List[str]:
    """Docs
    over 'lines'."""
    return f'{n}' if not None else re.match(r"\d", x)  # why"#,
        &expect![[r#"

            ⟨f @app⟩.⟨f route⟩(⟨t "/x"⟩)
            ⟨w async⟩ ⟨w def⟩ ⟨f load⟩(⟨c self⟩, n: ⟨t int⟩ = ⟨c 1_000⟩) -> ⟨t List⟩[⟨t str⟩]:
                ⟨t """Docs⟩
            ⟨t     over 'lines'."""⟩
                ⟨w return⟩ ⟨t f'{n}'⟩ ⟨w if⟩ ⟨w not⟩ ⟨c None⟩ ⟨w else⟩ re.⟨f match⟩(⟨t r"\d"⟩, x)  ⟨c # why⟩
        "#]],
    );
}

#[test]
fn shell() {
    check(
        "bash",
        "for f in \"$HOME\"/*.rs; do echo ${f#x} $1 --for a#b | grep -c 'it''s\n two lines' # end\ndone",
        &expect![[r#"
            ⟨w for⟩ f ⟨w in⟩ ⟨t "$HOME"⟩/*.rs; ⟨w do⟩ echo ⟨c ${f#x}⟩ ⟨c $1⟩ --for a#b | grep -c ⟨t 'it''s⟩
            ⟨t  two lines'⟩ ⟨c # end⟩
            ⟨w done⟩
        "#]],
    );
}

#[test]
fn data() {
    check(
        "json",
        r#"{"a b": ["x", 1.5e-3, true], "c" : null}"#,
        &expect![[r#"
        {⟨f "a b"⟩: [⟨t "x"⟩, ⟨c 1.5e-3⟩, ⟨c true⟩], ⟨f "c"⟩ : ⟨c null⟩}
    "#]],
    );
    check(
        "yaml",
        "on:\n  my-key: it's #1 # note\n  url: http://a.b\n  - \"x\": yes",
        &expect![[r#"
        ⟨f on⟩:
          ⟨f my-key⟩: it's ⟨c #1 # note⟩
          ⟨f url⟩: http://a.b
          - ⟨f "x"⟩: ⟨c yes⟩
    "#]],
    );
    check(
        "toml",
        "[package.x]\nname = \"a\" # n\n\"k\" = ['b']",
        &expect![[r#"
        ⟨t [package.x]⟩
        ⟨f name⟩ = ⟨t "a"⟩ ⟨c # n⟩
        ⟨f "k"⟩ = [⟨t 'b'⟩]
    "#]],
    );
    check(
        "sql",
        "SELECT id FROM t WHERE name = 'a' -- c",
        &expect![[r#"
        ⟨w SELECT⟩ id ⟨w FROM⟩ t ⟨w WHERE⟩ name = ⟨t 'a'⟩ ⟨c -- c⟩
    "#]],
    );
}

#[test]
fn pages() {
    check(
        "html",
        "<!-- a\nb --><a href=\"x\n y\" hidden>日本 &amp; < b</a>",
        &expect![[r#"
        ⟨c <!-- a⟩
        ⟨c b -->⟩⟨w <a⟩ ⟨f href⟩=⟨t "x⟩
        ⟨t  y"⟩ ⟨f hidden⟩⟨w >⟩日本 ⟨c &amp;⟩ < b⟨w </a>⟩
    "#]],
    );
    check(
        "css",
        "a.b { color: #fff; /* x */ }",
        &expect![[r#"
        a.b { ⟨f color⟩: #fff; ⟨c /* x */⟩ }
    "#]],
    );
}

#[test]
fn languages_with_braces() {
    check(
        "tsx",
        "const f = async (x: string): Promise<void> => { await `a\n${x}`; return obj.delete(1) } // c",
        &expect![[r#"
        ⟨w const⟩ f = ⟨w async⟩ (x: ⟨t string⟩): ⟨t Promise⟩<⟨w void⟩> => { ⟨w await⟩ ⟨t `a⟩
        ⟨t ${x}`⟩; ⟨w return⟩ obj.⟨f delete⟩(⟨c 1⟩) } ⟨c // c⟩
    "#]],
    );
    check(
        "cpp",
        "#include <vector>\nint main() { return std::max(1, NULL); }",
        &expect![[r#"
        ⟨w #include⟩ <⟨t vector⟩>
        ⟨t int⟩ ⟨f main⟩() { ⟨w return⟩ std::⟨f max⟩(⟨c 1⟩, ⟨c NULL⟩); }
    "#]],
    );
    check(
        "go",
        "func (s *Server) Run(ctx context.Context) error { return nil }",
        &expect![[r#"
        ⟨w func⟩ (s *⟨t Server⟩) ⟨t Run⟩(ctx context.⟨t Context⟩) ⟨t error⟩ { ⟨w return⟩ ⟨c nil⟩ }
    "#]],
    );
}

#[test]
fn a_text_that_is_not_closed_ends_with_its_line() {
    check(
        "js",
        "let a = 'it\nlet b",
        &expect![[r#"
        ⟨w let⟩ a = ⟨t 'it⟩
        ⟨w let⟩ b
    "#]],
    );
}

#[test]
fn code_of_an_unknown_language_stays_as_it_is() {
    assert_eq!(shown("brainf", "fn 1 \"x\""), "fn 1 \"x\"\n");
    assert_eq!(shown("", "fn 1 \"x\""), "fn 1 \"x\"\n");
}

proptest! {
    #[test]
    fn colours_change_no_letter(
        name in prop::sample::select(vec![
            "rust", "python", "js", "bash", "json", "html", "yaml", "toml", "sql", "lua", "css", "cs", "perl", "diff",
            "haskell", "lisp", "ps1", "make", "nix",
        ]),
        lines in prop::collection::vec("[ -~日é]{0,40}|([\"'`#/*<>!&$@{}\\[\\]()=:r\\\\-]| fn|x1|é){0,20}", 1..6),
    ) {
        let mut highlighter = Highlighter::new(name);
        for line in lines {
            prop_assert_eq!(highlighter.line(&line).text(), line);
        }
    }
}

#[test]
fn a_word_that_no_source_here_holds_is_known() {
    let word = ["un", "safe"].concat();
    assert_eq!(shown("rust", &word), format!("⟨w {word}⟩\n"));
}
