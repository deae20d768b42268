//! Setting defaults everywhere in an object.
//!
//! A kind brings a function per struct; the schema says where in an object such structs are. Fields
//! whose default the API itself declares need no function. An outer struct is set before what is
//! inside it, as upstream's generated code does (`pkg/apis/*/v1/zz_generated.defaults.go`).

use crate::kind::Defaulter;
use crate::schema::{Field, Schema, Struct, StructId, Type};
use crate::value::Value;

/// The defaults of all structs of a schema.
pub struct Defaults {
    /// By struct.
    plans: Vec<Plan>,
}

/// What to do with the values of one struct.
#[derive(Default)]
struct Plan {
    own: Vec<Defaulter>,
    /// Positions of the fields whose default the schema declares.
    declared: Vec<usize>,
    /// Positions of the fields that hold something with a plan of its own.
    inner: Vec<usize>,
}

impl Defaults {
    /// From the functions of all kinds, by the name of the struct. A struct that is named several
    /// times gets all of them, in order.
    ///
    /// # Panics
    ///
    /// When a name is not in the schema: a mistake in a kind, which every test of it shows.
    #[must_use]
    pub fn new(
        schema: &Schema,
        own: impl IntoIterator<Item = (&'static str, Defaulter)>,
    ) -> Defaults {
        let mut plans: Vec<Plan> = Vec::with_capacity(schema.len());
        plans.extend(schema.iter().map(|(_, known)| Plan::of_declared(known)));
        for (name, defaulter) in own {
            let Some(id) = schema.find(name) else { panic!("no struct {name} to set defaults of") };
            plans[id.index()].own.push(defaulter);
        }
        let reaches = reaching(schema, &plans);
        for (id, known) in schema.iter() {
            let fields = known.fields.iter().enumerate();
            let inner = fields.filter(|(_, field)| holds(&field.ty, &reaches));
            plans[id.index()].inner = inner.map(|(at, _)| at).collect();
        }
        Defaults { plans }
    }

    /// Sets the defaults of an object in normal form.
    pub fn set(&self, schema: &Schema, id: StructId, object: &mut Value) {
        let Value::Map(_) = object else { return };
        let plan = &self.plans[id.index()];
        for defaulter in &plan.own {
            defaulter(object);
        }
        let known = schema.get(id);
        for &at in &plan.declared {
            let field = &known.fields[at];
            let is_missing = match object.get(&field.name) {
                None => true,
                Some(value) => value.is_null() || (!field.is_pointer && value.is_empty()),
            };
            if let Some(default) = field.default().filter(|_| is_missing) {
                object.set(&field.name, default.clone());
            }
        }
        for &at in &plan.inner {
            let field = &known.fields[at];
            if let Some(value) = object.get_mut(&field.name) {
                self.set_inside(schema, &field.ty, value);
            }
        }
    }

    fn set_inside(&self, schema: &Schema, ty: &Type, value: &mut Value) {
        match (ty, value) {
            (Type::Struct(id), value) => self.set(schema, *id, value),
            (Type::List(list), Value::List(items)) => {
                items.iter_mut().for_each(|item| self.set_inside(schema, &list.item, item));
            }
            (Type::Map(map), Value::Map(entries)) => {
                entries
                    .iter_mut()
                    .for_each(|(_, value)| self.set_inside(schema, &map.value, value));
            }
            _ => {}
        }
    }
}

impl Plan {
    fn of_declared(known: &Struct) -> Plan {
        let fields = known.fields.iter().enumerate();
        // A declared zero changes nothing where zero and nothing are the same.
        let changes = |field: &Field| {
            field.default().is_some_and(|default| field.is_pointer || !default.is_empty())
        };
        let declared = fields.filter(|(_, field)| changes(field)).map(|(at, _)| at);
        Plan { declared: declared.collect(), ..Plan::default() }
    }
}

/// Which structs have something to set, themselves or inside.
fn reaching(schema: &Schema, plans: &[Plan]) -> Vec<bool> {
    let mut reaches: Vec<bool> =
        plans.iter().map(|plan| !plan.own.is_empty() || !plan.declared.is_empty()).collect();
    loop {
        let mut changed = false;
        for (id, known) in schema.iter() {
            if !reaches[id.index()] && known.fields.iter().any(|field| holds(&field.ty, &reaches)) {
                reaches[id.index()] = true;
                changed = true;
            }
        }
        if !changed {
            return reaches;
        }
    }
}

fn holds(ty: &Type, reaches: &[bool]) -> bool {
    match ty {
        Type::Struct(id) => reaches[id.index()],
        Type::List(list) => holds(&list.item, reaches),
        Type::Map(map) => holds(&map.value, reaches),
        _ => false,
    }
}
