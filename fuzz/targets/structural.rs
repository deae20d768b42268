//! Whatever the schema of a custom resource is and whatever is sent: pruning and defaulting again
//! change nothing more, and what did not change is not complained about more than what is new.
#![no_main]

use libfuzzer_sys::fuzz_target;
use orlop_kinds::schema;
use orlop_machinery::field::{Errors, Path};
use orlop_machinery::json;
use orlop_machinery::structural::{Malformed, Metadata, Position, Structural};

fuzz_target!(|bytes: &[u8]| {
    let (source, object) = orlop_fuzz::halves(bytes);
    let (Ok(source), Ok(mut object)) = (json::parse(source), json::parse(object)) else { return };
    let Ok(mut structural) = Structural::read(&source) else { return };
    let id = schema().find("io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta");
    let metadata = Metadata { schema: schema(), id: id.expect("every object has metadata") };
    structural.prune_defaults(metadata);
    structural.prune(&mut object, Position::Root);
    assert!(structural.prune(&mut object, Position::Root).is_empty());
    structural.prune_nulls(&mut object);
    _ = structural.coerce_embedded(&mut object, metadata, Malformed::Dropped);
    structural.set_defaults(&mut object);
    let once = object.clone();
    structural.set_defaults(&mut object);
    assert_eq!(object, once);
    let (root, mut created, mut updated) = (Path::root(), Errors::new(), Errors::new());
    structural.validate(&object, &root, &mut created);
    structural.validate_update(&object, &object, &root, &mut updated);
    assert!(updated.list().iter().all(|error| created.list().contains(error)));
    structural.validate_embedded(&object, metadata, &root, &mut created);
    structural.validate_lists(&object, &root, &mut created);
});
