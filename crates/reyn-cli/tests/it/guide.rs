//! The pictures of the guides, drawn from the program as it runs. `UPDATE_EXPECT=1 cargo test -p reyn-cli --test it
//! guide` draws them again; a picture that is not what the program shows fails.

use std::cell::RefCell;
use std::time::{Duration, SystemTime};

use expect_test::{ExpectFile, expect_file};
use reyn_core::conversation::Usage;
use reyn_core::request::ChatReply;
use reyn_testkit::{FakeServer, Gate, Response, Still, call, calls, says, sse};
use serde_json::json;

use crate::place::Place;
use crate::screen::AtScreen;

/// What ends a frame of the chat.
const FRAME_END: &[u8] = b"\x1b[?2026l";
const COLUMNS: u16 = 80;

const README: &str = "# Shop\n\nA small shop at the terminal.\n\nPrices are in yen.\n";
const PRICE: &str = "//! Prices in yen.\n
/// Tax in percent: 10, or 8 for food.
pub fn rate(is_food: bool) -> u64 {
    if is_food { 8 } else { 10 }
}\n
/// A price with its tax, rounded down.
pub fn total(yen: u64, is_food: bool) -> u64 {
    yen + yen * rate(is_food) / 100
}
";

/// A shop, and a model that a person would have.
fn shop(server: &FakeServer) -> Place {
    server.offer_models(&["qwen3:8b"]);
    let place = Place::new().file("README.md", README).file("src/price.rs", PRICE).env("LANG", "en_US.UTF-8");
    let text = format!(
        "llm:\n  model: standard\n  models:\n    standard:\n      model: ollama/qwen3:8b\n      api_base: {}\n      \
         max_input_tokens: 32768\n",
        server.api_base()
    );
    std::fs::write(place.home.join(".reyn/config.yaml"), text).unwrap();
    place
}

/// A reply that costs what such a reply costs.
fn costing(reply: ChatReply, prompt_tokens: u64, completion_tokens: u64) -> ChatReply {
    ChatReply { usage: Usage { prompt_tokens, completion_tokens, ..reply.usage }, ..reply }
}

/// The screen as soon as it is so, between two frames.
#[track_caller]
fn still(screen: &AtScreen, rows: u16, is_so: impl Fn(&str) -> bool) -> Still {
    let seen = RefCell::new(None);
    screen.wait_until("the picture does not come", |_| {
        let mut sent = screen.sent();
        let end = sent.windows(FRAME_END.len()).rposition(|bytes| bytes == FRAME_END);
        sent.truncate(end.map_or(0, |at| at + FRAME_END.len()));
        let mut terminal = vt100::Parser::new(rows.try_into().unwrap(), COLUMNS.try_into().unwrap(), 0);
        terminal.process(&sent);
        let still = Still::of(terminal.screen());
        let is_so = is_so(&still.text());
        seen.replace(is_so.then_some(still));
        is_so
    });
    seen.take().unwrap()
}

/// What a command shows that ends by itself.
#[track_caller]
fn shown(place: &Place, args: &[&str], columns: u16, rows: u16) -> Still {
    let mut screen = AtScreen::start_sized(place, args, columns, rows);
    assert_eq!(screen.finish(), Some(0), "{}", screen.everything());
    screen.look(|terminal| Still::of(terminal.screen())).without_cursor()
}

#[expect(clippy::needless_pass_by_value, reason = "as `expect_file!` makes it")]
fn check(file: ExpectFile, title: &str, still: &Still) {
    file.assert_eq(&still.svg(title));
}

fn edits(id: &str, path: &str, from: &str, to: &str) -> reyn_core::request::RawCall {
    call(id, "edit_file", json!({"path": path, "old_string": from, "new_string": to}))
}

#[test]
fn an_answer() {
    let answer = "税込価格は `src/price.rs` の **`total`** で計算しています。端数は切り捨てです。\n\n\
                  | 区分 | 税率 | 1,000 円のとき |\n|---|---:|---:|\n| 食品 | 8 % | 1,080 円 |\n| そのほか | 10 % | 1,100 円 |\n\n\
                  ```rust\npub fn total(yen: u64, is_food: bool) -> u64 {\n    yen + yen * rate(is_food) / 100 // 切り捨て\n}\n```\n";
    let server = FakeServer::script([
        costing(calls([call("a", "grep_files", json!({"pattern": "tax|税"}))]), 1_480, 24),
        costing(calls([call("b", "read_file", json!({"path": "src/price.rs"}))]), 1_570, 22),
        costing(says(answer), 1_760, 190),
    ]);
    let place = shop(&server);
    let mut screen = AtScreen::start_sized(&place, &["chat", "--session", "shop"], COLUMNS, 30);
    screen.wait_for("› ");
    screen.say("税込価格はどこで、どう計算していますか？");
    let still =
        still(&screen, 30, |shown| shown.contains("1.9k of 32.8k tokens") && !shown.contains(" · esc stops"));
    check(
        expect_file!["../../../../docs/guide/screens/answer.svg"],
        "reyn chat: an answer in Japanese with a table and a piece of code",
        &still,
    );
    screen.leave();
}

