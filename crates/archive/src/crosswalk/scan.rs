//! Scans a template for the parts that must be known before it runs.
//!
//! The engine resolves filters, tests and functions when it runs them, so a mistake in a branch that is rarely taken
//! could remain undetected for months. Therefore their names are found here, with their lines. The same scan removes
//! the whitespace between tags that only helps the authors of templates, and extracts a template's markup without its
//! logic.

use minijinja::{Environment, ErrorKind};

/// The kind of a piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Text,
    /// `{% raw %}` text, which the engine does not interpret.
    Verbatim,
    Expression,
    Statement,
    Comment,
}

/// A piece of a template, delimiters included.
#[derive(Clone, Copy, Debug)]
struct Piece<'t> {
    kind: Kind,
    text: &'t str,
    line: usize,
}

/// A template, split into pieces.
pub(super) struct Scan<'t> {
    pieces: Vec<Piece<'t>>,
}

/// A name that is unknown to the engine.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Unknown {
    pub(super) line: usize,
    pub(super) what: String,
}

impl<'t> Scan<'t> {
    pub(super) fn new(template: &'t str) -> Self {
        let mut pieces = Vec::new();
        let (mut rest, mut line, mut raw) = (template, 1, false);
        while !rest.is_empty() {
            let (kind, length) = next_piece(rest, raw);
            let (text, after) = rest.split_at(length);
            pieces.push(Piece { kind, text, line });
            line += text.matches('\n').count();
            raw = kind == Kind::Statement && inner(text) == "raw";
            rest = after;
        }
        Self { pieces }
    }

    /// Returns the template with the whitespace between its tags inside comments. There it preserves the line numbers,
    /// and is not part of the output. Whitespace next to text or `{{ … }}` is unchanged.
    pub(super) fn compact(&self) -> String {
        let silent =
            |piece: Option<&Piece<'_>>| piece.is_none_or(|piece| matches!(piece.kind, Kind::Statement | Kind::Comment));
        let mut all = String::new();
        for (at, piece) in self.pieces.iter().enumerate() {
            if piece.kind != Kind::Text {
                all.push_str(piece.text);
                continue;
            }
            let opens = silent(at.checked_sub(1).and_then(|before| self.pieces.get(before)));
            let closes = silent(self.pieces.get(at + 1));
            let mut rest = piece.text;
            while let Some(start) = rest.find(char::is_whitespace) {
                let end = start + rest[start..].find(|c: char| !c.is_whitespace()).unwrap_or(rest.len() - start);
                let run = &rest[start..end];
                let at_start = start == 0 && rest.len() == piece.text.len();
                let left = rest[..start].ends_with('>') || (at_start && opens);
                let right = rest[end..].starts_with('<') || (end == rest.len() && closes);
                all.push_str(&rest[..start]);
                if left && right && run.contains('\n') {
                    all.push_str("{#");
                    all.extend(run.chars().filter(|&character| character == '\n'));
                    all.push_str("#}");
                } else {
                    all.push_str(run);
                }
                rest = &rest[end..];
            }
            all.push_str(rest);
        }
        all
    }

    /// Returns the markup alone, with the same lines: logic is left out, and every value is an `x`.
    pub(super) fn markup(&self) -> String {
        let mut all = String::new();
        for piece in &self.pieces {
            match piece.kind {
                Kind::Text | Kind::Verbatim => all.push_str(piece.text),
                Kind::Expression => all.push('x'),
                Kind::Statement | Kind::Comment => {}
            }
            if !matches!(piece.kind, Kind::Text | Kind::Verbatim) {
                all.extend(piece.text.chars().filter(|&character| character == '\n'));
            }
        }
        all
    }

    /// Returns the first line that prints unescaped text.
    pub(super) fn unescaped(&self) -> Option<usize> {
        let block = self.logic().find(|piece| inner(piece.text).starts_with("autoescape")).map(|piece| piece.line);
        self.trusting().into_iter().chain(block).min()
    }

    /// Returns the first line that prints a value as markup.
    pub(super) fn trusting(&self) -> Option<usize> {
        let mut uses = self.logic().flat_map(|piece| names(piece).into_iter().map(move |(what, _)| (what, piece.line)));
        uses.find_map(|(name, line)| (name == Name::Filter("safe")).then_some(line))
    }

    /// Returns the first name that is unknown to the engine.
    pub(super) fn unknown(&self, engine: &Environment<'_>) -> Option<Unknown> {
        let defined: Vec<&str> = self.logic().flat_map(definitions).collect();
        self.logic().flat_map(names).find_map(|(name, line)| {
            let (asked, kind, called) = match name {
                Name::Filter(name) => (format!("x|{name}"), ErrorKind::UnknownFilter, format!("filter `{name}`")),
                Name::Test(name) => (format!("x is {name}"), ErrorKind::UnknownTest, format!("test `{name}`")),
                Name::Function(name) if defined.contains(&name) => return None,
                Name::Function(name) => (format!("{name}()"), ErrorKind::UnknownFunction, format!("function `{name}`")),
            };
            // The check uses the engine itself, so no list has to be maintained.
            let refused = engine.compile_expression_owned(asked).and_then(|expression| expression.eval(())).err();
            refused.filter(|error| error.kind() == kind).map(|_| Unknown { line, what: format!("unknown {called}") })
        })
    }

