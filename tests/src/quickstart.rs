//! `cargo run --example quickstart`: its answer is true of the files it is run over, its errors say what to do,
//! and it stops when it is told to.
//!
//! The example runs as a user runs it, as a process. Its tools are called here too, without a model.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;

use proptest::prelude::*;
use tempfile::TempDir;
use tinyagents::harness::tool::ToolResult;
use tinyagents::prelude::*;
use tinyagents::testkit;

#[allow(dead_code, reason = "the parts of the example that are not called here are called by its own `main`")]
#[path = "../../examples/quickstart/files.rs"]
mod files;
#[allow(dead_code, reason = "as above")]
#[path = "../../examples/quickstart/tools.rs"]
mod tools;

use crate::fixture::example;
use files::Files;

/// The example, built once.
fn binary() -> &'static Path {
    static BINARY: OnceLock<PathBuf> = OnceLock::new();
    BINARY.get_or_init(|| example("quickstart"))
}

/// The example with a clean environment.
fn quickstart<I: AsRef<OsStr>>(args: impl IntoIterator<Item = I>) -> Command {
    let mut command = Command::new(binary());
    command.args(args).stdin(Stdio::null());
    for variable in ["OPENAI_BASE_URL", "OPENAI_API_KEY", "OPENAI_MODEL", "NO_COLOR"] {
        command.env_remove(variable);
    }
    // A proxy would answer in place of a server that is not there.
    command.env("NO_PROXY", "*");
    command
}

struct Ran {
    code: Option<i32>,
    stdout: String,
    stderr: String,
}

impl From<Output> for Ran {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

impl Ran {
    fn answer(&self) -> &str {
        let answer = self.stdout.lines().find_map(|line| line.strip_prefix("answer: "));
        answer.unwrap_or_else(|| panic!("no answer in:\n{}\n{}", self.stdout, self.stderr))
    }
}

fn ran(args: &[&str]) -> Ran {
    quickstart(args).output().unwrap().into()
}

fn ran_in(dir: &Path) -> Ran {
    quickstart([OsStr::new("--dir"), dir.as_os_str()]).output().unwrap().into()
}

type Tree = BTreeMap<String, Vec<u8>>;

fn plant(tree: &Tree) -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    for (path, content) in tree {
        let path = dir.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }
    dir
}

fn planted(files: &[(&str, &[u8])]) -> TempDir {
    plant(&files.iter().map(|(path, content)| ((*path).to_string(), content.to_vec())).collect())
}

/// The answer that is true of a tree, counted in its bytes.
fn truth(tree: &Tree) -> String {
    let hidden = |path: &str| path.split('/').any(|part| part.starts_with('.') || part == "target");
    let seen = || tree.iter().filter(|(path, _)| !hidden(path));
    let is_text = |bytes: &[u8]| {
        bytes.len() <= 1024 * 1024 && !bytes.contains(&0) && std::str::from_utf8(bytes).is_ok()
    };
    let texts: Vec<_> = seen().filter(|(_, bytes)| is_text(bytes)).collect();
    let tools = |bytes: &[u8]| bytes.windows(4).filter(|window| window == b"tool").count();
    let lines = |bytes: &[u8]| {
        let ends = bytes.iter().filter(|byte| **byte == b'\n').count();
        ends + usize::from(bytes.last().is_some_and(|byte| *byte != b'\n'))
    };
    let mut answer = format!(
        "{} of the {} files are text files; `tool` occurs {} times, in {} of them.",
        texts.len(),
        seen().count(),
        texts.iter().map(|(_, bytes)| tools(bytes)).sum::<usize>(),
        texts.iter().filter(|(_, bytes)| tools(bytes) > 0).count(),
    );
    let mut longest: Option<(&str, usize)> = None;
    for (path, bytes) in texts {
        if longest.is_none_or(|(_, most)| lines(bytes) > most) {
            longest = Some((path, lines(bytes)));
        }
    }
    if let Some((path, lines)) = longest {
        answer += &format!(" The longest is `{path}` with {lines} lines");
    }
    answer
}

