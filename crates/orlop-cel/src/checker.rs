//! The types of an expression, and what its names and calls refer to.
//!
//! Behaviour and texts follow cel-go (`checker/checker.go`, `checker/env.go`,
//! `checker/errors.go`). Nodes without a type of their own (the parts of a qualified name) are dyn.
//! What is written as a constant but can have no value is found by [`mod@validation`].
//!
//! The tree is walked down once; the parser bounds its depth, and the size of types is bounded
//! here, because a type can grow with each name that is bound to it.

mod calls;
mod format;
mod unification;
mod validation;

use std::sync::Arc;

use orlop_machinery::Str;

use self::unification::Unifier;
use crate::ast::{Ast, Comprehension, Expr, ExprId, ListItem, Literal, MapEntry, StructField};
use crate::decl_type::{DeclType, Shape};
use crate::environment::Environment;
use crate::error::Issues;
use crate::parser;
use crate::program::{Checked, Reference};
use crate::ty::Type;
use crate::value::Value;

/// Parses and checks an expression.
///
/// # Errors
///
/// Everything that is wrong with it, in cel-go's words.
pub(crate) fn check(environment: &Environment, source: &str) -> Result<Checked, Issues> {
    let ast = parser::parse(source, environment.functions(), environment.field_names())?;
    let mut checker = Checker::new(environment, &ast, source);
    checker.check(ast.root());
    let types = checker.resolve_types();
    if checker.unifier.is_exhausted() {
        // Whatever else was found is about types that are not known.
        let mut issues = Issues::new(source);
        issues.report(None, "types of the expression are too large");
        return Err(issues);
    }
    if !checker.issues.list.is_empty() {
        return Err(checker.issues.sorted());
    }
    let references = checker.references;
    let checked = Checked { source: source.into(), ast, types, references };
    validation::validate(environment, &checked, source)?;
    Ok(checked)
}

struct Checker<'e> {
    environment: &'e Environment,
    ast: &'e Ast,
    types: Vec<Option<Type>>,
    references: Vec<Option<Reference>>,
    /// The variables of comprehensions around the node, the innermost last.
    locals: Vec<(Str, Type)>,
    unifier: Unifier,
    issues: Issues,
}

/// What a name stands for.
struct Found {
    name: String,
    ty: Type,
    reference: Reference,
}

/// What a name in front of braces is.
enum StructType {
    Object(DeclType),
    /// A type that has no fields.
    OtherType,
    NoType,
}

