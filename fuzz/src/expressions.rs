//! Expressions in CEL that the input chooses: well typed, small, and about what every
//! implementation of the language has.
//!
//! Left out is what implementations are known to differ about: numbers near their bounds, the
//! text of doubles, keys of maps that are no text, time zones.

/// What an expression is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sort {
    /// true or false
    Bool,
    /// A whole number.
    Int,
    /// A fraction.
    Double,
    /// Text.
    String,
    /// Whole numbers.
    Ints,
    /// Texts.
    Strings,
    /// Whole numbers by text.
    Counts,
}

/// How deep expressions are.
const DEPTH_MAX: usize = 4;
/// How many items are written.
const ITEMS_MAX: u8 = 4;
const KEYS: [&str; 4] = ["a", "b", "c", "d"];

/// Which functions there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Functions {
    /// Those of the language.
    Standard,
    /// Those on texts, too.
    Strings,
}

/// Chooses by the bytes of the input; when there are none left, the first choice.
pub struct Chooser<'a> {
    bytes: &'a [u8],
    functions: Functions,
    /// The variables of comprehensions around.
    variables: Vec<(String, Sort)>,
}

impl<'a> Chooser<'a> {
    /// With these bytes.
    pub fn new(bytes: &'a [u8], functions: Functions) -> Chooser<'a> {
        Chooser { bytes, functions, variables: Vec::new() }
    }

    /// An expression of any sort.
    pub fn expression(&mut self) -> String {
        let sorts = [
            Sort::Bool,
            Sort::Int,
            Sort::Double,
            Sort::String,
            Sort::Ints,
            Sort::Strings,
            Sort::Counts,
        ];
        let sort = sorts[usize::from(self.choose(7))];
        self.of(sort, DEPTH_MAX)
    }

    fn choose(&mut self, choices: u8) -> u8 {
        let Some((first, rest)) = self.bytes.split_first() else { return 0 };
        self.bytes = rest;
        first % choices
    }

    fn of(&mut self, sort: Sort, depth: usize) -> String {
        let known: Vec<String> = self
            .variables
            .iter()
            .filter(|(_, other)| *other == sort)
            .map(|(name, _)| name.clone())
            .collect();
        if !known.is_empty() && self.choose(3) > 0 {
            let at = self.choose(u8::try_from(known.len()).unwrap_or(u8::MAX));
            return known[usize::from(at)].clone();
        }
        if depth == 0 || self.bytes.is_empty() {
            return self.literal(sort);
        }
        let depth = depth - 1;
        if self.choose(8) == 1 {
            let condition = self.of(Sort::Bool, depth);
            let (yes, no) = (self.of(sort, depth), self.of(sort, depth));
            return format!("({condition} ? {yes} : {no})");
        }
        match sort {
            Sort::Bool => self.truth(depth),
            Sort::Int => self.int(depth),
            Sort::Double => self.double(depth),
            Sort::String => self.text(depth),
            Sort::Ints | Sort::Strings => self.list(sort, depth),
            Sort::Counts => self.literal(sort),
        }
    }

    fn literal(&mut self, sort: Sort) -> String {
        match sort {
            Sort::Bool => ["true", "false"][usize::from(self.choose(2))].to_owned(),
            Sort::Int => match i32::from(self.choose(9)) - 4 {
                number if number < 0 => format!("(0 - {})", -number),
                number => number.to_string(),
            },
            Sort::Double => format!("{:.2}", f64::from(self.choose(16)) / 4.0),
            Sort::String => {
                let texts = ["''", "'a'", "'ab'", "'b'", "'\u{e9}a'", "'a b'", "'A,b'", "'12'"];
                texts[usize::from(self.choose(8))].to_owned()
            }
            Sort::Ints => self.items(Sort::Int),
            Sort::Strings => self.items(Sort::String),
            Sort::Counts => {
                // An empty map has no type that all of them agree on, as an empty list.
                let count = 1 + usize::from(self.choose(ITEMS_MAX));
                let entries: Vec<String> = KEYS[..count]
                    .iter()
                    .map(|key| format!("'{key}': {}", self.literal(Sort::Int)))
                    .collect();
                format!("{{{}}}", entries.join(", "))
            }
        }
    }

    fn items(&mut self, sort: Sort) -> String {
        // An empty list has no type that all of them agree on.
        let count = 1 + self.choose(ITEMS_MAX);
        let items: Vec<String> = (0..count).map(|_| self.literal(sort)).collect();
        format!("[{}]", items.join(", "))
    }

    fn truth(&mut self, depth: usize) -> String {
        match self.choose(11) {
            0 => self.literal(Sort::Bool),
            1 => {
                let sort = [Sort::Int, Sort::String, Sort::Double][usize::from(self.choose(3))];
                let operator = ["<", "<=", ">", ">="][usize::from(self.choose(4))];
                self.binary(sort, operator, depth)
            }
            2 => {
                let sorts =
                    [Sort::Int, Sort::String, Sort::Bool, Sort::Ints, Sort::Strings, Sort::Counts];
                let sort = sorts[usize::from(self.choose(6))];
                let operator = ["==", "!="][usize::from(self.choose(2))];
                self.binary(sort, operator, depth)
            }
            3 => self.binary(Sort::Bool, "&&", depth),
            4 => self.binary(Sort::Bool, "||", depth),
            5 => format!("!({})", self.of(Sort::Bool, depth)),
            6 => {
                let (item, list) = (self.of(Sort::Int, depth), self.of(Sort::Ints, depth));
                format!("({item} in {list})")
            }
            7 => {
                let (key, map) = (self.of(Sort::String, depth), self.of(Sort::Counts, depth));
                format!("({key} in {map})")
            }
            8 => {
                let function = ["contains", "startsWith", "endsWith"][usize::from(self.choose(3))];
                let (text, part) = (self.of(Sort::String, depth), self.of(Sort::String, depth));
                format!("{text}.{function}({part})")
            }
            9 => {
                let key = KEYS[usize::from(self.choose(4))];
                format!("has({}.{key})", self.of(Sort::Counts, depth))
            }
            _ => {
                let name = ["all", "exists", "exists_one"][usize::from(self.choose(3))];
                let (list, sort) = match self.choose(3) {
                    0 => (Sort::Ints, Sort::Int),
                    1 => (Sort::Strings, Sort::String),
                    _ => (Sort::Counts, Sort::String),
                };
                let range = self.of(list, depth);
                let (variable, body) = self.body(sort, Sort::Bool, depth);
                format!("{range}.{name}({variable}, {body})")
            }
        }
    }

    fn int(&mut self, depth: usize) -> String {
        match self.choose(8) {
            0 => self.literal(Sort::Int),
            1 => self.binary(Sort::Int, "+", depth),
            2 => self.binary(Sort::Int, "-", depth),
            3 => self.binary(Sort::Int, "/", depth),
            4 => self.binary(Sort::Int, "%", depth),
            5 => {
                let sorts = [Sort::String, Sort::Ints, Sort::Strings, Sort::Counts];
                let sort = sorts[usize::from(self.choose(4))];
                format!("size({})", self.of(sort, depth))
            }
            6 => {
                let (list, index) = (self.of(Sort::Ints, depth), self.of(Sort::Int, depth));
                format!("{list}[{index}]")
            }
            _ => {
                let (map, key) = (self.of(Sort::Counts, depth), self.of(Sort::String, depth));
                format!("{map}[{key}]")
            }
        }
    }

    fn double(&mut self, depth: usize) -> String {
        match self.choose(4) {
            0 => self.literal(Sort::Double),
            1 => self.binary(Sort::Double, "+", depth),
            2 => self.binary(Sort::Double, "*", depth),
            _ => format!("double({})", self.of(Sort::Int, depth)),
        }
    }

    fn text(&mut self, depth: usize) -> String {
        match self.choose(if self.functions == Functions::Strings { 8 } else { 4 }) {
            0 => self.literal(Sort::String),
            1 => self.binary(Sort::String, "+", depth),
            2 => format!("string({})", self.of(Sort::Int, depth)),
            3 => {
                let (list, index) = (self.of(Sort::Strings, depth), self.of(Sort::Int, depth));
                format!("{list}[{index}]")
            }
            4 => format!("{}.lowerAscii()", self.of(Sort::String, depth)),
            5 => format!("{}.upperAscii()", self.of(Sort::String, depth)),
            6 => {
                let text = self.of(Sort::String, depth);
                let (from, to) = (self.of(Sort::String, depth), self.of(Sort::String, depth));
                format!("{text}.replace({from}, {to})")
            }
            _ => {
                let (list, by) = (self.of(Sort::Strings, depth), self.of(Sort::String, depth));
                format!("{list}.join({by})")
            }
        }
    }

    fn list(&mut self, sort: Sort, depth: usize) -> String {
        let item = if sort == Sort::Ints { Sort::Int } else { Sort::String };
        match self.choose(4) {
            0 => self.literal(sort),
            1 => self.binary(sort, "+", depth),
            2 => {
                let range = self.of(sort, depth);
                let (variable, body) = self.body(item, Sort::Bool, depth);
                format!("{range}.filter({variable}, {body})")
            }
            _ => {
                let (list, from) = match self.choose(2) {
                    0 => (Sort::Ints, Sort::Int),
                    _ => (Sort::Strings, Sort::String),
                };
                let range = self.of(list, depth);
                let (variable, body) = self.body(from, item, depth);
                format!("{range}.map({variable}, {body})")
            }
        }
    }

    fn binary(&mut self, sort: Sort, operator: &str, depth: usize) -> String {
        let (left, right) = (self.of(sort, depth), self.of(sort, depth));
        format!("({left} {operator} {right})")
    }

    /// The body of a comprehension and the name of its variable.
    fn body(&mut self, item: Sort, result: Sort, depth: usize) -> (String, String) {
        let name = format!("v{}", self.variables.len());
        self.variables.push((name.clone(), item));
        let body = self.of(result, depth);
        self.variables.pop();
        (name, body)
    }
}
