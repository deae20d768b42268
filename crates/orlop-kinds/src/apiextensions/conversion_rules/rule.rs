//! One rule: how a part of an object of one version is a part of it in another.

use orlop_machinery::Value;

use super::expression::Expression;
use super::field_path::FieldPath;

/// How a part of an object changes from the one version to the other, and back.
#[derive(Debug)]
pub(super) enum Rule {
    /// A field stands elsewhere. Back: it stands where it stood.
    Move { from: FieldPath, to: FieldPath },
    /// A field has other values. Back: the pairs the other way round. Values that are in no pair
    /// stay.
    Values { path: FieldPath, pairs: Vec<(Value, Value)>, is_lossy: bool },
    /// The second version has a field that the first has not, and begins with this value. Back: the
    /// field goes.
    Add { path: FieldPath, value: Option<Value> },
    /// The first version has a field that the second has not. Back: it begins with this value.
    Remove { path: FieldPath, value: Option<Value> },
    /// Rules for each item of a list or each value of a map. Back: the same backwards.
    Each { path: FieldPath, rules: Vec<Rule> },
    /// Fields of the second version are computed from those of the first, which go. Back: the other
    /// way round. Nothing happens where none of the fields that go is there.
    Compute { forward: Outputs, backward: Outputs, is_lossy: bool },
}

/// Fields, and the expressions that make them.
pub(super) type Outputs = Vec<(FieldPath, Expression)>;

impl Rule {
    /// The word in the document.
    pub(super) fn name(&self) -> &'static str {
        match self {
            Rule::Move { .. } => "move",
            Rule::Values { .. } => "values",
            Rule::Add { .. } => "add",
            Rule::Remove { .. } => "remove",
            Rule::Each { .. } => "each",
            Rule::Compute { .. } => "compute",
        }
    }
}
