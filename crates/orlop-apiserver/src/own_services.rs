//! Where the Services of this cluster are, for calls of webhooks.

use std::sync::Arc;

use async_trait::async_trait;

use crate::objects::{Objects, Place};
use crate::webhook_client::{ServiceResolver, cluster_address};

/// See the module's documentation.
pub(crate) struct OwnServices {
    objects: Arc<dyn Objects>,
}

impl OwnServices {
    /// The Services among the objects of a server.
    pub(crate) fn of(objects: Arc<dyn Objects>) -> OwnServices {
        OwnServices { objects }
    }
}

#[async_trait]
impl ServiceResolver for OwnServices {
    async fn resolve(
        &self,
        namespace: &str,
        name: &str,
        port: u16,
    ) -> Result<(String, u16), String> {
        let place = Place { api_version: "v1", kind: "Service", namespace, name };
        let service = self.objects.get(place).await.map_err(|status| status.message)?;
        let service = service.ok_or_else(|| format!("service \"{name}\" not found"))?;
        cluster_address(&service, port)
    }
}
