//! Names: what a model may call, and what is most like it.
//!
//! Guarantee: a name that passes is one that every provider and `ToolName` take as it is.
//!
//! Not here: whether two names clash (`check`).

use proc_macro2::Ident;

use super::input::plain;

/// The longest name that every provider accepts, in bytes.
const MAX_BYTES: usize = 64;

/// Why a tool cannot have this name, and which one it could have.
pub(crate) fn tool_mistake(name: &str) -> Option<String> {
    let snake = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    if name.is_empty() {
        return Some("a tool needs a name for the model to call; write one, or leave `name` out".into());
    }
    if name.len() > MAX_BYTES {
        let length = name.len();
        return Some(format!(
            "this tool name has {length} bytes, and providers accept at most {MAX_BYTES}; write a shorter \
             `name = \"..\"` in `#[tool(..)]`"
        ));
    }
    if !name.chars().all(snake) || name.starts_with(|c: char| c.is_ascii_digit()) {
        // What is left of a name in another script would be no suggestion.
        let way_out = match name.is_ascii() {
            true => format!("write `name = \"{}\"`", snake_case(name)),
            false => "write one in ASCII with `name = \"..\"`".to_owned(),
        };
        return Some(format!(
            "the tool name `{name}` is not snake_case (`a-z`, `0-9` and `_`, not beginning with a digit), which some \
             providers refuse; {way_out} in `#[tool(..)]`"
        ));
    }
    None
}

/// Why a parameter cannot have this name.
pub(crate) fn parameter_mistake(name: &str) -> Option<String> {
    let good = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    let fits = (1..=MAX_BYTES).contains(&name.len());
    (!fits || !name.chars().all(good)).then(|| {
        format!(
            "the model cannot be given a parameter named `{name}`: providers take 1 to {MAX_BYTES} of `A-Z`, `a-z`, \
             `0-9`, `_`, `-` and `.`; write another with `#[arg(name = \"..\")]`"
        )
    })
}

/// Whether a parameter's name says that its value is a secret.
pub(crate) fn is_credential(name: &str) -> bool {
    const WORDS: &[&str] =
        &["api_key", "apikey", "token", "password", "passwd", "secret", "credential", "private_key"];
    let name = name.to_ascii_lowercase();
    WORDS
        .iter()
        .any(|word| name.strip_suffix(word).is_some_and(|rest| rest.is_empty() || rest.ends_with('_')))
}

/// The nearest snake_case spelling.
fn snake_case(name: &str) -> String {
    let mut out = String::new();
    let mut after_lower = false;
    for c in name.chars() {
        if c.is_ascii_uppercase() && after_lower {
            out.push('_');
        }
        match c {
            _ if c.is_ascii_alphanumeric() => out.push(c.to_ascii_lowercase()),
            _ if out.is_empty() || out.ends_with('_') => {}
            _ => out.push('_'),
        }
        after_lower = c.is_ascii_lowercase() || c.is_ascii_digit();
    }
    let mut out = out.trim_end_matches('_').to_owned();
    match out.chars().next() {
        None => out.push_str("my_tool"),
        Some(first) if first.is_ascii_digit() => out.insert(0, '_'),
        Some(_) => {}
    }
    out.truncate(MAX_BYTES);
    out
}

/// The type generated for a function: `search_files` gives `SearchFiles`, at the function's place.
pub(crate) fn type_ident(function: &Ident) -> Ident {
    let mut out = String::new();
    for word in plain(function).split('_') {
        let mut chars = word.chars();
        out.extend(chars.next().into_iter().flat_map(char::to_uppercase));
        out.extend(chars);
    }
    // `Self` is the one keyword that this can give; `_` and `_1` would give no identifier at all.
    if out == "Self" || !out.starts_with(|c: char| c.is_alphabetic()) {
        out.insert_str(0, "Tool");
    }
    Ident::new(&out, function.span())
}

/// Another name for a type that would hide what a module can hardly do without.
pub(crate) fn beside_prelude(ty: &Ident) -> Option<Ident> {
    const PRELUDE: &[&str] = &["Result", "Ok", "Err", "Option", "Some", "None", "String", "Vec", "Box"];
    PRELUDE.iter().any(|name| ty == name).then(|| Ident::new(&format!("{ty}Tool"), ty.span()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proc_macro2::Span;

    #[test]
    fn the_suggestion_is_always_a_good_name() {
        let names =
            ["Dockerfile problems scanner", "fetchURL", "2fast", "über", "日本", "a--b", "", "Search2Files"];
        for name in names {
            assert_eq!(tool_mistake(&snake_case(name)), None, "{name}: {}", snake_case(name));
        }
        assert_eq!(snake_case("Dockerfile problems scanner"), "dockerfile_problems_scanner");
        assert_eq!(snake_case("fetchURL"), "fetch_url");
    }

    #[test]
    fn names_are_bounded() {
        assert_eq!(tool_mistake(&"a".repeat(64)), None);
        assert!(tool_mistake(&"a".repeat(65)).is_some_and(|text| text.contains("65 bytes")));
    }

    #[test]
    fn credentials_are_told_from_counts() {
        for name in ["token", "github_token", "api_key", "MY_API_KEY", "user_password"] {
            assert!(is_credential(name), "{name}");
        }
        for name in ["max_tokens", "token_count", "tokenizer", "key", "betoken"] {
            assert!(!is_credential(name), "{name}");
        }
    }

    #[test]
    fn every_function_name_gives_a_type() {
        for (function, expected) in
            [("search_files", "SearchFiles"), ("f", "F"), ("_x", "X"), ("self_", "ToolSelf"), ("_1", "Tool1")]
        {
            assert_eq!(type_ident(&Ident::new(function, Span::call_site())), expected);
        }
        assert_eq!(type_ident(&Ident::new_raw("match", Span::call_site())), "Match");
    }
}
