//! The peer: one etcd server on the same disk, with the same load, through our own client.

use std::sync::Arc;

use orlop_storage::{Etcd, EtcdOptions, Store};
use orlop_storage_suite::etcd_server::{EtcdServer, EtcdServerOptions, etcd_version};

use super::load::{fill, write};
use super::{Bench, WRITERS};

/// Measures puts of etcd, if there is one.
pub(crate) fn run(bench: &mut Bench) -> anyhow::Result<()> {
    let Ok(version) = etcd_version() else {
        println!("  there is no etcd: name one in ORLOP_ETCD");
        return Ok(());
    };
    println!("  etcd {version}");
    for &keys in bench.key_counts() {
        let folder = bench.folder()?;
        let quota = ["--quota-backend-bytes".into(), (16_u64 << 30).to_string()];
        let options = EtcdServerOptions {
            arguments: quota.to_vec(),
            folder: Some(folder.path().to_path_buf()),
            ..EtcdServerOptions::default()
        };
        let server = EtcdServer::start_with(&options)?;
        let connect = Etcd::connect(EtcdOptions::new([server.endpoint()]));
        let store: Arc<dyn Store> = Arc::new(bench.runtime.block_on(connect)?);
        bench.runtime.block_on(fill(&store, keys))?;
        bench.runtime.block_on(write(&store, keys, 64, bench.warm_up_time()))?;
        for writers in WRITERS {
            let run = bench.runtime.block_on(write(&store, keys, writers, bench.time()))?;
            bench.report.add_run(&format!("etcd {keys} keys, {writers} writers"), &run);
        }
    }
    Ok(())
}
