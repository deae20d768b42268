//! Not yet.
pub(crate) fn run(_: &mut super::Bench) -> anyhow::Result<()> {
    Ok(())
}
