//! Files that are not the model: every one is an error that says which file and what is wrong.

use std::path::Path;

use reyn_embedding::{LoadError, SentenceEncoder};

use crate::model_files;

fn error(weights: &Path, vocabulary: &Path) -> LoadError {
    SentenceEncoder::load(weights, vocabulary).map(|_| ()).expect_err("it is refused")
}

#[test]
fn files_that_are_not_there_or_hold_something_else_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let (weights, vocabulary) = (folder.path().join("weights.npz"), folder.path().join("sp.model"));
    assert!(matches!(error(&weights, &vocabulary), LoadError::Read { path, .. } if path == weights));
    assert!(matches!(error(folder.path(), &vocabulary), LoadError::Read { .. }));
    std::fs::write(&weights, "no archive").unwrap();
    std::fs::write(&vocabulary, "no model").unwrap();
    assert_eq!(
        error(&weights, &vocabulary).to_string(),
        format!(
            "`{}` holds no weights of this model: it is no zip archive, or it is cut short; fetch it again",
            weights.display()
        )
    );
}

#[test]
fn a_file_without_an_end_is_refused_at_the_bound() {
    let folder = tempfile::tempdir().unwrap();
    let weights = folder.path().join("weights.npz");
    std::fs::File::create(&weights).unwrap().set_len(1 << 40).unwrap();
    assert!(matches!(error(&weights, &weights), LoadError::TooLarge { bytes_max: 67_108_864, .. }));
}

#[test]
fn a_model_cut_short_or_with_its_files_exchanged_is_an_error() {
    let Some([weights, vocabulary]) = model_files() else { return };
    assert!(matches!(error(&vocabulary, &vocabulary), LoadError::Weights { .. }));
    assert!(matches!(error(&weights, &weights), LoadError::TooLarge { bytes_max: 16_777_216, .. }));
    let folder = tempfile::tempdir().unwrap();
    let damaged = folder.path().join("damaged");
    let whole = std::fs::read(&weights).unwrap();
    for part in 0..8 {
        std::fs::write(&damaged, &whole[..whole.len() * part / 8]).unwrap();
        assert!(matches!(error(&damaged, &vocabulary), LoadError::Weights { .. }), "{part} eighths");
    }
    let whole = std::fs::read(&vocabulary).unwrap();
    for part in 0..8 {
        std::fs::write(&damaged, &whole[..whole.len() * part / 8]).unwrap();
        assert!(matches!(error(&weights, &damaged), LoadError::Vocabulary { .. }), "{part} eighths");
    }
}

#[test]
fn a_changed_byte_of_the_weights_is_noticed() {
    let Some([weights, vocabulary]) = model_files() else { return };
    let folder = tempfile::tempdir().unwrap();
    let damaged = folder.path().join("damaged");
    let whole = std::fs::read(&weights).unwrap();
    for part in 1..8 {
        let mut bytes = whole.clone();
        bytes[whole.len() * part / 8] ^= 0x55;
        std::fs::write(&damaged, bytes).unwrap();
        assert!(matches!(error(&damaged, &vocabulary), LoadError::Weights { .. }), "{part} eighths");
    }
}
