//! `orlop store dump`: prints the records, one line of JSON each.

use std::io::{self, BufWriter, Write};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use orlop_storage::{KeyRange, LeaseId, Record};
use serde_json::{Map, Value, json};

use crate::data_dir::DataDir;

/// Prints the newest records as lines of JSON, without writing to the store
#[derive(clap::Args)]
pub(crate) struct Dump {
    #[command(flatten)]
    data_dir: DataDir,
    /// Only keys that begin with this
    #[arg(long, default_value = "")]
    prefix: String,
    /// Leave the values out
    #[arg(long)]
    keys_only: bool,
}

impl Dump {
    pub(crate) fn run(self) -> anyhow::Result<()> {
        let image = super::load(&self.data_dir)?;
        let mut out = BufWriter::new(io::stdout().lock());
        for record in image.records(KeyRange::prefix(self.prefix)) {
            let line = describe(&record, self.keys_only);
            match writeln!(out, "{line}") {
                Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return Ok(()),
                written => written?,
            }
        }
        Ok(out.flush()?)
    }
}

/// The record as JSON; what is not text is in base64, under another name.
fn describe(record: &Record, keys_only: bool) -> Value {
    let mut line = Map::new();
    let mut add = |name: &str, bytes: &[u8]| match std::str::from_utf8(bytes) {
        Ok(text) => line.insert(name.into(), text.into()),
        Err(_) => line.insert(format!("{name}Base64"), STANDARD.encode(bytes).into()),
    };
    add("key", record.key());
    if !keys_only {
        add("value", record.value());
    }
    line.insert("createRevision".into(), json!(record.created().0));
    line.insert("modRevision".into(), json!(record.modified().0));
    line.insert("lease".into(), json!(LeaseId::number(record.lease())));
    Value::Object(line)
}
