//! Languages that are compiled.

use super::{
    DOUBLE_QUOTES, GO_QUOTES, LISP_QUOTES, LONG_QUOTES, Language, NIX_QUOTES, PYTHON_QUOTES, RUST_QUOTES,
    SCRIPT_QUOTES, SHARP_QUOTES, bare, braces, words,
};

pub(super) fn systems() -> Vec<Language> {
    const C_TYPES: &str = "bool char char16_t char32_t char8_t double float int int16_t int32_t int64_t int8_t \
        intptr_t long ptrdiff_t short signed size_t ssize_t uint16_t uint32_t uint64_t uint8_t uintptr_t unsigned \
        void wchar_t FILE string vector map";
    vec![
        Language {
            quotes: RUST_QUOTES,
            types: words("bool char f32 f64 i128 i16 i32 i64 i8 isize str u128 u16 u32 u64 u8 usize"),
            has_nested_comments: true,
            has_lifetimes: true,
            has_raw_texts: true,
            has_text_prefixes: true,
            ..braces(
                "rust rs",
                "as async await break const continue crate dyn else enum extern fn for if impl in let loop match \
                 mod move mut pub ref return self static struct super trait type union unsafe_ use where while yield",
                "true false",
            )
        },
        Language {
            types: words(C_TYPES),
            has_directives: true,
            ..braces(
                "c cpp c++ cc cxx h hpp hxx objc objective-c arduino ino cuda cu glsl",
                "alignas alignof asm auto break case catch class co_await co_return co_yield concept const \
                 const_cast consteval constexpr constinit continue decltype default delete do dynamic_cast else enum \
                 explicit export extern final for friend goto if inline mutable namespace new noexcept operator \
                 override private protected public register reinterpret_cast requires restrict return sizeof static \
                 static_assert static_cast struct switch template this thread_local throw try typedef typeid typename \
                 union using virtual volatile while",
                "true false NULL nullptr",
            )
        },
        Language {
            quotes: GO_QUOTES,
            types: words(
                "any bool byte complex128 complex64 error float32 float64 int int16 int32 int64 int8 rune string \
                 uint uint16 uint32 uint64 uint8 uintptr",
            ),
            ..braces(
                "go golang",
                "break case chan const continue default defer else fallthrough for func go goto if import interface \
                 map package range return select struct switch type var",
                "true false nil iota",
            )
        },
        Language {
            block_comment: None,
            types: words(
                "anyerror bool f16 f32 f64 i128 i16 i32 i64 i8 isize type u128 u16 u32 u64 u8 usize void",
            ),
            has_decorators: true,
            ..braces(
                "zig",
                "align allowzero and anytype asm break catch comptime const continue defer else enum errdefer error \
                 export extern fn for if inline noalias noinline or orelse packed pub resume return struct suspend \
                 switch test threadlocal try union unreachable usingnamespace var volatile while",
                "true false null undefined",
            )
        },
    ]
}

pub(super) fn applications() -> Vec<Language> {
    vec![
        Language {
            quotes: SCRIPT_QUOTES,
            types: words("any bigint boolean never number object string symbol unknown"),
            has_decorators: true,
            ..braces(
                "javascript js jsx mjs cjs typescript ts tsx node",
                "abstract as async await break case catch class const continue debugger declare default delete do \
                 else enum export extends finally for from function get if implements import in infer instanceof \
                 interface is keyof let namespace new of private protected public readonly return satisfies set \
                 static super switch this throw try type typeof var void while with yield",
                "true false null undefined NaN Infinity",
            )
        },
        Language {
            quotes: LONG_QUOTES,
            types: words("boolean byte char double float int long short void"),
            has_decorators: true,
            ..braces(
                "java groovy gradle",
                "abstract assert break case catch class const continue def default do else enum extends final \
                 finally for goto if implements import instanceof interface native new package permits private \
                 protected public record return sealed static strictfp super switch synchronized this throw throws \
                 transient try var volatile while yield",
                "true false null",
            )
        },
        Language {
            quotes: LONG_QUOTES,
            has_decorators: true,
            has_nested_comments: true,
            ..braces(
                "kotlin kt kts scala sc",
                "abstract as break by case catch class companion const constructor continue crossinline data def do \
                 else enum extends external final finally for forSome fun get given if implicit import in infix init \
                 inline inner interface internal is lateinit lazy match new object open operator out override \
                 package private protected public reified return sealed set super suspend tailrec then this throw \
                 trait try type typealias val var vararg when where while with yield",
                "true false null",
            )
        },
    ]
}