#[test]
fn an_approval() {
    let edit = edits(
        "b",
        "src/price.rs",
        "/// A price with its tax, rounded down.\npub fn total(yen: u64, is_food: bool) -> u64 {\n    yen + yen * rate(is_food) / 100\n",
        "/// A price with its tax, rounded to the nearest yen.\npub fn total(yen: u64, is_food: bool) -> u64 {\n    yen + (yen * rate(is_food) + 50) / 100\n",
    );
    let server = FakeServer::script([
        costing(calls([call("a", "read_file", json!({"path": "src/price.rs"}))]), 1_490, 22),
        costing(calls([edit]), 1_680, 96),
    ]);
    let place = shop(&server);
    let mut screen = AtScreen::start_sized(&place, &["chat", "--session", "shop"], COLUMNS, 30);
    screen.wait_for("› ");
    screen.say("Round the tax to the nearest yen instead of down.");
    let still = still(&screen, 30, |shown| shown.contains("[n] no"));
    check(
        expect_file!["../../../../docs/guide/screens/approval.svg"],
        "reyn chat asks before it edits a file: the change as a diff, and a letter for each answer",
        &still,
    );
    screen.kill();
}

#[test]
fn an_approval_of_several_changes() {
    let test = "use shop::price::total;\n\n#[test]\nfn food_is_taxed_less() {\n    assert_eq!(total(1_000, true), 1_080);\n}\n";
    let server = FakeServer::script([costing(
        calls([
            call("a", "write_file", json!({"path": "tests/price.rs", "content": test})),
            edits(
                "b",
                "README.md",
                "Prices are in yen.\n",
                "Prices are in yen, with tax. Food is taxed less.\n",
            ),
            call(
                "c",
                "write_file",
                json!({"path": "CHANGELOG.md", "content": "# Changes\n\n- Tests for prices.\n"}),
            ),
        ]),
        1_820,
        240,
    )]);
    let place = shop(&server);
    let mut screen = AtScreen::start_sized(&place, &["chat", "--session", "shop"], COLUMNS, 30);
    screen.wait_for("› ");
    screen.say("Write a test for food, and say so in the README and a changelog.");
    let still = still(&screen, 30, |shown| shown.contains("[n] no"));
    check(
        expect_file!["../../../../docs/guide/screens/bulk-approval.svg"],
        "reyn chat asks about three changes at once; the letter a allows them all",
        &still,
    );
    screen.kill();
}

#[test]
fn a_message_that_waits() {
    let gate = Gate::new();
    let held = Response::stream().wait(&gate).bytes(sse(&costing(says("done"), 1_900, 4)));
    let read = calls([call("a", "read_file", json!({"path": "src/price.rs"}))]);
    let server = FakeServer::script([costing(read, 1_490, 22).into(), held]);
    let place = shop(&server);
    let mut screen = AtScreen::start_sized(&place, &["chat", "--session", "shop"], COLUMNS, 30);
    screen.wait_for("› ");
    screen.say("Is there a mistake in how the tax is rounded?");
    screen.wait_for("✓ read_file");
    screen.say("Food is what matters to me.");
    screen.send("and please be");
    let still = still(&screen, 30, |shown| {
        shown.contains("next: Food is what") && shown.contains("› and please be") && shown.contains("1.5k of")
    });
    let still = at_rest(still);
    check(
        expect_file!["../../../../docs/guide/screens/queued.svg"],
        "reyn chat while it thinks: a message waits for the next round, and the next one is typed already",
        &still,
    );
    screen.kill();
}

/// The spinner in its first position, and the time of a moment.
fn at_rest(still: Still) -> Still {
    let text = still.text();
    let row = text.lines().find(|row| row.contains(" · esc stops")).unwrap();
    let spinner = row.chars().next().unwrap().to_string();
    let time = row.split(" · ").nth(1).unwrap();
    still.replace(&spinner, "⠋").replace(&format!(" · {time} · "), " · 4 s · ")
}

/// Says that a test does not run here; where nothing may be skipped, fails.
#[cfg(not(feature = "local"))]
#[expect(clippy::print_stdout, reason = "a test that is skipped says so")]
fn skip(why: &str) {
    assert!(std::env::var_os("REYN_TEST_NO_SKIP").is_none(), "skipped: {why}");
    println!("skipped: {why}");
}

