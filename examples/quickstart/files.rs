//! The directory that the assistant may read.
//!
//! Guarantee: no path leads out of it, neither by `..` nor through a symbolic link, nor into what is hidden; no
//! file is read past [`MAX_BYTES`]; the order is always the same.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{ErrorKind, Read};
use std::path::{Component, Path, PathBuf};

use tinyagents::prelude::*;

/// The largest file that is read: 1 MiB.
pub(crate) const MAX_BYTES: usize = 1 << 20;
/// The most files that one call looks at.
const MAX_FILES: usize = 10_000;

/// A directory, as tools see it: paths are relative to it and written with `/`.
#[derive(Debug, Clone)]
pub(crate) struct Files {
    root: PathBuf,
}

/// What is in a file.
pub(crate) enum Content {
    /// UTF-8 text.
    Text(String),
    /// Anything else.
    Binary,
    /// More than [`MAX_BYTES`].
    TooLarge,
}

impl Files {
    /// Opens a directory, or says why it cannot be opened.
    pub(crate) fn open(dir: &Path) -> Result<Self, String> {
        let root = dir.canonicalize().map_err(|error| match error.kind() {
            ErrorKind::NotFound => format!("no such directory: {}", dir.display()),
            _ => format!("{} cannot be opened: {error}", dir.display()),
        })?;
        match fs::read_dir(&root) {
            Ok(_) => Ok(Self { root }),
            Err(_) if root.is_file() => Err(format!("not a directory: {}", dir.display())),
            Err(error) => Err(format!("{} cannot be read: {error}", dir.display())),
        }
    }

    /// The directory itself.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// Where a path that the model wrote really leads. Each refusal tells the model the way out.
    fn resolve(&self, path: &str) -> Result<PathBuf, ToolError> {
        let refuse = |why: &str| Err(ToolError::retry_with(format!("`{path}` {why}")));
        let is_below = |part| matches!(part, Component::Normal(_) | Component::CurDir);
        if !Path::new(path).components().all(is_below) {
            return refuse("leads out of the directory; give a path below it, such as `src/lib.rs`");
        }
        let real = match self.root.join(path).canonicalize() {
            Ok(real) => real,
            Err(error) if error.kind() == ErrorKind::NotFound => {
                return refuse("does not exist; call `list_files` to see what does");
            }
            Err(error) => return refuse(&format!("cannot be opened ({error}); choose another path")),
        };
        match real.strip_prefix(&self.root) {
            Err(_) => refuse("is a symbolic link that leads out of the directory; choose another path"),
            Ok(inner) if inner.iter().any(is_hidden) => refuse("is hidden; choose another path"),
            Ok(_) => Ok(real),
        }
    }

    /// The files below a directory, or the file itself, sorted. Links, hidden entries, and what may not be
    /// looked at are left out.
    pub(crate) fn below(&self, path: &str, cancel: &CancellationToken) -> Result<Vec<String>, ToolError> {
        let start = self.resolve(path)?;
        let mut files = Vec::new();
        let mut directories = Vec::new();
        if start.is_dir() {
            directories.push(start);
        } else {
            files.extend(self.relative(&start));
        }
        while let Some(directory) = directories.pop() {
            go_on(cancel)?;
            for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
                let Ok(kind) = entry.file_type() else { continue };
                if is_hidden(&entry.file_name()) {
                    continue;
                } else if kind.is_dir() {
                    directories.push(entry.path());
                } else if kind.is_file() {
                    files.extend(self.relative(&entry.path()));
                }
            }
            if files.len() > MAX_FILES {
                let why = format!(
                    "there are more than {MAX_FILES} files below `{path}`; choose a directory below it"
                );
                return Err(ToolError::retry_with(why));
            }
        }
        files.sort_unstable();
        Ok(files)
    }

    /// Reads one file.
    pub(crate) fn read(&self, path: &str) -> Result<Content, ToolError> {
        let real = self.resolve(path)?;
        // Only regular files: opening a pipe would wait for its writer.
        if !real.is_file() {
            let why = format!("`{path}` is not a file; call `list_files` to see the files below it");
            return Err(ToolError::retry_with(why));
        }
        let mut bytes = Vec::new();
        File::open(real)
            .and_then(|file| file.take(MAX_BYTES as u64 + 1).read_to_end(&mut bytes))
            .map_err(|error| ToolError::failed(format!("`{path}` cannot be read: {error}")))?;
        if bytes.len() > MAX_BYTES {
            return Ok(Content::TooLarge);
        }
        Ok(match String::from_utf8(bytes) {
            Ok(text) if !text.contains('\0') => Content::Text(text),
            _ => Content::Binary,
        })
    }

    /// Shows `visit` the path and text of each text file below `path`, in order, and returns how many other
    /// files there are.
    pub(crate) fn each_text(
        &self,
        path: &str,
        cancel: &CancellationToken,
        mut visit: impl FnMut(&str, &str),
    ) -> Result<u64, ToolError> {
        let mut others = 0;
        for file in self.below(path, cancel)? {
            go_on(cancel)?;
            match self.read(&file) {
                Ok(Content::Text(text)) => visit(&file, &text),
                _ => others += 1,
            }
        }
        Ok(others)
    }

    /// A path as the model writes it; none if its name is not UTF-8, because a model could not write it.
    fn relative(&self, path: &Path) -> Option<String> {
        let inner = path.strip_prefix(&self.root).ok()?;
        let parts: Option<Vec<_>> = inner.iter().map(OsStr::to_str).collect();
        parts.map(|parts| parts.join("/"))
    }
}

/// Settings, version control, secrets (`.env`) and build output: nothing that a question is about.
fn is_hidden(name: &OsStr) -> bool {
    name == "target" || name.as_encoded_bytes().starts_with(b".")
}

/// Ends a long call early when its token says so. What it would have returned is not read any more.
fn go_on(cancel: &CancellationToken) -> Result<(), ToolError> {
    if cancel.is_cancelled() { Err(ToolError::failed("stopped early")) } else { Ok(()) }
}
