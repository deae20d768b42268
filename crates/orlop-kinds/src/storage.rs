//! Where volumes come from and how they are attached: `storage.k8s.io/v1`.

mod parameters;

kinds![
    csi_driver,
    csi_node,
    csi_storage_capacity,
    storage_class,
    volume_attachment,
    volume_attributes_class,
];

const GROUP_VERSION: (&str, &str) = ("storage.k8s.io", "v1");
const PACKAGE: &str = "io.k8s.api.storage.v1";
