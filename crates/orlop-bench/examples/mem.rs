//! x
#![allow(warnings)]
use orlop_storage::*;
use rand::*;
use std::time::*;
#[global_allocator]
static A: mimalloc::MiMalloc = mimalloc::MiMalloc;
fn key(number: usize) -> bytes::Bytes { format!("/registry/configmaps/namespace-{:03}/name-{number:08}", number % 97).into() }
#[tokio::main(flavor = "current_thread")]
async fn main() {
    let n: usize = std::env::args().nth(1).unwrap().parse().unwrap();
    let per: usize = std::env::args().nth(2).unwrap().parse().unwrap();
    let s = Memory::with(std::sync::Arc::new(SystemClock), HistoryLimits{ bytes_max: 64<<20, ..Default::default()});
    let v = bytes::Bytes::from(vec![7u8; 1024]);
    for i in 0..n { s.put(key(i), v.clone(), Expect::Anything).await.unwrap(); }
    let mut r = rand::rngs::SmallRng::seed_from_u64(1);
    let keys: Vec<_> = (0..200_000).map(|_| key(r.random_range(0..n))).collect();
    for round in 0..3 {
    let t = Instant::now();
    for c in keys.chunks(per) {
        if per == 1 { s.put(c[0].clone(), v.clone(), Expect::Anything).await.unwrap(); }
        else { let mut seen = std::collections::HashSet::new(); let mut x = Txn::new(); for k in c { if seen.insert(k.clone()) { x = x.put(k.clone(), v.clone(), Expect::Anything); } } s.commit(x).await.unwrap(); }
    }
    println!("{n} keys, {per} per txn: {:?} per put", t.elapsed() / keys.len() as u32);
    let t = Instant::now();
    for k in &keys { std::hint::black_box(s.get(k, At::Latest).await.unwrap()); }
    println!("   get {:?}", t.elapsed() / keys.len() as u32);
    }
}