/// What it says of a local model depends on the machine's memory, where the program has one.
#[cfg(not(feature = "local"))]
#[test]
fn the_doctor() {
    let server = FakeServer::answering(|_| unreachable!("a doctor asks no model"));
    let place = shop(&server);
    server.offer_models(&["qwen3:4b"]);
    // Whatever Python the machine has, the picture has this one.
    let programs = place.outside.join("bin");
    std::fs::create_dir(&programs).unwrap();
    let python = programs.join("python3");
    std::fs::write(&python, "#!/bin/sh\necho Python 3.12.3\n").unwrap();
    std::fs::set_permissions(&python, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let place = place.env("PATH", programs.to_str().unwrap());
    let still = shown(&place, &["doctor"], 92, 40);
    let text = still.text();
    if ["not enforced:", "already inside a sandbox", "✓ sandbox      seatbelt"]
        .iter()
        .any(|sign| text.contains(sign))
    {
        skip("this machine's sandbox is not the one of the picture");
        return;
    }
    let between = |before: &str, after: &str| {
        let rest = text.split(before).nth(1).unwrap();
        format!("{before}{}{after}", rest.split(after).next().unwrap())
    };
    let time = text.lines().find(|row| row.contains(" clock ")).unwrap().split("  ").last().unwrap();
    let still = still
        .replace(&between("the project: ", " free"), "the project: 96.40 GB free")
        .replace(&between("the cache: ", " free"), "the cache: 96.40 GB free")
        .replace(&between("(Landlock ABI ", ")"), "(Landlock ABI 7)")
        .replace(&place.root.display().to_string(), "/home/hana/shop")
        .replace(&place.cache().display().to_string(), "/home/hana/.cache/reyn")
        .replace(&format!("127.0.0.1:{}", server.port()), "127.0.0.1:11434")
        .replace(time, "2026-04-14 12:00:00 UTC");
    check(
        expect_file!["../../../../docs/guide/screens/doctor.svg"],
        "reyn doctor: everything it looked at, and what to do about the one thing that is not right",
        &still,
    );
}

#[test]
fn the_sessions() {
    const MINUTE: u64 = 60;
    let server = FakeServer::answering(|_| says("ok").into());
    let place = shop(&server);
    let sessions = [
        ("20260409-101500-71c2", 5 * 24 * 60 * MINUTE, vec!["What does this project do?"]),
        (
            "tax",
            26 * 60 * MINUTE,
            vec!["Round the tax to the nearest yen instead of down.", "And a test for it"],
        ),
        ("20260414-084112-3ba8", 3 * 60 * MINUTE, vec!["税込価格はどこで、どう計算していますか？"]),
        (
            "release",
            12 * MINUTE,
            vec!["Write the changelog for 0.2 from the sessions of this week", "Shorter", "Good"],
        ),
    ];
    for (id, age_seconds, said) in sessions {
        for text in said {
            let _ = place.run(["ask", text, "--session", id]).exits(0);
        }
        let log = std::fs::File::options()
            .write(true)
            .open(place.root.join(format!(".reyn/state/sessions/{id}/log.jsonl")));
        let changed = SystemTime::now() - Duration::from_secs(age_seconds + MINUTE / 2);
        log.unwrap().set_modified(changed).unwrap();
    }
    check(
        expect_file!["../../../../docs/guide/screens/sessions.svg"],
        "reyn sessions list: age, name, turns and first words of each conversation",
        &shown(&place, &["sessions", "list"], COLUMNS, 10),
    );
}

/// The pieces of configuration of a page: where each belongs, as its first line says, and its text.
fn configurations(page: &str) -> Vec<(&str, &str)> {
    let blocks =
        page.split("```yaml\n").skip(1).filter_map(|rest| rest.split_once("```").map(|(block, _)| block));
    blocks
        .filter_map(|block| {
            let (first, _) = block.split_once('\n')?;
            let name = first.strip_prefix("# ")?;
            name.ends_with(".yaml").then_some((name, block))
        })
        .collect()
}

#[test]
fn every_configuration_of_the_guides_is_right() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/guide");
    let mut count = 0;
    for file in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        let Some("md") = file.extension().and_then(|end| end.to_str()) else { continue };
        let page = std::fs::read_to_string(&file).unwrap();
        for (name, text) in configurations(&page) {
            let place = Place::new();
            let path = match name.strip_prefix("~/") {
                Some(name) => place.home.join(name),
                None => place.root.join(name),
            };
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, text).unwrap();
            let done = place.run(["config", "check"]);
            assert_eq!(done.code, Some(0), "{}:\n{text}\n{}{}", file.display(), done.stdout, done.stderr);
            count += 1;
        }
    }
    assert!(count >= 14, "only {count} pieces of configuration were found");
}