fn content() -> impl Strategy<Value = Vec<u8>> {
    let word = prop::sample::select(vec!["tool", "tools", "Tool", "to", "ol", "xtoolx", "ß", "雪", "{}", ""]);
    let separator = prop::sample::select(vec![" ", "\n", "\n\n", "\r\n", "", "\t"]);
    let text = prop::collection::vec((word, separator), 0..60).prop_map(|words| {
        words.into_iter().flat_map(|(word, separator)| [word, separator]).collect::<String>()
    });
    prop_oneof![
        8 => text.clone().prop_map(String::into_bytes),
        1 => text.clone().prop_map(|text| format!("{text}\0tool").into_bytes()),
        1 => text.prop_map(|text| [text.as_bytes(), b"\xff tool"].concat()),
        1 => (1024 * 1024 - 2..1024 * 1024 + 3usize).prop_map(|size| b"tool\n".iter().copied().cycle().take(size).collect()),
    ]
}

fn tree() -> impl Strategy<Value = Tree> {
    let folder =
        prop::sample::select(vec!["", "a/", "a/b/", "z/", ".git/", "target/", "a/target/", "schnee 雪/"]);
    let name = prop::sample::select(vec!["one", "two.rs", "three.txt", ".hidden", "a.b"]);
    let path = (folder, name).prop_map(|(folder, name)| format!("{folder}{name}"));
    prop::collection::btree_map(path, content(), 0..25)
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 16,
        rng_seed: prop::test_runner::RngSeed::Fixed(7),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn the_answer_is_true_of_random_files(tree in tree()) {
        let dir = plant(&tree);
        let ran = ran_in(dir.path());
        prop_assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        let truth = truth(&tree);
        prop_assert!(ran.answer().starts_with(&truth), "\n told: {}\n true: {truth}", ran.answer());
        prop_assert!(!ran.stdout.contains('\x1b'));
    }
}

#[test]
fn the_default_is_the_repository_and_a_scripted_model_that_says_so() {
    let ran = ran(&[]);
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""));
    assert!(ran.stdout.contains("scripted model: no network"));
    assert!(ran.answer().contains("files are text files"));
    // Each tool as the model sees it, its call, and the call that was wrong.
    for tool in ["list_files", "read_file", "search_text", "count_lines"] {
        assert!(ran.stdout.contains(&format!("\n  {tool}(")), "{tool}");
        assert!(ran.stdout.contains(&format!("→ {tool}({{")), "{tool}");
        assert!(ran.stdout.contains(&format!("✓ {tool} (")), "{tool}");
    }
    assert!(ran.stdout.contains("✗ count_lines (not run): invalid arguments"));
    assert!(ran.stdout.contains("5 tool calls, 5 results (1 failed)"));
    assert!(!ran.stdout.contains('\x1b'), "no colour in a pipe");
}

#[test]
fn what_a_file_says_cannot_steer_the_terminal() {
    let dir = planted(&[("a.txt", b"\x1b[31mred\x1b[0m \x07tool\n")]);
    let ran = ran_in(dir.path());
    assert!(ran.answer().ends_with("it begins: [31mred[0m tool"), "{}", ran.answer());
    assert!(!ran.stdout.contains(['\x1b', '\x07']));
}

#[test]
fn help_names_every_option() {
    let ran = ran(&["--help"]);
    assert_eq!(ran.code, Some(0));
    for option in [
        "--dir",
        "--base-url",
        "--model",
        "--api-key-env",
        "--question",
        "--max-turns",
        "OPENAI_BASE_URL",
        "OPENAI_MODEL",
    ] {
        assert!(ran.stdout.contains(option), "{option} is missing in:\n{}", ran.stdout);
    }
}

#[test]
fn a_command_line_that_cannot_work_says_what_to_do() {
    let dir = planted(&[("file", b"")]);
    let file = dir.path().join("file");
    let gone = dir.path().join("gone");
    let cases: [(&[&str], &str); 6] = [
        (&["--dir", gone.to_str().unwrap()], "error: no such directory: "),
        (&["--dir", file.to_str().unwrap()], "error: not a directory: "),
        (&["--base-url", "http://127.0.0.1:9"], "error: which model? Add --model NAME"),
        (&["--model", "m"], "needs an API key; set OPENAI_API_KEY"),
        (&["--question", "Why?"], "error: --question needs a real model"),
        (&["--base-url", "nonsense", "--model", "m"], "error: "),
    ];
    for (args, expected) in cases {
        let ran = ran(args);
        assert_eq!(ran.code, Some(2), "{args:?}: {}", ran.stderr);
        assert!(ran.stderr.contains(expected), "{args:?}: {}", ran.stderr);
        assert_eq!(ran.stdout, "", "{args:?}");
    }
}

