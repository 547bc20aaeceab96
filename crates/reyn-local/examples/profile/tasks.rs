//! The tasks: the same for every model, so that figures can be compared over time.

use reyn_core::tool_use::{Callable, Surface};
use serde_json::{Map, Value, json};

/// A request that one call of one tool meets.
pub(crate) struct ToolTask {
    pub(crate) said: &'static str,
    pub(crate) tool: &'static str,
    /// What the arguments must contain.
    pub(crate) argument: &'static str,
}

/// A request whose answer is in the result of one call.
pub(crate) struct TwoTurnTask {
    pub(crate) said: &'static str,
    pub(crate) tool: &'static str,
    pub(crate) args: &'static str,
    pub(crate) result: &'static str,
    /// One of these must be in the answer.
    pub(crate) answers: &'static [&'static str],
}

const fn task(said: &'static str, tool: &'static str, argument: &'static str) -> ToolTask {
    ToolTask { said, tool, argument }
}

/// A set of tasks.
pub(crate) struct Tasks {
    pub(crate) name: &'static str,
    pub(crate) tool: &'static [ToolTask],
    pub(crate) plain: &'static [&'static str],
    pub(crate) two_turn: &'static [TwoTurnTask],
}

/// Those that the profile was tuned with, and those that it was not.
pub(crate) const SETS: [Tasks; 2] = [
    Tasks { name: "tuned", tool: TOOL_TASKS, plain: PLAIN, two_turn: TWO_TURN_TASKS },
    Tasks { name: "held out", tool: MORE_TOOL_TASKS, plain: MORE_PLAIN, two_turn: MORE_TWO_TURN_TASKS },
];

const TOOL_TASKS: &[ToolTask] = &[
    task("Read the file notes.txt", "read_file", "notes.txt"),
    task("What files are in the src directory?", "list_directory", "src"),
    task("Create a file hello.txt containing the text Hello World", "write_file", "hello.txt"),
    task("Search the web for the latest Rust release", "web_search", "ust"),
    task("Please remember that my favourite colour is green", "remember", "green"),
    task("Show me the contents of config/settings.toml", "read_file", "config/settings.toml"),
    task("Save the sentence 'Meeting at 10am' to meeting.md", "write_file", "meeting.md"),
    task("Who won the 2024 Nobel Prize in Physics? Look it up.", "web_search", "2024"),
    task("My name is Yuki; keep that in mind for next time.", "remember", "Yuki"),
    task("README.md の中身を見せてください。", "read_file", "README.md"),
    task("プロジェクトの docs フォルダには何がありますか？", "list_directory", "docs"),
    task("明日の東京の天気を調べて。", "web_search", "東京"),
];

const TWO_TURN_TASKS: &[TwoTurnTask] = &[
    TwoTurnTask {
        said: "Read notes.txt and tell me the secret word",
        tool: "read_file",
        args: r#"{"path": "notes.txt"}"#,
        result: "The secret word is banana.",
        answers: &["banana"],
    },
    TwoTurnTask {
        said: "How many files are in the data directory?",
        tool: "list_directory",
        args: r#"{"path": "data"}"#,
        result: "a.csv\nb.csv\nc.csv",
        answers: &["3", "three"],
    },
    TwoTurnTask {
        said: "Search the web for the population of Kyoto",
        tool: "web_search",
        args: r#"{"query": "population of Kyoto"}"#,
        result: "Kyoto: population 1.46 million (2020)",
        answers: &["1.46"],
    },
    TwoTurnTask {
        said: "config.ini の port の値を教えて",
        tool: "read_file",
        args: r#"{"path": "config.ini"}"#,
        result: "[server]\nhost=localhost\nport=8123",
        answers: &["8123"],
    },
    TwoTurnTask {
        said: "Which file in src is the entry point?",
        tool: "list_directory",
        args: r#"{"path": "src"}"#,
        result: "lib.rs\nmain.rs\nutil.rs",
        answers: &["main.rs"],
    },
];

const PLAIN: &[&str] = &[
    "Hello! How are you today?",
    "What is two plus two? Just answer.",
    "Write a one-line poem about the sea.",
    "Explain in one sentence what a compiler does.",
    "日本の首都はどこですか。",
    "Thank you, that was helpful.",
];

const MORE_TOOL_TASKS: &[ToolTask] = &[
    task("Open todo.md for me", "read_file", "todo.md"),
    task("Give me a listing of the tests folder", "list_directory", "tests"),
    task("Make a new file called plan.txt that says: buy bread", "write_file", "plan.txt"),
    task("Find out online what the weather is like in Osaka", "web_search", "Osaka"),
    task("Don't forget: my birthday is on 3 May", "remember", "May"),
    task("What does the file src/main.rs say?", "read_file", "src/main.rs"),
    task("Write 'done' into status.txt", "write_file", "status.txt"),
    task("Look up today's exchange rate of the yen", "web_search", "yen"),
    task("What's inside the folder assets?", "list_directory", "assets"),
    task("memo.txt を読んでください。", "read_file", "memo.txt"),
    task("result.txt に「成功」と書いて保存して。", "write_file", "result.txt"),
    task("images フォルダの一覧を出して", "list_directory", "images"),
];

