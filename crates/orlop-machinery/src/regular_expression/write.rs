//! A tree, written for the crate `regex`.
//!
//! Every part is written so that it means the same whatever stands around it.

use std::fmt::Write;

use super::parse::{Class, Item, Node, Tree};

/// Writes a tree. It is at most as high as the parser lets it be.
pub(super) fn write(tree: &Tree) -> String {
    let mut out = String::new();
    write_node(&tree.node, &mut out);
    out
}

fn write_node(node: &Node, out: &mut String) {
    match node {
        Node::Empty => out.push_str("(?:)"),
        Node::Literal(c, false) => write_code_point(u32::from(*c), out),
        Node::Literal(c, true) => {
            out.push_str("(?i:");
            write_code_point(u32::from(*c), out);
            out.push(')');
        }
        Node::Nothing => out.push_str("[a&&b]"),
        Node::Class(class) => write_class(class, out),
        Node::Any => out.push_str("(?s:.)"),
        Node::AnyButNewline => out.push_str("[^\\n]"),
        Node::BeginText => out.push_str("\\A"),
        Node::EndText => out.push_str("\\z"),
        Node::BeginLine => out.push_str("(?m:^)"),
        Node::EndLine => out.push_str("(?m:$)"),
        Node::WordBoundary => out.push_str("(?-u:\\b)"),
        Node::NoWordBoundary => out.push_str("(?-u:\\B)"),
        Node::Concat(parts) => {
            out.push_str("(?:");
            parts.iter().for_each(|part| write_node(&part.node, out));
            out.push(')');
        }
        Node::Alternate(parts) => {
            out.push_str("(?:");
            for (at, part) in parts.iter().enumerate() {
                if at > 0 {
                    out.push('|');
                }
                write_node(&part.node, out);
            }
            out.push(')');
        }
        Node::Repeat { of, min, max, is_greedy } => {
            out.push_str("(?:");
            write_node(&of.node, out);
            out.push(')');
            let result = match (min, max) {
                (0, -1) => write!(out, "*"),
                (1, -1) => write!(out, "+"),
                (min, -1) => write!(out, "{{{min},}}"),
                (min, max) => write!(out, "{{{min},{max}}}"),
            };
            result.expect("a string grows");
            if !is_greedy {
                out.push('?');
            }
        }
    }
}

fn write_class(class: &Class, out: &mut String) {
    out.push_str(if class.folds { "(?i:[" } else { "[" });
    if class.is_negated {
        out.push('^');
    }
    // A class without items would be a syntax error: this one adds nothing.
    out.push_str("[a&&b]");
    for item in &class.items {
        match item {
            Item::Range(low, high) => write_range(*low, *high, out),
            Item::Not(ranges) => {
                out.push_str("[^");
                for (low, high) in *ranges {
                    write_range(u32::from(*low), u32::from(*high), out);
                }
                out.push(']');
            }
            Item::Unicode(name, is_negated) => {
                let letter = if *is_negated { 'P' } else { 'p' };
                write!(out, "\\{letter}{{{name}}}").expect("a string grows");
            }
        }
    }
    out.push_str(if class.folds { "])" } else { "]" });
}

/// Surrogates are no characters: a range ends before them and begins after them.
fn write_range(low: u32, high: u32, out: &mut String) {
    let low = if (0xd800..0xe000).contains(&low) { 0xe000 } else { low };
    let high = if (0xd800..0xe000).contains(&high) { 0xd7ff } else { high };
    if low <= high {
        write_code_point(low, out);
        out.push('-');
        write_code_point(high, out);
    }
}

fn write_code_point(code: u32, out: &mut String) {
    match char::from_u32(code) {
        Some(c) if c.is_ascii_alphanumeric() => out.push(c),
        _ => write!(out, "\\x{{{code:x}}}").expect("a string grows"),
    }
}
