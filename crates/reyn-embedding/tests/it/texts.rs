//! Texts of any kind and size, alone and together.

use proptest::prelude::*;
use reyn_core::embedding::ModelIdentity;
use reyn_embedding::{DIMENSIONS, TEXT_BYTES_MAX, TOKENS_MAX};

use crate::{WEIGHTS, cosine, encoder};

#[test]
fn a_model_says_which_it_is() {
    let Some(encoder) = encoder() else { return };
    let expected = ModelIdentity {
        name: "local/use-multilingual-v3".to_owned(),
        revision: Some(WEIGHTS[..16].to_owned()),
        dimensions: 512,
    };
    assert_eq!(encoder.identity(), &expected);
}

#[test]
fn what_means_the_same_is_nearer_than_what_does_not_in_two_languages() {
    let Some(encoder) = encoder() else { return };
    let documents = [
        "How do I delete a folder?",
        "The weather is nice today.",
        "フォルダを削除する方法",
        "今日は天気がいいです。",
        "Remove a directory and all that is in it.",
    ];
    let documents: Vec<Vec<f32>> = documents.iter().map(|text| encoder.encode(text)).collect();
    let folder = encoder.encode("ディレクトリを消したい");
    let near: Vec<f32> = documents.iter().map(|document| cosine(&folder, document)).collect();
    for about_folders in [0, 2, 4] {
        for about_weather in [1, 3] {
            assert!(near[about_folders] > near[about_weather] + 0.1, "{near:?}");
        }
    }
}

#[test]
fn a_batch_on_any_number_of_threads_gives_what_each_text_gives_alone() {
    let Some(encoder) = encoder() else { return };
    let texts: Vec<String> = (0..40)
        .map(|n| match n % 5 {
            0 => String::new(),
            1 => format!("a text with the number {n} in it"),
            2 => "長い文章です。".repeat(n / 2),
            3 => format!("fn f{n}() {{ g({n}); }}"),
            _ => "🙂 ".repeat(n / 2),
        })
        .collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let alone: Vec<Vec<f32>> = texts.iter().map(|text| encoder.encode(text)).collect();
    for threads in [0, 1, 2, 7] {
        assert!(encoder.encode_batch(&texts, threads) == alone, "{threads} threads");
    }
    assert_eq!(encoder.encode_batch(&[], 2), Vec::<Vec<f32>>::new());
}

#[test]
fn a_text_without_a_visible_character_has_the_vector_of_the_empty_one() {
    let Some(encoder) = encoder() else { return };
    let empty = encoder.encode("");
    for text in [" ", "\t\r\n", "\u{3000}", "\u{2028}\u{a0}", &" ".repeat(1_000_000)] {
        assert_eq!((encoder.tokens(text), encoder.encode(text)), (0, empty.clone()), "{:?}", text.len());
    }
}

#[test]
fn of_a_long_text_the_first_tokens_count_and_the_rest_is_cut() {
    let Some(encoder) = encoder() else { return };
    let whole = "cat ".repeat(300_000);
    assert!(whole.len() > 1_000_000 && encoder.tokens(&whole) > TOKENS_MAX);
    let marks = 2;
    assert_eq!(encoder.token_ids(&whole).len(), TOKENS_MAX + marks);
    assert_eq!(encoder.tokens("cat"), 1);
    assert_eq!(encoder.encode(&whole), encoder.encode(&"cat ".repeat(TOKENS_MAX)));
    assert_ne!(encoder.encode(&whole), encoder.encode(&"cat ".repeat(TOKENS_MAX - 1)));
}

#[test]
fn bytes_beyond_the_bound_are_not_looked_at_and_no_character_is_cut_in_two() {
    let Some(encoder) = encoder() else { return };
    let blank = format!("{}cat", " ".repeat(TEXT_BYTES_MAX));
    assert_eq!(encoder.tokens(&blank), 0);
    for before in 0..5 {
        let text = format!("{}{}", "a".repeat(before), "猫🙂".repeat(TEXT_BYTES_MAX / 4));
        assert_eq!(encoder.encode(&text).len(), DIMENSIONS);
    }
}

#[test]
fn any_text_has_a_vector_of_length_1() {
    let Some(encoder) = encoder() else { return };
    let texts = prop_oneof![any::<String>(), "[\\x00-\\x20a-cぁ-んﾀﾞ\u{300}\u{301}\u{200d}]{0,60}"];
    proptest!(ProptestConfig::with_cases(64), |(text in texts)| {
        let vector = encoder.encode(&text);
        prop_assert_eq!(vector.len(), DIMENSIONS);
        prop_assert!((cosine(&vector, &vector) - 1.0).abs() < 1e-4);
    });
}