#[test]
fn a_server_that_is_not_there_is_named_with_what_to_do() {
    // Nothing listens on the discard port.
    let ran = ran(&["--base-url", "http://127.0.0.1:9/v1", "--model", "m"]);
    assert_eq!(ran.code, Some(1));
    assert!(ran.stderr.contains("http://127.0.0.1:9/v1"), "{}", ran.stderr);
    assert!(ran.stderr.contains("Start it, or correct --base-url"), "{}", ran.stderr);
    assert!(ran.stdout.contains("transcript: 1 message: 0 model turns"), "{}", ran.stdout);
}

#[cfg(unix)]
mod unix {
    use super::*;

    use std::net::{TcpListener, TcpStream};
    use std::os::fd::OwnedFd;
    use std::os::unix::net::UnixStream;
    use std::thread;

    #[test]
    fn a_reader_that_has_seen_enough_is_no_error() {
        let (output, reader) = UnixStream::pair().unwrap();
        drop(reader);
        let ran: Ran = quickstart(["--help"; 0]).stdout(OwnedFd::from(output)).output().unwrap().into();
        assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""));
    }

    #[test]
    fn ctrl_c_ends_the_run_with_a_whole_transcript() {
        // A server that accepts and never answers: the run is sure to be waiting for it.
        let server = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = server.local_addr().unwrap();
        let url = format!("http://{address}/v1");
        let child = quickstart(["--base-url", &url, "--model", "m"])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let id = child.id().to_string();
        let end = thread::spawn(move || {
            let output = child.wait_with_output().unwrap();
            // Should it end without ever connecting, nobody waits for that any more.
            drop(TcpStream::connect(address));
            output
        });
        let connection = server.accept().unwrap();
        if !end.is_finished() {
            assert!(Command::new("kill").args(["-INT", &id]).status().unwrap().success());
        }
        let ran: Ran = end.join().unwrap().into();
        drop(connection);
        assert_eq!(ran.code, Some(130), "{}", ran.stderr);
        assert!(ran.stdout.contains("cancelled: the run ends with a whole transcript"), "{}", ran.stdout);
        assert!(ran.stdout.contains("end: cancelled"), "{}", ran.stdout);
        assert!(ran.stdout.contains("0 tool calls, 0 results"), "{}", ran.stdout);
        assert_eq!(ran.stderr, "");
    }

    #[tokio::test]
    async fn links_do_not_lead_out_and_are_not_followed() {
        let outside = planted(&[("secret", b"secret")]);
        let dir = planted(&[("a/inside", b"x\n"), (".git/config", b"secret")]);
        let link = std::os::unix::fs::symlink::<&Path, PathBuf>;
        link(outside.path(), dir.path().join("out")).unwrap();
        link(Path::new(".git"), dir.path().join("git")).unwrap();
        link(Path::new("."), dir.path().join("a/again")).unwrap();
        let files = Files::open(dir.path()).unwrap();
        refused(&read(&files, "out/secret").await, "leads out of the directory");
        refused(&read(&files, "git/config").await, "is hidden");
        assert_eq!(
            text(&read(&files, "a/again/again/inside").await),
            "a/again/again/inside, from line 1 of 1:\nx"
        );
        let listing = testkit::call(&tools::ListFiles, &files, json!({})).await.unwrap();
        assert_eq!(text(&listing), r#"{"total":1,"files":["a/inside"]}"#);
    }
}

async fn read(files: &Files, path: &str) -> ToolResult {
    testkit::call(&tools::ReadFile, files, json!({ "path": path })).await.unwrap()
}

