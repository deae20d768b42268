//! The names that operators have as functions, as the parser writes them and upstream's texts show
//! them. After `common/operators/operators.go` of cel-go.

/// `a ? b : c`
pub const CONDITIONAL: &str = "_?_:_";
/// `a && b`
pub const AND: &str = "_&&_";
/// `a || b`
pub const OR: &str = "_||_";
/// `!a`
pub const NOT: &str = "!_";
/// `a == b`
pub const EQUALS: &str = "_==_";
/// `a != b`
pub const NOT_EQUALS: &str = "_!=_";
/// `a < b`
pub const LESS: &str = "_<_";
/// `a <= b`
pub const LESS_EQUALS: &str = "_<=_";
/// `a > b`
pub const GREATER: &str = "_>_";
/// `a >= b`
pub const GREATER_EQUALS: &str = "_>=_";
/// `a + b`
pub const ADD: &str = "_+_";
/// `a - b`
pub const SUBTRACT: &str = "_-_";
/// `a * b`
pub const MULTIPLY: &str = "_*_";
/// `a / b`
pub const DIVIDE: &str = "_/_";
/// `a % b`
pub const MODULO: &str = "_%_";
/// `-a`
pub const NEGATE: &str = "-_";
/// `a[b]`
pub const INDEX: &str = "_[_]";
/// `a[?b]`
pub const OPTIONAL_INDEX: &str = "_[?_]";
/// `a.?b`; the field is the second argument, a string literal.
pub const OPTIONAL_SELECT: &str = "_?._";
/// `a in b`
pub const IN: &str = "@in";
/// What the conditions of `all` and `exists` are wrapped in: true, unless it is false.
pub const NOT_STRICTLY_FALSE: &str = "@not_strictly_false";
/// The name that macros give their accumulator.
pub const ACCUMULATOR: &str = "@result";

/// How an operator is written between its operands, if it is one with two.
#[must_use]
pub fn symbol(function: &str) -> Option<&'static str> {
    Some(match function {
        AND => "&&",
        OR => "||",
        EQUALS => "==",
        NOT_EQUALS => "!=",
        LESS => "<",
        LESS_EQUALS => "<=",
        GREATER => ">",
        GREATER_EQUALS => ">=",
        ADD => "+",
        SUBTRACT => "-",
        MULTIPLY => "*",
        DIVIDE => "/",
        MODULO => "%",
        IN => "in",
        _ => return None,
    })
}
