//! What an expression can use: functions, macros, variables and types.
//!
//! [`Functions`] is made once for a set of libraries and shared; an [`Environment`] adds the
//! variables of one place where expressions stand, and costs next to nothing.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use orlop_machinery::Str;

use crate::decl_type::DeclType;
use crate::function::{Constant, Library, Macro, Overload};
use crate::parser::FieldNames;
use crate::ty::Type;

/// Functions, constants and macros of several libraries, by name.
#[derive(Debug, Default)]
pub struct Functions {
    overloads: HashMap<&'static str, Vec<&'static Overload>>,
    /// The function of each overload, by the overload's id.
    names: HashMap<&'static str, &'static str>,
    constants: HashMap<&'static str, &'static Constant>,
    macros: HashMap<&'static str, Vec<&'static Macro>>,
}

/// What an expression can use.
#[derive(Clone, Debug)]
pub struct Environment {
    functions: Arc<Functions>,
    variables: Vec<Variable>,
    types: BTreeMap<Str, DeclType>,
    container: Str,
    requires_homogeneous_literals: bool,
    field_names: FieldNames,
}

/// A declared variable. Its place in the environment is its [`VariableId`].
#[derive(Clone, Debug)]
pub struct Variable {
    /// Its name; with dots when it is qualified, such as `variables.replicas`.
    pub name: Str,
    /// Its type.
    pub ty: Type,
    /// What its data is declared as, where that is known: tells how large it can be.
    pub decl: Option<DeclType>,
}

/// Which variable of an environment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct VariableId(u32);

impl Functions {
    /// Of these libraries.
    #[must_use]
    pub fn new(libraries: &[&'static Library]) -> Functions {
        let mut functions = Functions::default();
        for library in libraries {
            for function in library.functions {
                let overloads = functions.overloads.entry(function.name).or_default();
                overloads.extend(function.overloads);
                let ids = function.overloads.iter().map(|overload| (overload.id, function.name));
                functions.names.extend(ids);
            }
            for constant in library.constants {
                functions.constants.insert(constant.name, constant);
            }
            for mac in library.macros {
                functions.macros.entry(mac.name).or_default().push(mac);
            }
        }
        functions
    }

    /// The overloads of a function; none when there is no such function.
    #[must_use]
    pub fn overloads(&self, function: &str) -> &[&'static Overload] {
        self.overloads.get(function).map_or(&[], Vec::as_slice)
    }

    /// The name of an overload's function.
    #[must_use]
    pub fn name_of(&self, overload: &Overload) -> Option<&'static str> {
        self.names.get(overload.id).copied()
    }

    /// The constant of a name.
    #[must_use]
    pub fn constant(&self, name: &str) -> Option<&'static Constant> {
        self.constants.get(name).copied()
    }

    /// The macro that a call with so many arguments is.
    #[must_use]
    pub fn find_macro(
        &self,
        name: &str,
        is_member: bool,
        arguments: usize,
    ) -> Option<&'static Macro> {
        let fits = |mac: &&&Macro| {
            mac.is_member == is_member && mac.arguments.is_none_or(|count| count == arguments)
        };
        let macros = self.macros.get(name)?;
        macros.iter().find(fits).copied()
    }
}

impl Environment {
    /// With these functions and no variables.
    #[must_use]
    pub fn new(functions: Arc<Functions>) -> Environment {
        Environment {
            functions,
            variables: Vec::new(),
            types: BTreeMap::new(),
            container: Str::default(),
            requires_homogeneous_literals: false,
            field_names: FieldNames::Plain,
        }
    }

    /// Adds a variable.
    pub fn declare(&mut self, name: impl Into<Str>, ty: Type) -> VariableId {
        self.add(Variable { name: name.into(), ty, decl: None })
    }

    /// Adds a variable whose data is declared, and all object types in it.
    pub fn declare_data(&mut self, name: impl Into<Str>, decl: &DeclType) -> VariableId {
        self.add_types(decl);
        self.add(Variable { name: name.into(), ty: decl.ty(), decl: Some(decl.clone()) })
    }

    fn add(&mut self, variable: Variable) -> VariableId {
        let id = VariableId(u32::try_from(self.variables.len()).expect("variables are few"));
        self.variables.push(variable);
        id
    }

    /// Adds an object type, and all object types in it, so that expressions can name them.
    pub fn add_types(&mut self, decl: &DeclType) {
        if let Some(element) = decl.element() {
            self.add_types(element);
        }
        let Some(object) = decl.as_object() else { return };
        if self.types.insert(object.name.clone(), decl.clone()).is_some() {
            return;
        }
        for field in object.fields() {
            self.add_types(&field.ty);
        }
    }

    /// Names are looked for in this namespace, and in those around it.
    pub fn set_container(&mut self, container: impl Into<Str>) {
        self.container = container.into();
    }

    /// Says how fields may be written.
    pub fn set_field_names(&mut self, field_names: FieldNames) {
        self.field_names = field_names;
    }

    /// How fields may be written.
    #[must_use]
    pub fn field_names(&self) -> FieldNames {
        self.field_names
    }

    /// Refuses constants that are well typed and still wrong, as Kubernetes does: lists and maps
    /// that are written with items of different types, durations, timestamps and regular
    /// expressions that are none, and format strings that do not fit.
    pub fn require_homogeneous_literals(&mut self) {
        self.requires_homogeneous_literals = true;
    }

    /// The functions.
    #[must_use]
    pub fn functions(&self) -> &Functions {
        &self.functions
    }

    /// The variables, in the order in which they were declared.
    #[must_use]
    pub fn variables(&self) -> &[Variable] {
        &self.variables
    }

    /// A variable by its name; of several with the name the last.
    #[must_use]
    pub fn variable(&self, name: &str) -> Option<(VariableId, &Variable)> {
        let at = self.variables.iter().rposition(|variable| variable.name == name)?;
        Some((VariableId(u32::try_from(at).ok()?), &self.variables[at]))
    }

    /// An object type by its name.
    #[must_use]
    pub fn object_type(&self, name: &str) -> Option<&DeclType> {
        self.types.get(name)
    }

    /// The namespace in which names are looked for.
    #[must_use]
    pub fn container(&self) -> &str {
        &self.container
    }

    /// Whether the items of a written list or map must be of one type.
    #[must_use]
    pub fn requires_homogeneous_literals(&self) -> bool {
        self.requires_homogeneous_literals
    }
}

impl VariableId {
    /// Its place among the variables.
    #[must_use]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}