    fn logic(&self) -> impl Iterator<Item = &Piece<'t>> {
        self.pieces.iter().filter(|piece| matches!(piece.kind, Kind::Expression | Kind::Statement))
    }
}

/// Returns the kind and length of the piece at the start of the rest of a template.
fn next_piece(rest: &str, raw: bool) -> (Kind, usize) {
    if raw {
        let ends =
            rest.match_indices("{%").find(|(at, _)| inner(&rest[*at..*at + length_of(&rest[*at..], "%}")]) == "endraw");
        match ends {
            Some((0, _)) => {}
            Some((at, _)) => return (Kind::Verbatim, at),
            None => return (Kind::Verbatim, rest.len()),
        }
    }
    match rest.get(..2) {
        Some("{{") => (Kind::Expression, length_of(rest, "}}")),
        Some("{%") => (Kind::Statement, length_of(rest, "%}")),
        Some("{#") => (Kind::Comment, rest.find("#}").map_or(rest.len(), |at| at + 2)),
        _ => {
            let starts = ["{{", "{%", "{#"].iter().filter_map(|start| rest.find(start));
            (Kind::Text, starts.min().unwrap_or(rest.len()))
        }
    }
}

/// Returns the length of an expression or statement including its end delimiter. Delimiters in strings and brackets do
/// not count.
fn length_of(rest: &str, end: &str) -> usize {
    let (mut quote, mut escaped, mut depth) = (None, false, 0_usize);
    for (at, character) in rest.char_indices().skip(2) {
        match quote {
            Some(_) if escaped => escaped = false,
            Some(_) if character == '\\' => escaped = true,
            Some(open) if character == open => quote = None,
            Some(_) => {}
            None if depth == 0 && rest[at..].starts_with(end) => return at + end.len(),
            None => match character {
                '"' | '\'' => quote = Some(character),
                '{' | '(' | '[' => depth += 1,
                '}' | ')' | ']' => depth = depth.saturating_sub(1),
                _ => {}
            },
        }
    }
    rest.len()
}

/// Returns the text between the delimiters.
fn inner(text: &str) -> &str {
    let text = text.get(2..text.len().saturating_sub(2)).unwrap_or_default();
    text.trim_matches(|character: char| character == '-' || character == '+' || character.is_whitespace())
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Name<'t> {
    Filter(&'t str),
    Test(&'t str),
    Function(&'t str),
}

/// Words that precede a bracket without being called, and names that the engine itself defines.
const NO_FUNCTIONS: [&str; 18] = [
    "if", "elif", "in", "and", "or", "not", "is", "else", "for", "call", "set", "with", "filter", "macro", "loop",
    "caller", "super", "self",
];

/// Returns the filters, tests and functions that a piece names, with their lines.
fn names<'t>(piece: &Piece<'t>) -> Vec<(Name<'t>, usize)> {
    let tokens = tokens(piece);
    let text = |at: Option<usize>| at.and_then(|at| tokens.get(at)).map_or("", |token| token.0);
    let mut found = Vec::new();
    for (at, &(token, line)) in tokens.iter().enumerate() {
        if !token.starts_with(|character: char| character.is_alphabetic() || character == '_') {
            continue;
        }
        let (before, earlier) = (text(at.checked_sub(1)), text(at.checked_sub(2)));
        let opens_filter_block = piece.kind == Kind::Statement && before == "filter" && at == 1;
        let after_is = (before == "is" && earlier != "." && token != "not") || (before == "not" && earlier == "is");
        if before == "|" || opens_filter_block {
            found.push((Name::Filter(token), line));
            // Some filters have a parameter with the name of a filter or test to apply to each element.
            let argument = text(Some(at + 2)).trim_matches(['"', '\'']);
            let is_plain = !argument.is_empty() && text(Some(at + 2)).len() == argument.len() + 2;
            match token {
                _ if text(Some(at + 1)) != "(" || !is_plain => {}
                "map" => found.push((Name::Filter(argument), line)),
                "select" | "reject" => found.push((Name::Test(argument), line)),
                _ => {}
            }
        } else if after_is {
            found.push((Name::Test(token), line));
        } else if text(Some(at + 1)) == "(" && before != "." && before != "macro" && !NO_FUNCTIONS.contains(&token) {
            found.push((Name::Function(token), line));
        }
    }
    found
}

/// Returns the names that a statement defines, and which may be called.
fn definitions<'t>(piece: &Piece<'t>) -> Vec<&'t str> {
    let tokens = tokens(piece);
    match tokens.first() {
        Some(("macro" | "set" | "import" | "from" | "for" | "with", _)) => {
            tokens[1..].iter().map(|token| token.0).collect()
        }
        _ => Vec::new(),
    }
}