fn text(result: &ToolResult) -> &str {
    match result.content.as_slice() {
        [ContentBlock::Text { text }] => text,
        other => panic!("not one text: {other:?}"),
    }
}

fn refused(result: &ToolResult, why: &str) {
    assert!(result.is_error && text(result).contains(why), "{result:?}");
}

#[tokio::test]
async fn a_path_that_leads_out_or_nowhere_is_refused_with_the_way_out() {
    let dir = planted(&[("a/b.txt", b"x\n"), (".env", b"secret"), ("target/out", b"secret")]);
    let files = Files::open(dir.path()).unwrap();
    for path in ["..", "../x", "a/../../x", "/etc/passwd", "a/../a/b.txt"] {
        refused(&read(&files, path).await, "leads out of the directory; give a path below it");
    }
    for path in [".env", "target/out"] {
        refused(&read(&files, path).await, "is hidden; choose another path");
    }
    refused(&read(&files, "nothing").await, "does not exist; call `list_files`");
    refused(&read(&files, "a").await, "is not a file; call `list_files`");
    refused(&read(&files, "").await, "is not a file");
    refused(&read(&files, "a\0b").await, "cannot be opened");
    assert!(!read(&files, "./a/./b.txt").await.is_error);
}

#[tokio::test]
async fn files_that_are_no_text_or_too_large_are_refused_and_counted_apart() {
    let large = vec![b'x'; files::MAX_BYTES + 1];
    let dir =
        planted(&[("binary", b"a\0b"), ("latin1", b"caf\xe9"), ("large", &large), ("text", b"a tool\n")]);
    let files = Files::open(dir.path()).unwrap();
    refused(&read(&files, "binary").await, "`binary` is not a text file");
    refused(&read(&files, "latin1").await, "`latin1` is not a text file");
    refused(&read(&files, "large").await, "is larger than 1048576 bytes");
    let count = testkit::call(&tools::CountLines, &files, json!({})).await.unwrap();
    let expected =
        json!({ "text_files": 1, "other_files": 3, "lines": 1, "longest": [{ "path": "text", "lines": 1 }] });
    assert_eq!(count.value, Some(expected));
}

#[tokio::test]
async fn a_part_of_a_file_is_read_by_its_lines() {
    let dir = planted(&[("text", b"one\ntwo\nthree\n")]);
    let files = Files::open(dir.path()).unwrap();
    let part = |arguments| testkit::call(&tools::ReadFile, &files, arguments);
    let some = part(json!({ "path": "text", "from": 2, "lines": 1 })).await.unwrap();
    assert_eq!(text(&some), "text, from line 2 of 3:\ntwo");
    refused(&part(json!({ "path": "text", "from": 4 })).await.unwrap(), "ends at line 3");
    refused(&part(json!({ "path": "text", "files": "x" })).await.unwrap(), "files");
}

#[test]
#[ignore = "needs a model server: set TINYAGENTS_BASE_URL"]
fn live_quickstart_completes_a_run_with_a_real_call() {
    let url = std::env::var("TINYAGENTS_BASE_URL").expect("TINYAGENTS_BASE_URL is the server's address");
    let model = std::env::var("TINYAGENTS_MODEL").unwrap_or_else(|_| "default".into());
    let dir = planted(&[("file.txt", b"Buy milk.\nCall Ada.\n"), ("src/main.rs", b"fn main() {}\n")]);
    let dir = dir.path().to_str().unwrap();
    let question = "Which files are there?";
    let ran = ran(&[
        "--dir",
        dir,
        "--base-url",
        &url,
        "--model",
        &model,
        "--max-turns",
        "4",
        "--question",
        question,
    ]);
    println!("{}{}", ran.stdout, ran.stderr);
    assert_eq!(ran.code, Some(0));
    assert!(ran.stdout.contains("\n  → "), "the model made a call");
    assert!(ran.stdout.contains("\nend: "), "the run ended by itself");
    let answer = ran.stdout.split("\nanswer: ").nth(1).unwrap_or_default();
    let in_one = ran.stdout.contains("text streamed in 1 piece\n") || ran.stdout.contains("in 0 pieces");
    assert!(answer.trim().is_empty() || !in_one, "the answer was streamed");
}
