//! The behaviour suite on every engine.

use orlop_storage_suite::store_suite;

store_suite!(reference, orlop_storage_suite::engines::reference);
store_suite!(memory, orlop_storage_suite::engines::memory);
store_suite!(embedded, orlop_storage_suite::engines::embedded);
store_suite!(etcd, orlop_storage_suite::engines::etcd);
