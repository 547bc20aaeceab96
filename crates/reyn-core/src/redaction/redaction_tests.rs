//! What is a secret, and what only resembles one.

use proptest::prelude::*;
use serde_json::json;

use super::*;

#[test]
fn secrets_of_every_make_are_taken_out_and_their_labels_stay() {
    for (text, redacted) in [
        ("api_key=abcd1234efgh5678", "api_key=[REDACTED:credential]"),
        ("export OPENAI_API_KEY=abcd1234efgh5678ijkl", "export OPENAI_API_KEY=[REDACTED:credential]"),
        (r#"{"api_key": "abcdEFGHijklMNOP"}"#, r#"{"api_key": "[REDACTED:credential]"}"#),
        (r#"{\"api_key\":\"abcdEFGHijklMNOP\"}"#, r#"{\"api_key\":\"[REDACTED:credential]\"}"#),
        ("password: hunter2hunter2hunter2", "password: [REDACTED:credential]"),
        ("db-password = 'correct-horse-battery'", "db-password = '[REDACTED:credential]'"),
        ("PASSWORD=correcthorsebatterystaple", "PASSWORD=[REDACTED:credential]"),
        ("client_secret: 0a1b2c3d-4e5f-6789-abcd-ef0123456789", "client_secret: [REDACTED:credential]"),
        (
            "https://h.example/p?token=abc123def456ghi789&x=1",
            "https://h.example/p?token=[REDACTED:credential]&x=1",
        ),
        ("postgres://user:s3cretpw@db.example/x", "postgres://user:[REDACTED:credential]@db.example/x"),
        ("login --token 0123456789abcdef0123 --force", "login --token [REDACTED:credential] --force"),
        ("Authorization: Basic dXNlcjpwYXNzd29yZDE=", "Authorization: Basic [REDACTED:credential]"),
        ("Authorization: Bearer abcdef0123456789", "Authorization: Bearer [REDACTED:bearer]"),
        (
            "curl -H 'authorization: bearer abcdef0123456789'",
            "curl -H 'authorization: bearer [REDACTED:bearer]'",
        ),
        ("use Bearer abcdefghijklmnopqrstuvwxyz.", "use Bearer [REDACTED:bearer]."),
        ("id AKIAIOSFODNN7EXAMPLE here", "id [REDACTED:aws_key] here"),
        ("ASIAIOSFODNN7EXAMPLE", "[REDACTED:aws_key]"),
        ("ghp_abcdefghijklmnopqrstuvwxyz0123456789", "[REDACTED:gh_token]"),
        (
            "ghs_abcdefghijklmnopqrst, github_pat_11ABCDEFG0abcdefghij_x",
            "[REDACTED:gh_token], [REDACTED:gh_token]",
        ),
        ("key sk-abcdefghijklmnopqrstuvwx end", "key [REDACTED:api_key] end"),
        ("key=sk-proj-abcdefghijklmnopqrstuvwx", "key=[REDACTED:api_key]"),
        ("xoxb-1234567890-abcdefghij", "[REDACTED:api_key]"),
        ("glpat-abcdefghijklmnopqrst", "[REDACTED:api_key]"),
        ("AIzaSyA1234567890abcdefghijklmnopqrstuv", "[REDACTED:api_key]"),
        (
            "gsk_abcdefghijklmnopqrstuvwx xai-abcdefghijklmnopqrstuvwx",
            "[REDACTED:api_key] [REDACTED:api_key]",
        ),
        ("hf_abcdefghijklmnopqrstuvwx", "[REDACTED:api_key]"),
        (
            "jwt eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P",
            "jwt [REDACTED:jwt]",
        ),
        (
            "a\n-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA\nabc+/=\n-----END RSA PRIVATE KEY-----\nb",
            "a\n[REDACTED:private_key]\nb",
        ),
        ("-----BEGIN PRIVATE KEY-----\nMIIEpAIBAAKC", "[REDACTED:private_key]"),
        (
            "\"-----BEGIN PRIVATE KEY-----\\nMIIE\\n-----END PRIVATE KEY-----\\n\"",
            "\"[REDACTED:private_key]\\n\"",
        ),
        ("鍵:sk-abcdefghijklmnopqrstuvwx。", "鍵:[REDACTED:api_key]。"),
    ] {
        assert_eq!(redact_secrets(text), redacted, "{text}");
        assert!(looks_secret(text), "{text}");
    }
}

#[test]
fn a_text_without_secrets_is_borrowed_unchanged() {
    for text in [
        "",
        "commit 3f2a9c1d8e7b6a5f4c3d2e1f0a9b8c7d6e5f4a3b",
        "id 0a1b2c3d-4e5f-6789-abcd-ef0123456789",
        "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk",
        "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "const token: string = await getTokenFromTheStorage();",
        "let password = read_password_from_terminal();",
        "password: form.password.value.to_string(),",
        "fn secret(name: &str) -> SecretDescription",
        "token = self.token.clone_for_the_next_request",
        "max_tokens: 1234567890123456",
        "\"tokenizer\": \"cl100k_base_tokenizer\"",
        "\"token_url\": \"https://auth.example/oauth/token\"",
        "password=${DATABASE_PASSWORD_1}",
        "api_key: <your-api-key-1234567>",
        "API_KEY=\"$OPENAI_API_KEY_2026\"",
        "\"password\": \"must have at least 8 characters\"",
        "The password must not be shared; passwords: see the policy of 2026.",
        "Bearer authentication is described in RFC 6750.",
        "docs/risk-assessment-overview-2026.md",
        "task-list-of-the-whole-year",
        "sk-short",
        "sk-learn-pipelines-with-many-steps",
        "hf_hub_download_with_a_retry",
        "https://user@host.example/a:b@c",
        "git@host.example:group/project.git",
        "-----BEGIN CERTIFICATE-----\nMIIC\n-----END CERTIFICATE-----",
        "-----BEGIN PUBLIC KEY-----",
        "パスワード:八文字以上の英数字を入力してください",
        "api_key=[REDACTED:credential]",
    ] {
        assert!(
            matches!(redact_secrets(text), Cow::Borrowed(same) if same == text),
            "{}",
            redact_secrets(text)
        );
    }
}

#[test]
fn a_long_text_is_read_in_linear_time() {
    for piece in [
        "token=",
        "sk-",
        "://a:",
        "-----BEGIN PRIVATE KEY-----",
        "bearer ",
        "eyJ.",
        "\"token\": \"",
        "--token ",
    ] {
        let text = piece.repeat((1 << 17) / piece.len());
        assert!(redact_secrets(&text).len() <= 5 * text.len());
    }
}

#[test]
fn secrets_do_not_reach_an_event() {
    let args = Args::parse(
        r#"{"path":"a","api_key":"abc","nested":{"Password":"x"},"content":"key sk-abcdefghijklmnopqrstuvwx end"}"#,
        false,
    );
    assert_eq!(
        redacted(&args),
        json!({
            "path": "a",
            "api_key": "[REDACTED:credential]",
            "nested": {"Password": "[REDACTED:credential]"},
            "content": "key [REDACTED:api_key] end",
        })
    );
}

#[test]
fn long_values_are_cut() {
    let args = Args::parse(&json!({"content": "x".repeat(5000)}).to_string(), false);
    assert!(redacted(&args).to_string().len() < 300);
}

#[test]
fn long_and_many_keys_are_cut() {
    let many: Map<String, Value> = (0..5000).map(|at| (at.to_string(), Value::Null)).collect();
    for args in [json!({"x".repeat(5000): 1}), json!(many), json!({"deep": [many]})] {
        let shown = redacted(&Args::parse(&args.to_string(), false)).to_string();
        assert!(shown.len() < 700, "{shown}");
    }
}

#[test]
fn words_of_an_event_are_bounded_and_hold_no_secret() {
    assert_eq!(told("plain words"), "plain words");
    assert_eq!(
        told("invalid type: string \"sk-abcdefghijklmnopqrstuvwx\""),
        "invalid type: string \"[REDACTED:api_key]\""
    );
    assert_eq!(told(&"x".repeat(1 << 20)).chars().count(), AUDIT_WORDS_CHARS_MAX + 1);
}

#[test]
fn a_key_in_the_name_of_an_option_or_behind_a_value_is_taken_out_with_the_value() {
    for (text, redacted) in [
        (
            "--token ABCDEFGHIJKLMNOP-----BEGIN PRIVATE KEY-----",
            "--token [REDACTED:credential][REDACTED:private_key]",
        ),
        ("token=ABCDEFGHIJKLMNOP.sk-abcdefghijklmnopqrst", "token=[REDACTED:credential].[REDACTED:api_key]"),
        (
            "-----END PRIVATE KEY-----sk-ABCDEFGHIJKLMNOP--token abc123def456ghi789",
            "-----END PRIVATE KEY-----[REDACTED:api_key]",
        ),
        ("--sk-abcdefghijklmnopqrst-token abc123def456ghi789", "--[REDACTED:api_key]"),
        ("--AKIAIOSFODNN7EXAMPLE_token abc123def456ghi789", "--[REDACTED:aws_key]"),
    ] {
        assert_eq!(redact_secrets(text), redacted, "{text}");
        assert_eq!(redact_secrets(redacted), redacted, "{text}");
    }
}

fn pieces() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "api_key",
        "token",
        "password",
        "=",
        ":",
        "\"",
        "'",
        " ",
        "\n",
        "://",
        "u:",
        "@",
        "abc123def456ghi789",
        "sk-",
        "AKIA",
        "ABCDEFGHIJKLMNOP",
        "0123456789abcdef",
        "Bearer ",
        "ghp_",
        "eyJabcdefghijk",
        ".",
        "-----BEGIN PRIVATE KEY-----",
        "-----END PRIVATE KEY-----",
        "[REDACTED:",
        "]",
        "--token ",
        "日本",
        "\\\"",
        "&",
        "{",
        "$",
        "-",
        "_",
        "s3cretpw",
        "basic ",
        "é",
        "xoxb-",
        "1",
        "[",
        "\\",
    ]);
    prop::collection::vec(piece, 0..16).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2048))]
    #[test]
    fn redacting_twice_is_redacting_once(text in prop_oneof![pieces(), any::<String>()]) {
        let once = redact_secrets(&text).into_owned();
        prop_assert_eq!(&redact_secrets(&once), &once);
        prop_assert!(once.len() <= 5 * text.len());
    }

    #[test]
    fn what_surrounds_a_secret_stays(before in "[a-z ]{0,20}", after in "[ ,;\n][a-z ]{0,20}") {
        let text = format!("{before} sk-abcdefghijklmnopqrstuvwx{after}");
        prop_assert_eq!(redact_secrets(&text), format!("{before} [REDACTED:api_key]{after}"));
    }
}
