//! Finds the paths in a Rust source: just enough of a lexer, and `use` trees.

/// A path that a source names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mention {
    /// Whether it starts at the root of this crate; else at another crate or a local name.
    pub(crate) is_ours: bool,
    /// Its parts, without `crate`.
    pub(crate) path: Vec<String>,
    /// Where, from 1.
    pub(crate) line: usize,
    /// Whether it is inside a `#[cfg(test)] mod`.
    pub(crate) in_tests: bool,
}

/// A word or a mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Token<'a> {
    text: &'a str,
    line: usize,
}

/// What an open brace belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Brace {
    Module,
    Tests,
    Other,
}

impl Brace {
    /// The one that follows `tokens`.
    fn after(tokens: &[Token<'_>]) -> Self {
        let texts: Vec<_> = tokens.iter().rev().take(16).map(|token| token.text).collect();
        let [_, "mod", before @ ..] = texts.as_slice() else { return Self::Other };
        // `pub` or `pub(…)` may stand between the attribute and the module.
        let visibility = before.iter().take_while(|text| **text != "]").position(|text| *text == "pub");
        let before = &before[visibility.map_or(0, |at| at + 1)..];
        if before.starts_with(&["]", ")", "test", "(", "cfg", "[", "#"]) { Self::Tests } else { Self::Module }
    }
}

/// All paths that a source names, for a file that is the module `module`.
///
/// Local paths that stay inside their top-level module are left out, as are single names outside
/// of `use` and `extern crate`.
pub(crate) fn mentions(text: &str, module: &[&str]) -> Vec<Mention> {
    let tokens = tokens(text);
    let mut module: Vec<String> = module.iter().map(|part| (*part).to_owned()).collect();
    let mut braces: Vec<Brace> = Vec::new();
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        let before = at.checked_sub(1).map_or("", |before| tokens[before].text);
        match token.text {
            "{" => {
                let brace = Brace::after(&tokens[..at]);
                if brace != Brace::Other {
                    module.push(before.to_owned());
                }
                braces.push(brace);
            }
            "}" if braces.pop().is_some_and(|brace| brace != Brace::Other) => drop(module.pop()),
            "use" | "extern" => {
                at += if token.text == "extern" { 2 } else { 1 };
                let mut leaves = Vec::new();
                at = tree(&tokens, at, &[], &mut leaves);
                let in_tests = braces.contains(&Brace::Tests);
                found.extend(leaves.into_iter().filter_map(|leaf| resolve(leaf, &module, in_tests)));
                continue;
            }
            word if is_word(word) && before != "." && tokens.get(at + 1).is_some_and(|next| next.text == "::") => {
                let mut leaves = Vec::new();
                at = tree(&tokens, at, &[], &mut leaves);
                let in_tests = braces.contains(&Brace::Tests);
                found.extend(leaves.into_iter().filter_map(|leaf| resolve(leaf, &module, in_tests)));
                continue;
            }
            _ => {}
        }
        at += 1;
    }
    found
}

/// Makes of a path as written one from the crate's root, or from outside.
fn resolve((path, line): (Vec<String>, usize), module: &[String], in_tests: bool) -> Option<Mention> {
    let first = path.first()?;
    let (is_ours, path) = match first.as_str() {
        "crate" | "tideline" => (true, path[1..].to_vec()),
        "super" => {
            let steps = path.iter().take_while(|part| *part == "super").count();
            let base = module.get(..module.len().saturating_sub(steps))?;
            (true, base.iter().chain(&path[steps..]).cloned().collect())
        }
        "self" => return None,
        _ => (false, path),
    };
    (!path.is_empty()).then_some(Mention { is_ours, path, line, in_tests })
}

/// Reads a `use` tree or a path from `at` on; adds each leaf with its line; returns where it ends.
fn tree(tokens: &[Token<'_>], mut at: usize, prefix: &[String], leaves: &mut Vec<(Vec<String>, usize)>) -> usize {
    let mut path = prefix.to_vec();
    let start = at;
    let mut line = tokens.get(at).map_or(0, |token| token.line);
    while let Some(token) = tokens.get(at) {
        // What follows a whole path, as a block or a product does, is not part of it.
        let goes_on = at == start || tokens[at - 1].text == "::";
        match token.text {
            "::" => at += 1,
            "{" if goes_on => {
                at += 1;
                while let Some(token) = tokens.get(at) {
                    match token.text {
                        "}" => return at + 1,
                        "," => at += 1,
                        // Not a `use` tree after all.
                        text if text != "{" && text != "*" && text != "::" && !is_word(text) => return at,
                        _ => at = tree(tokens, at, &path, leaves),
                    }
                }
                return at;
            }
            "*" if goes_on => {
                at += 1;
                break;
            }
            "self" if !path.is_empty() => {
                at += 1;
                break;
            }
            "as" => {
                at += 2;
                break;
            }
            word if is_word(word) && goes_on => {
                path.push(word.to_owned());
                line = token.line;
                at += 1;
            }
            _ => break,
        }
    }
    leaves.push((path, line));
    at
}

fn is_word(text: &str) -> bool {
    text.starts_with(|first: char| first.is_alphabetic() || first == '_')
}

/// Words and marks, without comments, texts, characters, lifetimes and numbers.
fn tokens(text: &str) -> Vec<Token<'_>> {
    let mut tokens = Vec::new();
    let (mut rest, mut line) = (text, 1);
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '/' if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            '/' if rest.starts_with("/*") => block_comment(rest),
            '"' => string(rest),
            'r' | 'b' | 'c' if raw_string(rest).is_some() => raw_string(rest).unwrap_or(1),
            '\'' => character(rest),
            _ if first.is_alphanumeric() || first == '_' => {
                let length = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
                if is_word(rest) {
                    tokens.push(Token { text: &rest[..length], line });
                }
                length
            }
            ':' if rest.starts_with("::") => {
                tokens.push(Token { text: "::", line });
                2
            }
            _ if first.is_whitespace() => first.len_utf8(),
            _ => {
                tokens.push(Token { text: &rest[..first.len_utf8()], line });
                first.len_utf8()
            }
        };
        line += rest[..length].matches('\n').count();
        rest = &rest[length..];
    }
    tokens
}

fn block_comment(text: &str) -> usize {
    let (mut depth, mut at) = (0, 0);
    while at < text.len() {
        let rest = &text.as_bytes()[at..];
        if rest.starts_with(b"/*") {
            depth += 1;
            at += 2;
        } else if rest.starts_with(b"*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += 1;
        }
    }
    at
}

fn string(text: &str) -> usize {
    let mut escaped = false;
    for (at, found) in text.char_indices().skip(1) {
        match found {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

/// The length of a raw string that starts here, if one does.
fn raw_string(text: &str) -> Option<usize> {
    let start = text.find('r').filter(|at| *at <= 1)? + 1;
    let hashes = text[start..].bytes().take_while(|byte| *byte == b'#').count();
    let body = text[start + hashes..].strip_prefix('"')?;
    let end = format!("\"{}", "#".repeat(hashes));
    Some(text.len() - body.len() + body.find(&end)? + end.len())
}

/// The length of a character or of a lifetime's mark.
fn character(text: &str) -> usize {
    let mut chars = text.char_indices().skip(1);
    match (chars.next(), chars.next()) {
        (Some((_, '\\')), Some(_)) => 3 + text[3..].find('\'').map_or(0, |at| at + 1),
        (Some(_), Some((at, '\''))) => at + 1,
        _ => 1,
    }
}
