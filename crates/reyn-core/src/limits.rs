//! Every bound of the runtime, with its unit in its name.
//!
//! A queue, loop, retry, read, wait or file without a line here is a bug; those of file operations and of
//! searches stand in `reyn_workspace::bounds` and `reyn_search::bounds`. Bounds that an operator can change
//! are defaults of [`crate::settings`]; the others are fixed.

/// Longest argument text of one call that is parsed, in bytes.
pub const ARGUMENT_BYTES_MAX: usize = 1 << 20;
/// Nesting of one call's arguments. A record of the log nests them a little deeper, and its reader stops
/// at 128.
pub const ARGUMENT_DEPTH_MAX: usize = 64;
/// How much of unreadable argument text is kept for the log and the model, in characters.
pub const ARGUMENT_EXCERPT_CHARS: usize = 200;
/// Model calls in one turn of a chat (`safety.loop.max_router_iterations`).
pub const CHAT_ROUNDS_MAX: u32 = 25;
/// Model calls in one turn of `ask`, where nobody is there to say "go on".
pub const ASK_ROUNDS_MAX: u32 = 80;
/// Calls of one reply that are run; the others are answered with an error.
pub const CALLS_PER_REPLY_MAX: u32 = 50;
/// Identical failing calls in one turn after which the turn stops.
pub const IDENTICAL_FAILURES_MAX: u32 = 3;
/// Text of one result that the model reads, in bytes; a tool pages beyond it.
pub const RESULT_BYTES_MAX: usize = 48 * 1024;
/// Longest message and longest hint of a failed call, in bytes.
pub const ERROR_BYTES_MAX: usize = 12 * 1024;
/// Lines of a command's arguments and input that a person is shown before it runs.
pub const COMMAND_LINES_SHOWN: usize = 400;
/// Length of a command with its arguments, in bytes; what is longer belongs into a file.
pub const ARGV_BYTES_MAX: usize = 128 * 1024;
/// Default bound of a page's body, in bytes, after decompression (`web_fetch.max_download_bytes`).
pub const DOWNLOAD_BYTES_MAX: u64 = 10 << 20;
/// Default time of `web_fetch`, in seconds.
pub const WEB_FETCH_SECONDS: u64 = 30;
/// Default length of a page's text, in characters.
pub const WEB_FETCH_CHARS: u64 = 50_000;
/// Longest text of a page that can be asked for, in characters.
pub const WEB_FETCH_CHARS_MAX: u64 = 500_000;
/// Default number of results of `web_search`.
pub const WEB_SEARCH_RESULTS: u64 = 10;
/// Most results of `web_search` that can be asked for.
pub const WEB_SEARCH_RESULTS_MAX: u64 = 50;
/// Longest query of `web_search`, in characters.
pub const WEB_QUERY_CHARS_MAX: usize = 500;
/// Random bytes of the id of a fence.
pub const FENCE_ID_BYTES: usize = 8;
/// A passage from which on a text that repeats it is taken for a copy, in bytes of letters and digits.
pub const REPEATED_BYTES_MIN: usize = 55;
/// The stretches that such passages are compared by, in bytes.
pub const REPEATED_GRAM_BYTES: usize = 40;
/// Words of a command that are looked at as paths of files from outside.
pub const COMMAND_PATHS_MAX: usize = 256;
/// Longest of these words, in bytes.
pub const COMMAND_PATH_BYTES_MAX: usize = 4096;
/// Length of the memory of the files from outside, in bytes.
pub const EXTERNAL_MEMORY_BYTES_MAX: u64 = 64 << 20;
/// Files from outside that one project remembers.
pub const EXTERNAL_FILES_MAX: usize = 200_000;
/// How much of the beginning and of the end of a file tells it from others, in bytes.
pub const EXTERNAL_SAMPLE_BYTES: u64 = 1 << 20;
/// Files below which a download is looked for after a program that downloads has run.
pub const DOWNLOADS_LOOKED_THROUGH_MAX: usize = 100_000;
/// Default wall-clock limit of one tool call, in seconds.
pub const TOOL_CALL_SECONDS_MAX: u64 = 120;
/// Longest reply of a model, in bytes, all its parts together.
pub const REPLY_BYTES_MAX: usize = 8 << 20;
/// Calls of one reply that are kept while it is read; more are a fault of the server.
pub const REPLY_CALLS_MAX: usize = 1024;
/// Longest body of a reply as sent, in bytes; each token travels in some hundred bytes of JSON.
pub const STREAM_BYTES_MAX: usize = 256 << 20;
/// How long the end of a body is awaited after its last event, in milliseconds, so that the connection
/// can be used again.
pub const STREAM_END_MS_MAX: u64 = 50;
/// Longest line of an event stream, in bytes.
pub const STREAM_LINE_BYTES_MAX: usize = 4 << 20;
/// How much of an error body is read, in bytes.
pub const ERROR_BODY_BYTES_MAX: usize = 64 * 1024;
/// Attempts of one model call, the first included.
pub const MODEL_ATTEMPTS_MAX: u32 = 3;
/// Longest wait between two attempts, in milliseconds, also when a server asks for more.
pub const RETRY_WAIT_MS_MAX: u64 = 16_000;
/// Longest wait before the first retry, in milliseconds; it doubles with each further one.
pub const RETRY_WAIT_MS_BASE: u64 = 2_000;
/// Default time to open a connection to a model's server, in seconds.
pub const LLM_CONNECT_SECONDS: u64 = 10;
/// Default time until the first byte of a reply, in seconds.
pub const LLM_FIRST_BYTE_SECONDS: u64 = 120;
/// Default time between two pieces of a reply, in seconds.
pub const LLM_IDLE_SECONDS: u64 = 60;
/// How much of a server's own words an error shows, in characters.
pub const SERVER_MESSAGE_CHARS_MAX: usize = 300;
/// Time to find a model server on this machine, in milliseconds, to connect.
pub const LOCAL_SERVER_CONNECT_MS_MAX: u64 = 150;
/// Time in which a model server on this machine lists its models, in milliseconds.
pub const LOCAL_SERVER_ANSWER_MS_MAX: u64 = 1_000;
/// Largest list of models that a server may answer with, in bytes.
pub const MODEL_LIST_BYTES_MAX: usize = 4 << 20;
/// Default number of texts that an embedding model gets at once (`embedding.batch_size`).
pub const EMBEDDING_BATCH_TEXTS: u32 = 100;
/// Most of them that can be set.
pub const EMBEDDING_BATCH_TEXTS_MAX: u32 = 2048;
/// Length of all texts of one batch together, in bytes; a longer text makes a batch alone.
pub const EMBEDDING_BATCH_BYTES_MAX: usize = 256 * 1024;
/// Most batches that can be under way at a time (`embedding.max_concurrent_batches`).
pub const EMBEDDING_BATCHES_AT_ONCE_MAX: u32 = 10;
/// Default number of further attempts for a batch that failed (`embedding.max_retries`).
pub const EMBEDDING_RETRIES: u32 = 3;
/// Most of them that can be set.
pub const EMBEDDING_RETRIES_MAX: u32 = 10;
/// Default time of one batch, in seconds (`embedding.timeout`).
pub const EMBEDDING_SECONDS: u64 = 60;
/// Default number of texts above which a paid model is warned of (`embedding.cost_warn_threshold`).
pub const EMBEDDING_TEXTS_WARNED_OF: u64 = 10_000;
/// Tokens of a text that a server's embedding model is given, as they are estimated; what follows is cut.
pub const EMBEDDING_TOKENS_MAX: usize = 8_000;
/// Numbers of a vector that a server may answer with.
pub const EMBEDDING_DIMENSIONS_MAX: usize = 65_536;
/// Longest answer of an embedding server, in bytes: a full batch of long vectors, written as numbers.
pub const EMBEDDING_REPLY_BYTES_MAX: usize = 256 << 20;
/// Largest file of recorded replies that is read, in bytes.
pub const REPLAY_FILE_BYTES_MAX: u64 = 64 << 20;
/// Largest configuration, profile or approvals file that is read, in bytes.
pub const CONFIG_FILE_BYTES_MAX: u64 = 1 << 20;
/// Nesting of one configuration file.
pub const CONFIG_DEPTH_MAX: usize = 32;
/// Values of one configuration file, repeated ones counted each time.
pub const CONFIG_VALUES_MAX: usize = 50_000;
/// Symbolic links that resolving one path follows.
pub const LINKS_MAX: usize = 40;
/// Longest time that a timeout can be set to, in seconds.
pub const TIMEOUT_SECONDS_MAX: u64 = 86_400;
/// Problems of the configuration that one report lists.
pub const CONFIG_PROBLEMS_MAX: usize = 20;
/// Capability profiles that one project may hold.
pub const PROFILES_MAX: usize = 256;
/// Longest name of a tool that is sent back to a server, in bytes, as servers bound it.
pub const CALL_NAME_BYTES_MAX: usize = 64;
/// Longest name that is compared with others, in bytes.
pub const NAME_BYTES_MAX: usize = 256;
/// Names offered when a name is unknown.
pub const SUGGESTIONS_MAX: usize = 5;
/// Largest prompt read from standard input, in bytes.
pub const STDIN_BYTES_MAX: usize = 4 << 20;
/// Largest conversation log that is opened, in bytes.
pub const LOG_BYTES_MAX: u64 = 1 << 30;
/// Entries of the sessions' folder that are looked at.
pub const SESSIONS_MAX: usize = 1_000_000;
/// Bytes of a log that a list of sessions reads.
pub const SESSION_HEAD_BYTES_MAX: u64 = 256 * 1024;
/// Longest title of a session, in characters.
pub const SESSION_TITLE_CHARS_MAX: usize = 200;
/// Largest audit file before a new one is begun, in bytes (`audit_events.max_bytes`).
pub const AUDIT_FILE_BYTES_MAX: u64 = 10 << 20;
/// Longest text value kept in an audit event's arguments, in characters.
pub const AUDIT_VALUE_CHARS_MAX: usize = 200;
/// Values of one list or object, and keys of one object, kept in an audit event's arguments.
pub const AUDIT_ITEMS_MAX: usize = 20;
/// Longest words of an audit event, in characters.
pub const AUDIT_WORDS_CHARS_MAX: usize = 2_000;
/// Entries of a project's input history that are loaded.
pub const INPUT_HISTORY_ENTRIES_MAX: usize = 1_000;
/// Longest entry that is kept in it, in bytes.
pub const INPUT_HISTORY_ENTRY_BYTES_MAX: usize = 64 * 1024;
/// Largest input history before its older half is dropped, in bytes.
pub const INPUT_HISTORY_BYTES_MAX: u64 = 1 << 20;
/// Messages that wait for the next round of a running turn.
pub const INBOX_MESSAGES_MAX: usize = 32;
/// All of them together, in bytes.
pub const INBOX_BYTES_MAX: usize = 4 << 20;
/// Further calls of a reply that one question to a person may cover.
pub const QUESTIONS_AT_ONCE_MAX: usize = 20;
/// Longest reason that a person gives with a no, in characters.
pub const REASON_CHARS_MAX: usize = 2_000;
/// Times one call may be put to a person before it is refused.
pub const QUESTIONS_PER_CALL_MAX: usize = 8;
/// Time in which the preview of a change is made for a person, in milliseconds.
pub const PREVIEW_MS_MAX: u64 = 2_000;
/// Lines of a change that are shown at a terminal.
pub const DIFF_LINES_SHOWN: usize = 40;
/// Most tokens that a server's count of one request or reply can mean; a higher count is none.
pub const USAGE_TOKENS_MAX: u64 = 1 << 40;
/// Tokens a local model writes in one reply when nothing else is asked for.
pub const LOCAL_OUTPUT_TOKENS_MAX: u32 = 1024;
/// Default context of a local model, in tokens: 100 to 240 MB of memory.
pub const LOCAL_CONTEXT_TOKENS: u32 = 8192;
/// Prompt tokens that a local model reads before it looks whether it was cancelled.
pub const LOCAL_BATCH_TOKENS: usize = 64;
/// Requests that wait for one local model.
pub const LOCAL_WAITING_MAX: usize = 32;
/// Pieces of a local model's reply that wait to be shown.
pub const LOCAL_PIECES_MAX: usize = 64;
/// States of static prompts that are kept on disk for local models.
pub const LOCAL_STATE_FILES_MAX: usize = 4;
/// Largest state of a static prompt that is kept on disk, in bytes.
pub const LOCAL_STATE_BYTES_MAX: u64 = 256 << 20;