const MORE_PLAIN: &[&str] = &[
    "Good morning!",
    "How many days does a week have?",
    "Tell me a short joke.",
    "What is the difference between a list and a set?",
    "こんにちは、元気ですか？",
    "Translate 'good night' into French.",
];

const MORE_TWO_TURN_TASKS: &[TwoTurnTask] = &[
    TwoTurnTask {
        said: "What is the version in package.json?",
        tool: "read_file",
        args: r#"{"path": "package.json"}"#,
        result: "{\n  \"name\": \"demo\",\n  \"version\": \"2.7.1\"\n}",
        answers: &["2.7.1"],
    },
    TwoTurnTask {
        said: "Is there a Dockerfile in the deploy folder?",
        tool: "list_directory",
        args: r#"{"path": "deploy"}"#,
        result: "Dockerfile\nvalues.yaml",
        answers: &["Yes", "yes", "there is", "Dockerfile"],
    },
    TwoTurnTask {
        said: "Write hello to greeting.txt",
        tool: "write_file",
        args: r#"{"path": "greeting.txt", "content": "hello"}"#,
        result: "bytes_written: 5\ncreated: true",
        answers: &["greeting.txt"],
    },
    TwoTurnTask {
        said: "team.txt に書かれているリーダーの名前は？",
        tool: "read_file",
        args: r#"{"path": "team.txt"}"#,
        result: "リーダー: 佐藤\nメンバー: 鈴木、田中",
        answers: &["佐藤"],
    },
    TwoTurnTask {
        said: "Show me missing.txt",
        tool: "read_file",
        args: r#"{"path": "missing.txt"}"#,
        result: "Error (not_found): cannot read `missing.txt`: no such file",
        answers: &["not", "no such", "missing"],
    },
];

/// The tools of the tasks, then others up to `count`.
pub(crate) fn surface(count: usize) -> Surface {
    let callables = TOOLS.iter().take(count).map(|(signature, description)| callable(signature, description));
    Surface::new(callables.collect())
}

/// Signatures, a `?` marking what is optional and a `#` a number, and what the tools do.
const TOOLS: &[(&str, &str)] = &[
    ("read_file path offset#? limit#?", "Text of a file"),
    ("list_directory path", "Names in a folder"),
    ("write_file path content", "Create or replace a file"),
    ("web_search query", "Search the web for current facts"),
    ("remember text", "Keep a fact about the user for later"),
    ("delete_file path", "Delete a file"),
    ("glob_files pattern", "Find files by name pattern"),
    ("grep_files pattern", "Search text in files"),
    ("edit_file path old new", "Replace text in a file"),
    ("web_fetch url", "Text of a web page"),
    ("exec argv", "Run a program"),
    ("recall query", "Search indexed documents"),
    ("list_memory layer", "List remembered facts"),
    ("read_memory slug", "One remembered fact"),
    ("forget slug", "Delete a remembered fact"),
    ("list_agents path", "List agents"),
    ("delegate to request", "Give work to another agent"),
    ("plan goal steps", "Split a task"),
    ("mcp_list server", "Tools of a server"),
    ("mcp_call server tool args", "Call a server's tool"),
    ("embed text", "Vector of a text"),
    ("index_query source query", "Search one index"),
    ("index_drop source", "Delete an index"),
    ("list_skills path", "List skills"),
    ("run_skill name input", "Run a skill"),
    ("cron_add schedule message", "Schedule a message"),
    ("send to text", "Message a session"),
    ("compact reason", "Shorten the history"),
    ("describe_session x", "Facts about this session"),
    ("lint path", "Check a skill"),
];

fn callable(signature: &str, description: &str) -> Callable {
    let mut words = signature.split(' ');
    let name = words.next().unwrap_or_default().to_owned();
    let (mut properties, mut required) = (Map::new(), vec![]);
    for word in words {
        let parameter = word.trim_end_matches(['#', '?']);
        let kind = if word.contains('#') { "integer" } else { "string" };
        properties.insert(parameter.to_owned(), json!({ "type": kind }));
        if !word.ends_with('?') {
            required.push(Value::from(parameter));
        }
    }
    Callable {
        name,
        description: description.to_owned(),
        parameters: json!({ "type": "object", "properties": properties, "required": required }),
    }
}
