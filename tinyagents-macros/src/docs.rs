//! Doc comments as descriptions for the model.
//!
//! Guarantee: the description is the text up to the first heading, with the soft line breaks of a paragraph
//! folded; lists, tables, quotes and code keep their lines.
//!
//! Not here: rendering Markdown. A model reads it as well as a person does.

use proc_macro2::Span;
use syn::spanned::Spanned;
use syn::{Attribute, Expr, ExprLit, Lit, Meta};

/// What the doc comment of an item says.
#[derive(Default)]
pub(crate) struct Docs {
    /// The text up to the first heading; empty if there is none.
    pub(crate) description: String,
    /// The lines of an `# Arguments` section.
    pub(crate) arguments: Vec<Line>,
    /// A doc attribute whose text is not a literal, so that this crate cannot read it.
    pub(crate) unreadable: Option<Span>,
}

/// One parameter in an `# Arguments` section.
pub(crate) struct Line {
    /// The parameter's name.
    pub(crate) name: String,
    /// What is said of it.
    pub(crate) description: String,
    /// Where it is said.
    pub(crate) span: Span,
}

impl Docs {
    /// Reads the doc attributes among others.
    pub(crate) fn read(attrs: &[Attribute]) -> Self {
        let mut docs = Self::default();
        let mut lines = Vec::new();
        for attr in attrs.iter().filter(|attr| attr.path().is_ident("doc")) {
            // `#[doc(hidden)]` and the like say nothing to a model.
            let Meta::NameValue(pair) = &attr.meta else { continue };
            match &pair.value {
                Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => {
                    // An empty comment line is an empty text, which `lines()` would drop.
                    lines.extend(text.value().split('\n').map(|line| (unindented(line), text.span())));
                }
                other => docs.unreadable = Some(other.span()),
            }
        }
        docs.sort(&lines);
        docs
    }

    fn sort(&mut self, lines: &[(String, Span)]) {
        let mut place = Place::Description;
        let mut text = Vec::new();
        let mut fenced = false;
        for (line, span) in lines {
            fenced ^= is_fence(line);
            if let (Some(title), false) = (heading(line), fenced) {
                place =
                    if title.eq_ignore_ascii_case("arguments") { Place::Arguments } else { Place::Elsewhere };
                continue;
            }
            match place {
                Place::Description => text.push(line.as_str()),
                Place::Arguments => self.argument(line, *span),
                Place::Elsewhere => {}
            }
        }
        self.description = folded(&text);
    }

    fn argument(&mut self, line: &str, span: Span) {
        let line = line.trim_end();
        if let Some((name, description)) = argument(line) {
            self.arguments.push(Line { name, description, span });
        } else if let (Some(last), false) = (self.arguments.last_mut(), line.trim().is_empty()) {
            if !last.description.is_empty() {
                last.description.push(' ');
            }
            last.description.push_str(line.trim());
        }
    }
}

enum Place {
    Description,
    Arguments,
    Elsewhere,
}

/// Rustdoc's convention: one space after `///` belongs to the comment.
fn unindented(line: &str) -> String {
    line.strip_prefix(' ').unwrap_or(line).to_owned()
}

fn is_fence(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with("```") || line.starts_with("~~~")
}

fn heading(line: &str) -> Option<&str> {
    let text = line.trim_start_matches('#');
    let level = line.len() - text.len();
    ((1..=6).contains(&level) && text.starts_with(' ')).then(|| text.trim().trim_end_matches('#').trim_end())
}

/// A list item that names a parameter: `* limit: how many`, ``- `limit` - how many``.
fn argument(line: &str) -> Option<(String, String)> {
    let item = line.strip_prefix("* ").or_else(|| line.strip_prefix("- "))?.trim_start();
    let (name, rest) = match item.strip_prefix('`') {
        Some(quoted) => quoted.split_once('`')?,
        None => item.split_at(item.find(|c: char| !(c.is_alphanumeric() || c == '_' || c == '#'))?),
    };
    let rest = rest.trim_start();
    let text = [":", "--", "-", "–", "—"].iter().find_map(|mark| rest.strip_prefix(mark))?;
    Some((name.trim_start_matches("r#").to_owned(), text.trim().to_owned()))
}

/// Joins the lines of each paragraph.
fn folded(lines: &[&str]) -> String {
    let mut out = String::new();
    let mut fenced = false;
    let mut joins = false;
    for line in lines {
        let line = line.trim_end();
        let fence = is_fence(line);
        let own_line = fenced || fence || starts_block(line);
        if !out.is_empty() {
            out.push_str(if joins && !own_line { " " } else { "\n" });
        }
        out.push_str(if joins && !own_line { line.trim_start() } else { line });
        fenced ^= fence;
        joins = !line.is_empty() && !fenced && !fence && !line.trim_start().starts_with('|');
    }
    out.trim().to_owned()
}

/// Whether a line cannot continue the paragraph before it.
fn starts_block(line: &str) -> bool {
    let text = line.trim_start();
    let digits = text.trim_start_matches(|c: char| c.is_ascii_digit());
    let numbered = digits.len() < text.len() && (digits.starts_with(". ") || digits.starts_with(") "));
    text.is_empty() || numbered || ["- ", "* ", "+ ", "|", ">"].iter().any(|mark| text.starts_with(mark))
}

#[cfg(test)]
mod tests {
    use super::*;
    use syn::parse_quote;

    fn read(text: &str) -> Docs {
        Docs::read(&text.lines().map(|line| parse_quote!(#[doc = #line])).collect::<Vec<_>>())
    }

    #[test]
    fn the_description_ends_at_the_first_heading() {
        let docs = read(" Searches\n the index.\n\n Case does not matter.\n\n # Errors\n\n None.");
        assert_eq!(docs.description, "Searches the index.\n\nCase does not matter.");
    }

    #[test]
    fn lists_and_code_keep_their_lines() {
        let docs = read(" Modes:\n - fast\n - exact,\n   slow\n ```\n # no heading\n x\n ```\n after");
        assert_eq!(docs.description, "Modes:\n- fast\n- exact, slow\n```\n# no heading\nx\n```\nafter");
    }

    #[test]
    fn a_hash_without_a_space_is_no_heading() {
        assert_eq!(read(" Closes\n #12 and the like.").description, "Closes #12 and the like.");
    }

    #[test]
    fn arguments_are_read_in_every_common_spelling() {
        let docs = read(
            " Adds.\n\n # Arguments\n\n * `a` - the first\n   number\n - b: the second\n * `r#type` — kind",
        );
        let lines: Vec<_> =
            docs.arguments.iter().map(|l| (l.name.as_str(), l.description.as_str())).collect();
        assert_eq!(lines, [("a", "the first number"), ("b", "the second"), ("type", "kind")]);
    }

    #[test]
    fn a_computed_text_is_noticed() {
        let attr: Attribute = parse_quote!(#[doc = include_str!("x.md")]);
        assert!(Docs::read(&[attr]).unreadable.is_some());
    }
}