impl<'e> Checker<'e> {
    fn new(environment: &'e Environment, ast: &'e Ast, source: &str) -> Checker<'e> {
        Checker {
            environment,
            ast,
            types: vec![None; ast.len()],
            references: vec![None; ast.len()],
            locals: Vec::new(),
            unifier: Unifier::default(),
            issues: Issues::new(source),
        }
    }

    /// The types of all nodes, without variables.
    fn resolve_types(&mut self) -> Vec<Type> {
        let types = std::mem::take(&mut self.types);
        let resolve = |ty: Option<Type>| ty.map_or(Type::Dyn, |ty| self.unifier.resolve(&ty));
        types.into_iter().map(resolve).collect()
    }

    fn check(&mut self, id: ExprId) {
        if self.unifier.is_exhausted() {
            return;
        }
        let ty = match self.ast.expr(id) {
            Expr::Literal(literal) => literal_type(literal),
            Expr::Ident(name) => self.check_ident(id, name),
            Expr::Select { operand, field, is_test } => {
                self.check_select(id, *operand, field, *is_test)
            }
            Expr::Call { function, target, args } => self.check_call(id, function, *target, args),
            Expr::List { items } => self.check_list(items),
            Expr::Map { entries } => self.check_map(entries),
            Expr::Struct { name, fields } => self.check_struct(id, name, fields),
            Expr::Comprehension(fold) => self.check_comprehension(fold),
        };
        self.types[id.index()] = Some(ty);
    }

    fn check_ident(&mut self, id: ExprId, name: &str) -> Type {
        let Some(found) = self.find(name) else { return self.report_undeclared(id, name) };
        self.references[id.index()] = Some(found.reference);
        found.ty
    }

    fn check_select(&mut self, id: ExprId, operand: ExprId, field: &str, is_test: bool) -> Type {
        // `a.b.c` may be a name as a whole.
        if !is_test
            && let Some(prefix) = self.qualified_name(operand)
            && let Some(found) = self.find(&format!("{prefix}.{field}"))
        {
            self.references[id.index()] = Some(found.reference);
            return found.ty;
        }
        let ty = self.check_field(id, operand, field);
        if is_test { Type::Bool } else { self.unifier.substitute(&ty) }
    }

    /// The type of a field of the operand, which is checked too. Of an optional it is optional.
    fn check_field(&mut self, id: ExprId, operand: ExprId, field: &str) -> Type {
        self.check(operand);
        let operand = self.type_of(operand);
        let operand = self.unifier.substitute(&operand);
        match operand {
            Type::Optional(inner) => Type::optional(self.field_type(id, &inner, field)),
            operand => self.field_type(id, &operand, field),
        }
    }

    fn field_type(&mut self, id: ExprId, operand: &Type, field: &str) -> Type {
        match operand {
            Type::Map(of) => of.1.clone(),
            Type::Object(decl) => match visible_field(decl, field) {
                Some(ty) => ty,
                None => {
                    self.report(id, format!("undefined field '{field}'"));
                    Type::Error
                }
            },
            Type::Parameter(_) => {
                self.unifier.is_assignable(&Type::Dyn, operand);
                Type::Dyn
            }
            Type::Dyn | Type::Error => Type::Dyn,
            // Upstream takes most for objects of which it knows no fields.
            Type::Opaque(name) if !name.starts_with("net.") => {
                self.report(id, format!("unexpected failed resolution of '{name}'"));
                Type::Error
            }
            _ => {
                self.report(id, format!("type '{operand}' does not support field selection"));
                Type::Dyn
            }
        }
    }

    fn check_list(&mut self, items: &[ListItem]) -> Type {
        let mut joined = None;
        for ListItem { value, is_optional } in items {
            let ty = self.check_entry_value(*value, *is_optional);
            joined = Some(self.join(joined, ty));
        }
        let item = joined.unwrap_or_else(|| self.unifier.new_variable());
        self.unifier.bounded(Type::list(item))
    }

    fn check_map(&mut self, entries: &[MapEntry]) -> Type {
        let mut joined = None;
        for MapEntry { key, value, is_optional } in entries {
            self.check(*key);
            let key_type = self.type_of(*key);
            let (keys, values) = joined.map_or((None, None), |(k, v)| (Some(k), Some(v)));
            let keys = self.join(keys, key_type);
            let value_type = self.check_entry_value(*value, *is_optional);
            joined = Some((keys, self.join(values, value_type)));
        }
        let new_pair = || (self.unifier.new_variable(), self.unifier.new_variable());
        let (key, value) = joined.unwrap_or_else(new_pair);
        self.unifier.bounded(Type::map(key, value))
    }

    /// The type of an item; of one that stands only if it has a value, the type of that.
    fn check_entry_value(&mut self, value: ExprId, is_optional: bool) -> Type {
        self.check(value);
        let ty = self.type_of(value);
        match ty {
            Type::Optional(inner) if is_optional => Type::clone(&inner),
            ty => {
                if is_optional && !matches!(ty, Type::Dyn) {
                    self.report_mismatch(value, &Type::optional(ty.clone()), &ty);
                }
                ty
            }
        }
    }

    /// A type that both fit, dyn if there is none.
    fn join(&mut self, previous: Option<Type>, current: Type) -> Type {
        let Some(previous) = previous else { return current };
        if self.unifier.is_assignable(&previous, &current) {
            return unification::most_general(&previous, &current).clone();
        }
        Type::Dyn
    }

    fn check_struct(&mut self, id: ExprId, name: &str, fields: &[StructField]) -> Type {
        let Some(found) = self.find(name) else { return self.report_undeclared(id, name) };
        let type_name = found.name;
        let ty = match &found.ty {
            Type::Type(inner) => match &**inner {
                Type::Object(decl) => {
                    self.references[id.index()] = Some(Reference::Struct(decl.clone()));
                    StructType::Object(decl.clone())
                }
                other => {
                    self.report(id, format!("'{}' is not a message type", other.name()));
                    StructType::OtherType
                }
            },
            Type::Error => StructType::NoType,
            other => {
                self.report(id, format!("'{}' is not a type", other.name()));
                StructType::NoType
            }
        };
        for field in fields {
            self.check_struct_field(&ty, &type_name, field);
        }
        match ty {
            StructType::Object(decl) => Type::Object(decl),
            StructType::OtherType | StructType::NoType => Type::Error,
        }
    }

    fn check_struct_field(&mut self, ty: &StructType, type_name: &str, field: &StructField) {
        self.check(field.value);
        let declared = match ty {
            StructType::Object(decl) => visible_field(decl, &field.name),
            StructType::OtherType | StructType::NoType => None,
        };
        let expected = declared.ok_or_else(|| match ty {
            StructType::NoType => format!("unexpected failed resolution of '{type_name}'"),
            _ => format!("undefined field '{}'", field.name),
        });
        let expected = expected.unwrap_or_else(|message| {
            self.issues.report(Some(field.offset), message);
            Type::Error
        });
        let mut value = self.type_of(field.value);
        if field.is_optional {
            value = match value {
                Type::Optional(inner) => Type::clone(&inner),
                Type::Dyn => Type::Dyn,
                value => {
                    self.report_mismatch(field.value, &Type::optional(value.clone()), &value);
                    value
                }
            };
        }
        if !self.unifier.is_assignable(&expected, &value) {
            let message = format!(
                "expected type of field '{}' is '{expected}' but provided type is '{value}'",
                field.name
            );
            self.issues.report(Some(field.offset), message);
        }
    }

    fn check_comprehension(&mut self, fold: &Comprehension) -> Type {
        self.check(fold.range);
        self.check(fold.initial);
        let range = self.type_of(fold.range);
        let range = self.unifier.substitute(&range);
        let accumulator = self.type_of(fold.initial);
        let (first, second) = self.iterated_types(fold, &range);
        let outside = self.locals.len();
        self.locals.push((fold.accumulator.clone(), accumulator.clone()));
        self.locals.push((fold.variable.clone(), first));
        if let Some(variable) = &fold.second_variable {
            self.locals.push((variable.clone(), second));
        }
        self.check(fold.condition);
        self.check_assignable(fold.condition, &Type::Bool);
        self.check(fold.step);
        self.check_assignable(fold.step, &accumulator);
        self.locals.truncate(outside + 1);
        self.check(fold.result);
        self.locals.truncate(outside);
        let result = self.type_of(fold.result);
        self.unifier.substitute(&result)
    }

    /// The types of the two variables; the second is for nothing where there is only one.
    fn iterated_types(&mut self, fold: &Comprehension, range: &Type) -> (Type, Type) {
        match range {
            Type::List(item) if fold.second_variable.is_some() => (Type::Int, Type::clone(item)),
            Type::List(item) => (Type::clone(item), Type::Dyn),
            Type::Map(of) => of.as_ref().clone(),
            Type::Dyn | Type::Error | Type::Parameter(_) => {
                self.unifier.is_assignable(&Type::Dyn, range);
                (Type::Dyn, Type::Dyn)
            }
            _ => {
                let message = format!(
                    "expression of type '{range}' cannot be range of a comprehension \
                     (must be list, map, or dynamic)"
                );
                self.report(fold.range, message);
                (Type::Error, Type::Error)
            }
        }
    }

    fn check_assignable(&mut self, id: ExprId, expected: &Type) {
        let ty = self.type_of(id);
        if !self.unifier.is_assignable(expected, &ty) {
            self.report_mismatch(id, expected, &ty);
        }
    }

    /// What a name stands for, in the container or one around it.
    fn find(&self, name: &str) -> Option<Found> {
        self.candidates(name).find_map(|name| {
            let (ty, reference) = self.find_exactly(&name)?;
            Some(Found { name, ty, reference })
        })
    }

    fn find_exactly(&self, name: &str) -> Option<(Type, Reference)> {
        if let Some((_, ty)) = self.locals.iter().rev().find(|(local, _)| local == name) {
            return Some((ty.clone(), Reference::Local));
        }
        if let Some((id, variable)) = self.environment.variable(name) {
            return Some((variable.ty.clone(), Reference::Variable(id)));
        }
        if let Some(decl) = self.environment.object_type(name) {
            let object = Arc::new(Type::Object(decl.clone()));
            let reference = Reference::Constant(Value::Type(object.clone()));
            return Some((Type::Type(object), reference));
        }
        let constant = self.environment.functions().constant(name)?;
        Some((constant.ty.ty(), Reference::Constant((constant.value)())))
    }

    /// The names that a name can mean, the innermost container first.
    fn candidates(&self, name: &str) -> impl Iterator<Item = String> + use<> {
        let (container, name) = match name.strip_prefix('.') {
            Some(name) => (String::new(), name.to_owned()),
            None => (self.environment.container().to_owned(), name.to_owned()),
        };
        let mut rest = Some(container);
        std::iter::from_fn(move || {
            let container = rest.take()?;
            if container.is_empty() {
                return Some(name.clone());
            }
            let around = container.rfind('.').map_or("", |dot| &container[..dot]);
            rest = Some(around.to_owned());
            Some(format!("{container}.{name}"))
        })
    }

    /// `a.b.c` as a name, if it can be one.
    fn qualified_name(&self, id: ExprId) -> Option<String> {
        match self.ast.expr(id) {
            Expr::Ident(name) => Some(name.to_string()),
            Expr::Select { operand, field, is_test: false } => {
                let mut name = self.qualified_name(*operand)?;
                name.push('.');
                name.push_str(field);
                Some(name)
            }
            _ => None,
        }
    }

    fn type_of(&self, id: ExprId) -> Type {
        self.types[id.index()].clone().unwrap_or(Type::Error)
    }

    fn report(&mut self, id: ExprId, message: impl Into<String>) {
        self.issues.report(Some(self.ast.offset(id)), message);
    }

    fn report_mismatch(&mut self, id: ExprId, expected: &Type, found: &Type) {
        self.report(id, format!("expected type '{expected}' but found '{found}'"));
    }

    fn report_undeclared(&mut self, id: ExprId, name: &str) -> Type {
        let container = self.environment.container();
        let text = format!("undeclared reference to '{name}' (in container '{container}')");
        self.report(id, text);
        Type::Error
    }
}

fn literal_type(literal: &Literal) -> Type {
    match literal {
        Literal::Null => Type::Null,
        Literal::Bool(_) => Type::Bool,
        Literal::Int(_) => Type::Int,
        Literal::Uint(_) => Type::Uint,
        Literal::Double(_) => Type::Double,
        Literal::String(_) => Type::String,
        Literal::Bytes(_) => Type::Bytes,
    }
}

/// The type of a field that expressions can see.
fn visible_field(decl: &DeclType, name: &str) -> Option<Type> {
    let field = decl.as_object()?.field(name)?;
    (!matches!(field.ty.shape(), Shape::Preserved)).then(|| field.ty.ty())
}