pub(super) fn devices() -> Vec<Language> {
    vec![
        Language {
            quotes: LONG_QUOTES,
            has_decorators: true,
            has_nested_comments: true,
            ..braces(
                "swift",
                "actor any as associatedtype async await break case catch class continue convenience default defer \
                 deinit didSet do else enum extension fallthrough fileprivate final for func get guard if import in \
                 indirect init inout internal is lazy let mutating open operator override precedencegroup private \
                 protocol public repeat rethrows return self set some static struct subscript super switch throw \
                 throws try typealias unowned var weak where while willSet",
                "true false nil",
            )
        },
        Language {
            quotes: SHARP_QUOTES,
            types: words(
                "bool byte char decimal double dynamic float int long nint nuint object sbyte short string uint \
                 ulong ushort void",
            ),
            has_directives: true,
            ..braces(
                "csharp cs c#",
                "abstract as async await base break case catch checked class const continue default delegate do else \
                 enum event explicit extern finally fixed for foreach get goto if implicit in init interface internal \
                 is lock namespace new operator out override params partial private protected public readonly record \
                 ref required return sealed set sizeof stackalloc static struct switch this throw try typeof \
                 unchecked unsafe_ using var virtual volatile when where while with yield",
                "true false null",
            )
        },
        Language {
            quotes: PYTHON_QUOTES,
            types: words("bool double dynamic int num void"),
            has_decorators: true,
            ..braces(
                "dart",
                "abstract as assert async await base break case catch class const continue covariant default \
                 deferred do else enum export extends extension external factory final finally for get if implements \
                 import in interface is late library mixin new on operator part required rethrow return sealed set \
                 show static super switch sync this throw try typedef var when while with yield",
                "true false null",
            )
        },
        Language {
            line_comments: &["//", "#"],
            types: words("array bool callable float int iterable mixed object string void"),
            has_variables: true,
            ..braces(
                "php",
                "abstract and as break case catch class clone const continue declare default do echo else elseif \
                 empty enum extends final finally fn for foreach function global goto if implements include \
                 include_once instanceof insteadof interface isset list match namespace new or print private \
                 protected public readonly require require_once return static switch throw trait try unset use var \
                 while xor yield",
                "true false null TRUE FALSE NULL",
            )
        },
    ]
}

pub(super) fn functional() -> Vec<Language> {
    vec![
        Language {
            line_comments: &["--"],
            block_comment: Some(("{-", "-}")),
            quotes: DOUBLE_QUOTES,
            has_nested_comments: true,
            has_capital_types: true,
            ..bare(
                "haskell hs elm purescript",
                "case class data default deriving do else family forall foreign hiding if import in infix infixl \
                 infixr instance let module newtype of qualified then type where",
                "True False",
            )
        },
        Language {
            line_comments: &["//"],
            block_comment: Some(("(*", "*)")),
            quotes: LONG_QUOTES,
            has_nested_comments: true,
            has_capital_types: true,
            has_lifetimes: true,
            ..bare(
                "ocaml ml fsharp fs f#",
                "and as assert begin class constraint do done downto else end exception external for fun function \
                 functor if in include inherit initializer lazy let match member method module mutable namespace new \
                 nonrec object of open or private rec sig struct then to try type use val virtual when while with yield",
                "true false null",
            )
        },
        Language {
            line_comments: &[";"],
            quotes: LISP_QUOTES,
            is_wordy: true,
            ..bare(
                "lisp clojure clj cljs elisp emacs-lisp scheme scm racket",
                "cond def defmacro defn defun defvar define do fn if lambda let loop ns progn quote recur require set \
                 setq unless when",
                "nil t true false",
            )
        },
        Language {
            block_comment: Some(("/*", "*/")),
            quotes: NIX_QUOTES,
            is_wordy: true,
            key_mark: Some('='),
            ..bare("nix", "assert else if in inherit let or rec then with", "true false null builtins")
        },
    ]
}