/// Attempts to fetch a model file from one address that bring nothing, before the next source is tried.
pub const MODEL_FILE_ATTEMPTS_MAX: u32 = 3;
/// Redirects that a download follows.
pub const MODEL_FILE_REDIRECTS_MAX: u32 = 5;
/// Time in which one part of a model file comes through pip, in seconds.
pub const MODEL_FILE_PART_SECONDS_MAX: u64 = 900;
/// How much of the end of pip's words is kept, in bytes.
pub const PIP_WORDS_BYTES_MAX: usize = 8 * 1024;
/// Disk space left over after a model file is fetched, in bytes.
pub const MODEL_FILE_SPARE_BYTES: u64 = 64 << 20;

/// Default time that a program may take, in seconds (`sandbox.policy.timeout_seconds`).
pub const EXEC_SECONDS: u64 = 120;
/// Default longest time that a call may ask for, in seconds (`sandbox.policy.max_timeout_seconds`).
pub const EXEC_SECONDS_MAX: u64 = 600;
/// Output of a program that is kept of each stream, in bytes (`sandbox.policy.max_output_bytes`).
pub const EXEC_OUTPUT_BYTES_MAX: u64 = 10 << 20;
/// Writable memory of each process of a program, in bytes (`sandbox.policy.memory_bytes`).
pub const EXEC_MEMORY_BYTES_MAX: u64 = 4 << 30;
/// Processes and threads of a program at a time (`sandbox.policy.processes`).
pub const EXEC_PROCESSES_MAX: u64 = 512;
/// Open files of each process of a program (`sandbox.policy.open_files`).
pub const EXEC_OPEN_FILES_MAX: u64 = 4096;
/// Length of each file that a program writes, in bytes (`sandbox.policy.file_bytes`).
pub const EXEC_FILE_BYTES_MAX: u64 = 4 << 30;
/// Default time of a `sandboxed_exec`, in seconds (`timeout_seconds`).
pub const SANDBOXED_EXEC_SECONDS: u64 = 60;
/// Default time of a `shell`, in seconds (`timeout`).
pub const SHELL_SECONDS: u64 = 120;
/// Entries of one list of paths of `sandboxed_exec`, and paths that it may stand for.
pub const EXEC_PATHS_MAX: usize = 1_000;
/// Paths, or names, that one note of a result lists.
pub const EXEC_NOTE_NAMES_MAX: usize = 5;
/// Paths that one pattern of `sandbox.policy`, or of a call, may stand for.
pub const SANDBOX_GLOB_PATHS_MAX: usize = 1_000;
/// Entries of folders that are looked at for one pattern of `sandbox.policy`, or of a call.
pub const SANDBOX_GLOB_ENTRIES_MAX: usize = 100_000;
/// Folders within folders that one pattern of `sandbox.policy`, or of a call, looks into.
pub const SANDBOX_GLOB_DEPTH_MAX: usize = 32;

/// Texts that one call of `embed` takes in its arguments.
pub const EMBED_TEXTS_MAX: usize = 64;
/// Rows of a file that one call of `embed` takes.
pub const EMBED_ROWS_MAX: u64 = 1_000_000;
/// Bytes of a row of a JSON Lines file.
pub const INDEX_ROW_BYTES_MAX: usize = 4 * 1024 * 1024;
/// Rows of a file that `index_write` adds in one piece.
pub const INDEX_WRITE_ROWS: usize = 5_000;
/// Passages that are given when a call does not say how many.
pub const RECALL_PASSAGES: usize = 5;
/// Passages that are given at most.
pub const RECALL_PASSAGES_MAX: usize = 100;
/// Sources that one call of `recall` takes.
pub const RECALL_SOURCES_MAX: usize = 32;
/// Bytes of the texts of all passages of a result.
pub const RECALL_TEXT_BYTES_MAX: usize = 32 * 1024;
/// Tokens of passages that `index_query` gives without a vector.
pub const INDEX_QUERY_TOKENS: u64 = 4_096;
