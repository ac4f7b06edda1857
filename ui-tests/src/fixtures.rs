//! Whole crates that use the library as strangers do: renamed, with no other dependency, under denied lints, through
//! another crate's macro. Their lints are the compiler's and clippy's; what they assert, they assert in constants.

use std::ffi::OsStr;
use std::path::Path;
use std::process::Command;
use std::{env, fs};

/// All of them, in one command, in the target directory of this test: their dependencies are checked once.
#[test]
fn crates_that_must_compile_without_a_warning() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    // The versions of the project, so that nothing has to be fetched.
    fs::copy(folder.join("../../Cargo.lock"), folder.join("Cargo.lock"))
        .expect("the lock file can be copied");
    let test = env::current_exe().expect("a test has a path");
    let target = test.ancestors().nth(3).expect("a test lies in TARGET/PROFILE/deps");
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| env!("CARGO").into()));
    let command = ["clippy", "--offline", "--workspace", "--quiet", "--color", "never"];
    cargo.args(command).arg("--target-dir").arg(target).current_dir(&folder);
    cargo.args(["--", "-D", "warnings"]).env_remove("RUSTFLAGS");
    // Build scripts of dependencies watch these; what cargo set for this test would build them anew each time.
    for (name, _) in env::vars_os() {
        if is_of_this_test(&name) {
            cargo.env_remove(name);
        }
    }
    let output = cargo.output().expect("cargo can be run");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

fn is_of_this_test(name: &OsStr) -> bool {
    name.to_str().is_some_and(|name| name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_"))
}
