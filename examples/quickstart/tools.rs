//! The four tools: each a function with `#[tool]` on it.
//!
//! The model chooses the plain parameters; those with `#[inject]` come from the run and are not in the schema.
//! The words in the attribute are the declared policy, which the harness enforces. These functions are not
//! `async`, because reading files blocks: the harness gives each call a thread.

use tinyagents::prelude::*;

use super::files::{Content, Files, MAX_BYTES};

/// What `list_files` returns.
#[tool_type]
pub(crate) struct Listing {
    /// How many files there are.
    pub(crate) total: usize,
    /// The first of them.
    pub(crate) files: Vec<String>,
}

/// List the files below a directory, sorted by path, and count them all.
#[tool(read_only, workspace = "read", timeout = "10s", cancelable, max_result_bytes = "2KiB")]
pub(crate) fn list_files(
    /// The directory.
    #[arg(default = ".")]
    path: String,
    /// The most files to name.
    #[arg(default = 50)]
    limit: u32,
    #[inject] files: &Files,
    #[inject] cancel: CancellationToken,
) -> Result<Listing, ToolError> {
    let mut names = files.below(&path, &cancel)?;
    let total = names.len();
    names.truncate(limit as usize);
    Ok(Listing { total, files: names })
}

/// Read some lines of a text file.
#[tool(read_only, workspace = "read", timeout = "10s", max_result_bytes = "2KiB")]
pub(crate) fn read_file(
    /// The file, as `list_files` names it.
    path: &str,
    /// The first line, counted from 1.
    #[arg(default = 1)]
    from: u32,
    /// How many lines.
    #[arg(default = 40)]
    lines: u32,
    #[inject] files: &Files,
) -> Result<String, ToolError> {
    let text = match files.read(path)? {
        Content::Text(text) => text,
        Content::Binary => return Err(ToolError::failed(format!("`{path}` is not a text file"))),
        Content::TooLarge => {
            let why = format!("`{path}` is larger than {MAX_BYTES} bytes; choose another file");
            return Err(ToolError::failed(why));
        }
    };
    let total = text.lines().count();
    let skipped = from.saturating_sub(1) as usize;
    if skipped > 0 && skipped >= total {
        return Err(ToolError::retry_with(format!("`{path}` ends at line {total}; choose a smaller `from`")));
    }
    let chosen: Vec<_> = text.lines().skip(skipped).take(lines as usize).collect();
    Ok(format!("{path}, from line {} of {total}:\n{}", skipped + 1, chosen.join("\n")))
}

/// What `search_text` returns.
#[tool_type]
pub(crate) struct Matches {
    /// How often the text occurs.
    pub(crate) occurrences: usize,
    /// In how many files.
    pub(crate) files: usize,
    /// The first lines with it.
    pub(crate) lines: Vec<String>,
}

/// Count how often a text occurs in the text files, and show the first lines with it.
#[tool(read_only, workspace = "read", timeout = "30s", cancelable, max_result_bytes = "2KiB")]
pub(crate) fn search_text(
    /// The text, within one line; upper and lower case matter.
    text: &str,
    /// The directory or file to search.
    #[arg(default = ".")]
    path: String,
    /// The most lines to show.
    #[arg(default = 5)]
    limit: u32,
    #[inject] files: &Files,
    #[inject] cancel: CancellationToken,
) -> Result<Matches, ToolError> {
    if text.is_empty() || text.contains('\n') {
        return Err(ToolError::retry_with("`text` must be a part of one line, such as a word"));
    }
    let mut found = Matches { occurrences: 0, files: 0, lines: Vec::new() };
    files.each_text(&path, &cancel, |name, content| {
        let before = found.occurrences;
        for (index, line) in content.lines().enumerate() {
            let count = line.matches(text).count();
            found.occurrences += count;
            if count > 0 && found.lines.len() < limit as usize {
                let line: String = line.trim().chars().take(100).collect();
                found.lines.push(format!("{name}:{}: {line}", index + 1));
            }
        }
        found.files += usize::from(found.occurrences > before);
    })?;
    Ok(found)
}

/// What `count_lines` returns.
#[tool_type]
pub(crate) struct LineCount {
    /// How many text files there are.
    pub(crate) text_files: usize,
    /// How many files are not text, or too large to read.
    pub(crate) other_files: u64,
    /// The lines of all text files together.
    pub(crate) lines: usize,
    /// The text files with the most lines, the longest first.
    pub(crate) longest: Vec<Counted>,
}

/// A file and its length.
#[tool_type]
pub(crate) struct Counted {
    /// The file.
    pub(crate) path: String,
    /// Its lines.
    pub(crate) lines: usize,
}

/// Count the lines of the text files, and name the longest files.
#[tool(read_only, workspace = "read", timeout = "30s", cancelable, max_result_bytes = "2KiB")]
pub(crate) fn count_lines(
    /// The directory or file to count.
    #[arg(default = ".")]
    path: String,
    /// The most files to name.
    #[arg(default = 5)]
    limit: u32,
    #[inject] files: &Files,
    #[inject] cancel: CancellationToken,
) -> Result<LineCount, ToolError> {
    let mut longest = Vec::new();
    let other_files = files.each_text(&path, &cancel, |path, text| {
        longest.push(Counted { path: path.into(), lines: text.lines().count() });
    })?;
    let (text_files, lines) = (longest.len(), longest.iter().map(|file| file.lines).sum());
    // A stable sort: files of one length stay in the order of their paths.
    longest.sort_by_key(|file| std::cmp::Reverse(file.lines));
    longest.truncate(limit as usize);
    Ok(LineCount { text_files, other_files, lines, longest })
}
