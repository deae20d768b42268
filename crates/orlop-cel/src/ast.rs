//! Expressions as trees, in one arena.
//!
//! Every node has an [`ExprId`] and the place in the source where it starts. Operators are calls
//! with the names of [`crate::operator`], as in cel-go (`common/ast/expr.go`): `a.?b` is a call of
//! `_?._`, `a[?b]` one of `_[?_]`. Macros are expanded while parsing; what they expand to is a
//! [`Comprehension`]. Children are always made before their parents.

use orlop_machinery::Str;

/// An expression: all nodes and which of them is the root.
#[derive(Clone, Debug, Default)]
pub struct Ast {
    nodes: Vec<Expr>,
    /// Where each node starts in the source, in characters. As long as `nodes`.
    offsets: Vec<u32>,
    root: ExprId,
}

/// A node of an [`Ast`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ExprId(u32);

/// What a node is.
#[derive(Clone, Debug, PartialEq)]
pub enum Expr {
    /// A value that stands in the source.
    Literal(Literal),
    /// A name; with a dot in front when it is absolute.
    Ident(Str),
    /// `operand.field`, or `has(operand.field)`.
    Select {
        /// Left of the dot.
        operand: ExprId,
        /// Right of it.
        field: Str,
        /// Whether it is asked only whether the field is there.
        is_test: bool,
    },
    /// `target.function(args)`, `function(args)`, or an operator.
    Call {
        /// Its name.
        function: Str,
        /// What a member function is called on.
        target: Option<ExprId>,
        /// What it is called with, without the target.
        args: Vec<ExprId>,
    },
    /// `[a, ?b]`
    List {
        /// The items.
        items: Vec<ListItem>,
    },
    /// `{a: b, ?c: d}`
    Map {
        /// The entries.
        entries: Vec<MapEntry>,
    },
    /// `Name{field: a, ?other: b}`
    Struct {
        /// The type's name as written.
        name: Str,
        /// The fields.
        fields: Vec<StructField>,
    },
    /// What a macro expands to.
    Comprehension(Box<Comprehension>),
}

/// A value that stands in the source.
#[derive(Clone, Debug, PartialEq)]
pub enum Literal {
    /// `null`
    Null,
    /// `true`
    Bool(bool),
    /// `1`
    Int(i64),
    /// `1u`
    Uint(u64),
    /// `1.0`
    Double(f64),
    /// `"text"`
    String(Str),
    /// `b"bytes"`
    Bytes(Vec<u8>),
}

/// An item of a list.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ListItem {
    /// The value.
    pub value: ExprId,
    /// Whether it is an optional that stands only if it has a value.
    pub is_optional: bool,
}

/// An entry of a map.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MapEntry {
    /// The key.
    pub key: ExprId,
    /// The value.
    pub value: ExprId,
    /// Whether the value is an optional, and the entry stands only if it has a value.
    pub is_optional: bool,
}

/// A field of a struct.
#[derive(Clone, Debug, PartialEq)]
pub struct StructField {
    /// Its name.
    pub name: Str,
    /// Its value.
    pub value: ExprId,
    /// Whether the value is an optional, and the field is set only if it has a value.
    pub is_optional: bool,
    /// Where its colon stands in the source, in characters.
    pub offset: u32,
}

/// A fold over the items of a list or the entries of a map.
#[derive(Clone, Debug, PartialEq)]
pub struct Comprehension {
    /// What is gone through.
    pub range: ExprId,
    /// The name of the item; of a map the key. With a second name: the index or the key.
    pub variable: Str,
    /// The name of the item or value, when there are two names.
    pub second_variable: Option<Str>,
    /// The name of what is folded into.
    pub accumulator: Str,
    /// What the accumulator is at first.
    pub initial: ExprId,
    /// Goes on while this is true.
    pub condition: ExprId,
    /// What the accumulator becomes with each item.
    pub step: ExprId,
    /// What comes out.
    pub result: ExprId,
}

impl Ast {
    /// Adds a node that starts at this character of the source.
    pub fn add(&mut self, expr: Expr, offset: u32) -> ExprId {
        let id = ExprId(u32::try_from(self.nodes.len()).expect("sources are shorter than 4 GiB"));
        self.nodes.push(expr);
        self.offsets.push(offset);
        id
    }

    /// What a node is.
    #[must_use]
    pub fn expr(&self, id: ExprId) -> &Expr {
        &self.nodes[id.index()]
    }

    /// The same, to change it.
    pub fn expr_mut(&mut self, id: ExprId) -> &mut Expr {
        &mut self.nodes[id.index()]
    }

    /// Where a node starts in the source, in characters.
    #[must_use]
    pub fn offset(&self, id: ExprId) -> u32 {
        self.offsets[id.index()]
    }

    /// How many nodes there are. Ids count from 0 up to it.
    #[must_use]
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// All nodes, children before their parents.
    pub fn ids(&self) -> impl Iterator<Item = ExprId> + use<> {
        let len = u32::try_from(self.nodes.len()).expect("sources are shorter than 4 GiB");
        (0..len).map(ExprId)
    }

    /// Whether there are no nodes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// The whole expression.
    #[must_use]
    pub fn root(&self) -> ExprId {
        self.root
    }

    /// Says which node is the whole expression.
    pub fn set_root(&mut self, root: ExprId) {
        self.root = root;
    }
}

impl Expr {
    /// Calls with each node that is directly in this one.
    pub fn for_each_child(&self, mut visit: impl FnMut(ExprId)) {
        match self {
            Expr::Literal(_) | Expr::Ident(_) => {}
            Expr::Select { operand, .. } => visit(*operand),
            Expr::Call { target, args, .. } => {
                target.iter().chain(args).for_each(|part| visit(*part));
            }
            Expr::List { items } => items.iter().for_each(|item| visit(item.value)),
            Expr::Map { entries } => {
                entries.iter().flat_map(|entry| [entry.key, entry.value]).for_each(visit);
            }
            Expr::Struct { fields, .. } => fields.iter().for_each(|field| visit(field.value)),
            Expr::Comprehension(fold) => {
                let parts = [fold.range, fold.initial, fold.condition, fold.step, fold.result];
                parts.into_iter().for_each(visit);
            }
        }
    }
}

impl ExprId {
    /// The node at a place; none where there are no so many nodes.
    #[must_use]
    pub fn from_index(index: usize) -> Option<ExprId> {
        u32::try_from(index).ok().map(ExprId)
    }

    /// Its place among the nodes: an index for tables beside the arena.
    #[must_use]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}
