//! Words to a model where a reader does not look: comments, hidden elements, captions.

use super::Pattern;
use crate::scan::Scope::All;

/// What is looked for.
pub(super) const PATTERNS: &[Pattern] = &[
    Pattern::block("html_comment_injection", All, &["<!--"], r"(?s:(?:[^-]|-[^-]){0,200}?)@TO_AI@"),
    Pattern::block("html_comment_injection", All, &["[//]: #", "[comment]: #"], r"[^\n]{0,60}?@TO_AI@"),
    Pattern::block(
        "html_comment_injection",
        All,
        &["/*", "# ", "// ", "\"\"\""],
        r"[^\n]{0,40}?\b(?:ai|llm|assistant|copilot|coding agent|language model|agent)s?\b[^\n]{0,50}?[:,]\s*[^\n]{0,60}?\b(?:ignore|disregard|forget|override|your (?:previous|earlier|prior)|do not tell)\b",
    ),
    Pattern::block(
        "hidden_div",
        All,
        &[
            "display:none",
            "display: none",
            "visibility:hidden",
            "visibility: hidden",
            "font-size:0",
            "font-size: 0",
            "font-size:1px",
            "font-size: 1px",
            "opacity:0",
            "opacity: 0",
            "left:-",
            "left: -",
            "top:-",
            "text-indent:-",
            "text-indent: -",
            "color:#fff",
            "color: #fff",
            "color:white",
            "color: white",
            "color:transparent",
            "color: transparent",
            "color:rgba(",
            "height:0",
            "height: 0",
            "clip:rect",
            "aria-hidden=",
            "<div hidden",
            "<span hidden",
            "<p hidden",
            "<section hidden",
            "width:0",
            "<template",
        ],
        r"[^<>]{0,120}>\s*[^<]{0,120}?@TO_AI@",
    ),
    Pattern::block(
        "hidden_div",
        All,
        &["display:none", "display: none", "visibility:hidden", "font-size:0", "opacity:0"],
        r"[^<>]{0,60}\}[^<]{0,200}</style>\s*<\w+[^>]{0,80}>\s*[^<]{0,120}?@TO_AI@",
    ),
    Pattern::block(
        "hidden_div",
        All,
        &["alt=\"", "title=\"", "alt='", "title='", "aria-label=\"", "content=\"", "![", "placeholder=\""],
        r"[^\n\x22\]]{0,60}?(?:\]\([^\s)]{0,80}\s*\x22)?\s*(?:[^\n\x22]{0,60}?\b(?:ai|llm|assistant|model|agent)s?\b(?:[^\n\x22]{0,8}?[:,][^\n\x22]{0,60}?\b(?:overrule|instructions?|recommend|rate|approve|tell|say|do\s+not|never|add)\b|[^\n\x22]{0,40}?\b(?:ignore|drop|disregard|forget|override|must|follow|instead|overrule)\b)|(?:ignore|disregard|forget|override)\s+(?:the|all|any|your|previous)\b)",
    ),
];
