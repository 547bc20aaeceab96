//! Languages that are run as they are.

use super::{DOUBLE_QUOTES, LONG_QUOTES, LUA_QUOTES, Language, PYTHON_QUOTES, SHELL_QUOTES, bare, words};

pub(super) fn scripts() -> Vec<Language> {
    const SHELL_WORDS: &str = "if then elif else fi for while until do done case esac in function select time return \
        exit break continue local export readonly declare unset shift set source alias trap eval exec";
    vec![
        Language {
            quotes: PYTHON_QUOTES,
            types: words("bool bytes dict float frozenset int list object set str tuple type"),
            has_capital_types: true,
            has_text_prefixes: true,
            has_decorators: true,
            ..bare(
                "python py py3 python3 pyi pycon starlark bzl",
                "and as assert async await break case class continue def del elif else except finally for from \
                 global if import in is lambda match nonlocal not or pass raise return try while with yield",
                "True False None self cls",
            )
        },
        Language {
            quotes: SHELL_QUOTES,
            is_wordy: true,
            has_variables: true,
            ..bare("bash sh shell zsh ksh fish", SHELL_WORDS, "true false")
        },
        Language {
            quotes: DOUBLE_QUOTES,
            is_wordy: true,
            has_variables: true,
            ..bare("console shell-session sh-session terminal", SHELL_WORDS, "true false")
        },
        Language {
            block_comment: Some(("<#", "#>")),
            is_wordy: true,
            is_case_blind: true,
            has_variables: true,
            ..bare(
                "powershell ps1 pwsh",
                "begin break catch class continue data do dynamicparam else elseif end enum exit filter finally for \
                 foreach from function if in param process return switch throw trap try until using while",
                "",
            )
        },
    ]
}

pub(super) fn glue() -> Vec<Language> {
    vec![
        Language {
            has_capital_types: true,
            ..bare(
                "ruby rb",
                "alias and begin break case class def defined? do else elsif end ensure extend for if in include \
                 module next not or prepend private protected public raise redo require require_relative rescue \
                 retry return super then undef unless until when while yield attr_accessor attr_reader attr_writer",
                "true false nil self",
            )
        },
        Language {
            has_variables: true,
            ..bare(
                "perl pl pm",
                "and cmp do else elsif eq foreach for ge given gt if last le local lt my ne next no not or our \
                 package print redo require return say state sub unless until use when while",
                "undef",
            )
        },
        Language {
            line_comments: &["--"],
            block_comment: Some(("--[[", "]]")),
            quotes: LUA_QUOTES,
            ..bare(
                "lua luau",
                "and break do else elseif end for function goto if in local not or repeat return then until while",
                "true false nil self",
            )
        },
        bare(
            "r",
            "break else for function if in next repeat return while library require",
            "TRUE FALSE NULL NA NaN Inf",
        ),
        Language {
            quotes: LONG_QUOTES,
            has_capital_types: true,
            has_decorators: true,
            ..bare(
                "julia jl",
                "abstract baremodule begin break catch const continue do else elseif end export finally for function \
                 global if import in let local macro module mutable primitive quote return struct try type using \
                 where while",
                "true false nothing missing",
            )
        },
        Language {
            quotes: LONG_QUOTES,
            has_capital_types: true,
            has_decorators: true,
            ..bare(
                "elixir ex exs",
                "after alias and case catch cond def defdelegate defexception defguard defimpl defmacro defmodule \
                 defp defprotocol defstruct do else end fn for if import in not or quote raise receive require \
                 rescue try unless unquote use when with",
                "true false nil",
            )
        },
    ]
}
