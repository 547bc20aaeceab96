//! The examples that people start from are right.

use std::path::Path;

use crate::config::{ConfigInputs, check};

#[test]
fn the_examples_load_without_problems_or_warnings() {
    let examples = Path::new(&std::env::var_os("CARGO_MANIFEST_DIR").unwrap()).join("../../examples");
    let place = tempfile::tempdir().unwrap();
    std::fs::copy(examples.join("reyn.yaml"), place.path().join("reyn.yaml")).unwrap();
    let profiles = place.path().join(".reyn/capability_profiles");
    std::fs::create_dir_all(&profiles).unwrap();
    let mut names = vec![];
    for entry in std::fs::read_dir(examples.join("capability_profiles")).unwrap() {
        let entry = entry.unwrap();
        std::fs::copy(entry.path(), profiles.join(entry.file_name())).unwrap();
        names.push(entry.file_name());
    }
    assert_eq!(names, ["read-only-researcher.yaml"]);
    let inputs = ConfigInputs { working_dir: place.path().to_owned(), ..ConfigInputs::default() };
    let report = check(&inputs, &["read_file", "write_file", "list_directory"]);
    assert_eq!((report.problems, report.warnings), (vec![], vec![]));
}
