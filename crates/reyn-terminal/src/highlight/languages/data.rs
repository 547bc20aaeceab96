//! Data, queries, and what describes a build or a page.

use super::{LONG_QUOTES, Language, PYTHON_QUOTES, Scheme, YAML_QUOTES, bare, words};

pub(super) fn data() -> Vec<Language> {
    vec![
        Language {
            line_comments: &["//"],
            block_comment: Some(("/*", "*/")),
            key_mark: Some(':'),
            ..bare("json jsonc json5 jsonl ndjson geojson", "", "true false null")
        },
        Language {
            quotes: YAML_QUOTES,
            key_mark: Some(':'),
            is_wordy: true,
            ..bare("yaml yml", "", "true false null yes no on off True False Null ~")
        },
        Language {
            line_comments: &["#", ";"],
            quotes: PYTHON_QUOTES,
            key_mark: Some('='),
            is_wordy: true,
            has_sections: true,
            ..bare("toml ini cfg conf properties editorconfig dotenv env systemd", "", "true false")
        },
    ]
}

pub(super) fn queries() -> Vec<Language> {
    vec![Language {
        line_comments: &["--"],
        block_comment: Some(("/*", "*/")),
        is_case_blind: true,
        types: words(
            "bigint blob boolean bytea char date datetime decimal double float int integer json jsonb numeric \
                 real serial smallint text time timestamp timestamptz uuid varchar",
        ),
        ..bare(
            "sql mysql postgres postgresql pgsql plpgsql sqlite tsql",
            "add all alter analyze and any as asc begin between by cascade case check column commit constraint \
                 create cross database default delete desc distinct drop else end except exists explain foreign from \
                 full function grant group having if ilike in index inner insert intersect into is join key left \
                 like limit materialized natural not offset on or order outer over partition primary procedure \
                 references returning revoke right rollback select set table then to transaction trigger truncate \
                 union unique update using values view when where window with",
            "true false null",
        )
    }]
}

pub(super) fn builds() -> Vec<Language> {
    vec![
        Language {
            line_comments: &["//"],
            block_comment: Some(("/*", "*/")),
            key_mark: Some(':'),
            is_wordy: true,
            has_variables: true,
            has_decorators: true,
            ..bare("css scss less sass", "important", "none auto inherit initial unset")
        },
        Language {
            is_case_blind: true,
            is_wordy: true,
            has_variables: true,
            ..bare(
                "dockerfile docker containerfile",
                "add arg as cmd copy entrypoint env expose from healthcheck label maintainer onbuild run shell \
                 stopsignal user volume workdir",
                "",
            )
        },
        Language {
            is_wordy: true,
            has_variables: true,
            key_mark: Some(':'),
            ..bare(
                "makefile make mk just justfile",
                "define endef else endif export ifdef ifeq ifndef ifneq include",
                "",
            )
        },
        Language {
            line_comments: &["#", "//"],
            block_comment: Some(("/*", "*/")),
            key_mark: Some('='),
            ..bare(
                "hcl terraform tf",
                "data dynamic for for_each if in locals module output provider resource terraform variable",
                "true false null",
            )
        },
        Language {
            line_comments: &["#"],
            quotes: LONG_QUOTES,
            has_capital_types: true,
            ..bare(
                "graphql gql",
                "directive enum extend fragment implements input interface mutation on query scalar schema \
                 subscription type union",
                "true false null",
            )
        },
        Language {
            line_comments: &["//"],
            block_comment: Some(("/*", "*/")),
            types: words(
                "bool bytes double fixed32 fixed64 float int32 int64 sint32 sint64 string uint32 uint64",
            ),
            has_capital_types: true,
            ..bare(
                "protobuf proto",
                "enum extend extensions import map message oneof option optional package repeated required reserved \
                 returns rpc service stream syntax",
                "true false",
            )
        },
    ]
}

pub(super) fn pages() -> Vec<Language> {
    vec![
        Language {
            scheme: Scheme::Markup,
            ..bare("html htm xhtml xml svg vue svelte xsl plist jsp", "", "")
        },
        Language { scheme: Scheme::Diff, ..bare("diff patch", "", "") },
    ]
}
