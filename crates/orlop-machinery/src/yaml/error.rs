//! Why a text is not YAML, in the words of go-yaml.

use granit_parser::{ErrorKind, ScanError};

use super::nodes::too_deep;

/// Why a text is not YAML, or not YAML that JSON can say.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum YamlError {
    /// The text is malformed.
    #[error("yaml: {}{message}", place(*line))]
    Syntax {
        /// Where, as Go counts; none when Go does not say.
        line: Option<usize>,
        /// What is wrong.
        message: String,
    },
    /// The text is well-formed, but means nothing.
    #[error("yaml: {0}")]
    Meaning(String),
    /// Keys stand twice in their map.
    #[error("{}", describe_duplicates(.0))]
    Duplicates(Vec<String>),
    /// The text means what JSON cannot say.
    #[error("{0}")]
    Json(String),
}

/// How the complaint about keys that stand twice begins.
pub(crate) const DUPLICATES_PREFIX: &str = "yaml: unmarshal errors:\n";

/// The complaint about keys that stand twice, of which there is one line each.
pub fn describe_duplicates(lines: &[String]) -> String {
    format!("{DUPLICATES_PREFIX}  {}", lines.join("\n  "))
}

fn place(line: Option<usize>) -> String {
    line.map_or_else(String::new, |line| format!("line {line}: "))
}

/// Why reading stopped.
pub(super) enum Stop {
    /// For good.
    Error(YamlError),
    /// At a line of a text in quotes that is not indented. Go does not mind.
    NotIndented {
        /// Counted from 1.
        line: usize,
    },
}

impl From<YamlError> for Stop {
    fn from(error: YamlError) -> Stop {
        Stop::Error(error)
    }
}

/// Which part of go-yaml complains, and where it is by then.
#[derive(Clone, Copy, PartialEq)]
enum Complainer {
    /// It counts lines from 1.
    Scanner,
    /// The same, but it has gone on to the next word.
    LateScanner,
    /// The same, at the end of the text.
    ScannerAtEnd,
    /// It counts lines from 0.
    Parser,
    /// The same, at the end of the text.
    ParserAtEnd,
}

/// An error of the scanner in the words of go-yaml, where both have the same idea of it.
pub(super) fn syntax_error(error: &ScanError, text: &str) -> Stop {
    use Complainer::{LateScanner, Parser, ParserAtEnd, Scanner, ScannerAtEnd};
    let (complainer, message) = match error.kind() {
        ErrorKind::InvalidQuotedScalarIndent => {
            return Stop::NotIndented { line: error.marker().line() };
        }
        ErrorKind::MappingValueNotAllowed | ErrorKind::InvalidColonPlacement => {
            (Scanner, "mapping values are not allowed in this context")
        }
        ErrorKind::MappingKeyNotAllowed => {
            (Scanner, "mapping keys are not allowed in this context")
        }
        ErrorKind::BlockSequenceEntryNotAllowed => {
            (Scanner, "block sequence entries are not allowed in this context")
        }
        ErrorKind::SimpleKeyExpected | ErrorKind::InvalidSimpleKey => {
            (LateScanner, "could not find expected ':'")
        }
        ErrorKind::UnexpectedCharacter { .. }
        | ErrorKind::TabNotAllowed
        | ErrorKind::TabInBlockIndentation
        | ErrorKind::TabInIndentation => (Scanner, "found character that cannot start any token"),
        ErrorKind::UnclosedQuotedScalar => (ScannerAtEnd, "found unexpected end of stream"),
        ErrorKind::DocumentIndicatorInQuotedScalar => {
            (Scanner, "found unexpected document indicator")
        }
        ErrorKind::UnknownQuotedScalarEscape => (Scanner, "found unknown escape character"),
        ErrorKind::InvalidQuotedScalarHexEscape => {
            (Scanner, "did not find expected hexdecimal number")
        }
        ErrorKind::MissingAnchorOrAliasName => {
            (Scanner, "did not find expected alphabetic or numeric character")
        }
        ErrorKind::ExpectedBlockMappingKey
        | ErrorKind::CommentInterceptedScalar
        | ErrorKind::InvalidTrailingSingleQuotedScalar
        | ErrorKind::InvalidTrailingDoubleQuotedScalar
        | ErrorKind::MisplacedFlowCollectionEnd => (Parser, "did not find expected key"),
        ErrorKind::ExpectedBlockSequenceEntry => (Parser, "did not find expected '-' indicator"),
        ErrorKind::ExpectedNodeContent
        | ErrorKind::BlockEntryInFlowCollection
        | ErrorKind::UnexpectedEofBlockMapping
        | ErrorKind::UnexpectedEofBlockSequence
        | ErrorKind::UnexpectedEofImplicitFlowMapping => {
            (Parser, "did not find expected node content")
        }
        ErrorKind::ExpectedDocumentStart => (Parser, "did not find expected <document start>"),
        ErrorKind::UndeclaredTagHandle => (Parser, "found undefined tag handle"),
        ErrorKind::ExpectedFlowMappingSeparator => (Parser, "did not find expected ',' or '}'"),
        ErrorKind::ExpectedFlowSequenceSeparator => (Parser, "did not find expected ',' or ']'"),
        ErrorKind::UnexpectedEofFlowMapping | ErrorKind::UnclosedFlowCollection { open: '{' } => {
            (ParserAtEnd, "did not find expected ',' or '}'")
        }
        ErrorKind::UnexpectedEofFlowSequence | ErrorKind::UnclosedFlowCollection { .. } => {
            (ParserAtEnd, "did not find expected ',' or ']'")
        }
        ErrorKind::UnsupportedYamlMajorVersion => (Parser, "found incompatible YAML document"),
        ErrorKind::RecursionLimitExceeded => return too_deep().into(),
        kind => return other_error(kind, error.marker().line()).into(),
    };
    let line = line(complainer, error.marker().line(), text);
    YamlError::Syntax { line, message: message.to_owned() }.into()
}

/// What only our scanner complains of: in its words, without what it was doing.
fn other_error(kind: &ErrorKind, line: usize) -> YamlError {
    let message = kind.to_string();
    let problem = message.strip_prefix("while ").and_then(|rest| rest.split_once(", "));
    let message = problem.map_or(message.as_str(), |(_, problem)| problem).to_owned();
    YamlError::Syntax { line: (line > 1).then_some(line), message }
}

/// The number that Go gives a line that is counted from 1. The first line has none.
fn line(complainer: Complainer, line: usize, text: &str) -> Option<usize> {
    let line = match complainer {
        Complainer::Scanner => return (line > 1).then_some(line),
        Complainer::LateScanner => {
            let empty = text.lines().skip(line).take_while(|line| line.trim().is_empty());
            return Some(line + empty.count() + 1);
        }
        Complainer::ScannerAtEnd => {
            let line = text.matches('\n').count() + 1;
            return (line > 1).then_some(line);
        }
        Complainer::Parser => line.saturating_sub(1),
        Complainer::ParserAtEnd => text.lines().count(),
    };
    (line > 0).then_some(line)
}