/// Returns words, signs and strings, the latter with their quotes.
fn tokens<'t>(piece: &Piece<'t>) -> Vec<(&'t str, usize)> {
    let mut found = Vec::new();
    let (mut rest, mut line) = (piece.text.get(2..).unwrap_or_default(), piece.line);
    while let Some(first) = rest.chars().next() {
        let is_word = |character: char| character.is_alphanumeric() || character == '_';
        let length = match first {
            '"' | '\'' => {
                let mut escaped = false;
                let end = rest[1..].find(|character| {
                    let closes = character == first && !escaped;
                    escaped = character == '\\' && !escaped;
                    closes
                });
                end.map_or(rest.len(), |end| end + 2)
            }
            _ if is_word(first) => rest.find(|character| !is_word(character)).unwrap_or(rest.len()),
            _ => first.len_utf8(),
        };
        let (token, after) = rest.split_at(length);
        if !first.is_whitespace() && first != '-' && first != '+' {
            found.push((token, line));
        }
        line += token.matches('\n').count();
        rest = after;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn white_space_goes_between_tags_only_and_lines_stay() {
        let template = "\n<a>\n  <b>{{ x }}\n {{ y }}</b>\n  {% if z > 1 %}\n  <c/>\n  {% endif %}\n text </a>\n";
        let compact = Scan::new(template).compact();
        assert_eq!(compact.matches('\n').count(), template.matches('\n').count());
        let mut engine = Environment::new();
        engine.set_undefined_behavior(minijinja::UndefinedBehavior::Chainable);
        let rendered = engine.render_str(&compact, minijinja::context!(x => 1, y => 2, z => 3)).expect("it renders");
        assert_eq!(rendered, "<a><b>1\n 2</b><c/>\n text </a>");
        let verbatim = "<a>{% raw %}\n<b>\n</b>{{ x }}{% endraw %}</a>";
        assert_eq!(Scan::new(verbatim).compact(), verbatim);
        let quoted = "<a>{{ \"<x>\n<y> }}\" }}</a>";
        assert_eq!(Scan::new(quoted).compact(), quoted);
    }

    #[test]
    fn unknown_names_are_found_in_branches_never_taken() {
        let engine = Environment::new();
        let unknown = |template: &str| Scan::new(template).unknown(&engine);
        for fine in [
            "{{ a|upper|replace('|nofilter', \"is nothing\") }}",
            "{% macro f(a) %}{{ a }}{% endmacro %}{{ f(1) }}{% call f(2) %}{{ caller() }}{% endcall %}",
            "{% if a is defined and (b is not none) or x.method(1) %}{% for i in range(3) %}{{ loop.index }}{% endfor %}{% endif %}",
            "{% filter upper %}a{% endfilter %}{{ a.is.b }}{# |nothing #}{% raw %}{{ a|nothing }}{% endraw %}",
            "{% set n = namespace(a=1) %}{{ {'a': {'b': 1}} }}",
            "{{ a|map('upper')|select('defined')|map(attribute='nosuch')|select|join(')') }}",
        ] {
            assert_eq!(unknown(fine), None, "{fine}");
        }
        for (template, line, what) in [
            ("{% if false %}\n{{ a\n|upper|nosuch }}{% endif %}", 3, "unknown filter `nosuch`"),
            ("\n{% if false and a is nosuch %}{% endif %}", 2, "unknown test `nosuch`"),
            ("{% if false and a is not nosuch %}{% endif %}", 1, "unknown test `nosuch`"),
            ("{% if false %}{{ nosuch(1) }}{% endif %}", 1, "unknown function `nosuch`"),
            ("{{ a|map('nosuch') }}", 1, "unknown filter `nosuch`"),
            ("{{ a|reject(\"nosuch\") }}", 1, "unknown test `nosuch`"),
            ("{% filter nosuch %}{% endfilter %}", 1, "unknown filter `nosuch`"),
        ] {
            assert_eq!(unknown(template), Some(Unknown { line, what: what.to_owned() }), "{template}");
        }
    }

    #[test]
    fn raw_output_is_told_with_its_line() {
        assert_eq!(Scan::new("{{ a }}{{ safe }}").unescaped(), None);
        assert_eq!(Scan::new("\n{{ a|upper|safe }}").unescaped(), Some(2));
        assert_eq!(Scan::new("\n\n{% autoescape false %}{% endautoescape %}").unescaped(), Some(3));
    }
}
