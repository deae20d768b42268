//! Keeps the number of updaters small: the oldest ones of each version become one.
//!
//! Behaviour after `apimachinery/pkg/util/managedfields/internal` (`capmanagers.go`), except where
//! the joint manager itself comes later than others of its version: it is lost there, and joined
//! with them here.

use std::collections::HashMap;

use super::field_set::FieldSet;
use super::managers::{Manager, ManagerId, Managers, Operation};
use crate::value::Str;

/// The name of those who were joined.
const JOINT: &str = "ancient-changes";

/// The updaters of a version.
struct Bucket {
    /// The oldest one, by its place.
    first: usize,
    /// The joint manager, when there is one.
    joint: Option<usize>,
    /// Those who go into it, the oldest first.
    joined: Vec<usize>,
}

/// Joins the oldest updaters of each version until no more than `max` are left.
pub(super) fn cap_updaters(managers: &mut Managers, max: usize) {
    let is_update = |manager: &Manager| manager.id.operation == Operation::Update;
    let mut oldest: Vec<usize> =
        (0..managers.list.len()).filter(|at| is_update(&managers.list[*at])).collect();
    let mut count = oldest.len();
    if count <= max {
        return;
    }
    oldest.sort_by_cached_key(|at| {
        let manager = &managers.list[*at];
        (manager.seconds(), manager.id.key())
    });
    let mut joints = HashMap::new();
    for at in &oldest {
        let id = &managers.list[*at].id;
        if id.manager == JOINT && id.subresource.is_empty() {
            joints.insert(managers.list[*at].api_version.clone(), *at);
        }
    }
    let mut buckets: HashMap<Str, Bucket> = HashMap::new();
    for at in oldest {
        if count <= max {
            break;
        }
        let version = managers.list[at].api_version.clone();
        let Some(bucket) = buckets.get_mut(&version) else {
            let joint = joints.get(&version).copied();
            buckets.insert(version, Bucket { first: at, joint, joined: Vec::new() });
            continue;
        };
        match bucket.joint {
            Some(joint) if joint == at => bucket.joined.push(bucket.first),
            Some(_) => bucket.joined.push(at),
            None => {
                bucket.joint = Some(bucket.first);
                bucket.joined.push(at);
            }
        }
        count -= 1;
    }
    join(managers, buckets);
}

/// Moves what the joined have to their joint managers, and drops them.
fn join(managers: &mut Managers, buckets: HashMap<Str, Bucket>) {
    let mut is_joined = vec![false; managers.list.len()];
    for (version, bucket) in buckets {
        let (Some(joint), Some(last)) = (bucket.joint, bucket.joined.last()) else { continue };
        // The last one wrote most recently.
        let time = managers.list[*last].time;
        let mut sets = vec![std::mem::take(&mut managers.list[joint].fields)];
        for at in bucket.joined {
            is_joined[at] = true;
            sets.push(std::mem::take(&mut managers.list[at].fields));
        }
        let joint = &mut managers.list[joint];
        joint.id = ManagerId::update(JOINT, &version, "");
        joint.time = time;
        joint.fields = union_of(sets);
    }
    let mut at = 0;
    managers.list.retain(|_| {
        at += 1;
        !is_joined[at - 1]
    });
}

/// Pair by pair, so that a set is not copied once for every other one.
fn union_of(mut sets: Vec<FieldSet>) -> FieldSet {
    while sets.len() > 1 {
        let mut pairs = sets.into_iter();
        let mut unions = Vec::new();
        while let Some(set) = pairs.next() {
            unions.push(set.union(pairs.next().unwrap_or_default()));
        }
        sets = unions;
    }
    sets.pop().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::Time;

    /// Managers of words such as `name@version:second`, each of a field of its own; what is left
    /// of them when no more than `max` may be.
    fn check(words: &str, max: usize, expect: &str) {
        let mut managers = Managers::default();
        for (at, word) in words.split(' ').enumerate() {
            let (name, rest) = word.split_once('@').unwrap();
            let (version, second) = rest.split_once(':').unwrap();
            managers.list.push(Manager {
                id: ManagerId::update(name, version, ""),
                api_version: version.into(),
                fields: FieldSet::of_fields(&[&format!("f{at}")]),
                time: second.parse().ok().map(Time::from_unix),
            });
        }
        cap_updaters(&mut managers, max);
        let show = |manager: &Manager| {
            let fields = manager.fields.to_string().replace("\n", "").replace(".f", "");
            format!("{}@{}:{} {fields}", manager.id.manager, manager.api_version, manager.seconds())
        };
        let seen: Vec<String> = managers.list.iter().map(show).collect();
        assert_eq!(seen.join(", "), expect);
    }

    #[test]
    fn few_stay_apart() {
        check("a@v1:1 b@v1:2", 2, "a@v1:1 0, b@v1:2 1");
    }

    #[test]
    fn the_oldest_are_joined() {
        check("c@v1:3 a@v1:1 b@v1:2", 2, "c@v1:3 0, ancient-changes@v1:2 12");
        check("c@v1:3 a@v1:1 b@v1:2", 1, "ancient-changes@v1:3 012");
        check("c@v1: a@v1:1 b@v1:2", 2, "ancient-changes@v1:1 01, b@v1:2 2");
        check("b@v1:1 a@v1:1 c@v1:1", 2, "ancient-changes@v1:1 01, c@v1:1 2");
    }

    #[test]
    fn versions_are_kept_apart() {
        check("a@v1:1 b@v2:2 c@v1:3", 2, "ancient-changes@v1:3 02, b@v2:2 1");
        check("a@v1:1 b@v2:2 c@v3:3", 2, "a@v1:1 0, b@v2:2 1, c@v3:3 2");
        check("a@v1:1 b@v2:2 c@v1:3 d@v2:4", 2, "ancient-changes@v1:3 02, ancient-changes@v2:4 13");
    }

    #[test]
    fn the_joint_manager_takes_more() {
        check("ancient-changes@v1:1 a@v1:2 b@v1:3", 2, "ancient-changes@v1:2 01, b@v1:3 2");
        check("a@v1:1 b@v1:2 ancient-changes@v1:3", 2, "a@v1:1 0, ancient-changes@v1:2 12");
    }

    #[test]
    fn the_joint_manager_is_not_lost_when_it_is_not_the_oldest() {
        check("a@v1:1 ancient-changes@v1:2 b@v1:3", 2, "ancient-changes@v1:1 01, b@v1:3 2");
    }

    #[test]
    fn a_great_many_are_joined_in_good_time() {
        let words: Vec<String> = (0..20_000).map(|at| format!("m{at}@v1:{at}")).collect();
        let mut managers = Managers::default();
        for (at, word) in words.iter().enumerate() {
            managers.list.push(Manager {
                id: ManagerId::update(word, "v1", ""),
                api_version: "v1".into(),
                fields: FieldSet::of_fields(&[word]),
                time: Some(Time::from_unix(i64::try_from(at).unwrap_or_default())),
            });
        }
        cap_updaters(&mut managers, 10);
        assert_eq!(managers.list.len(), 10);
        assert_eq!(managers.list[0].fields.len(), 19_991);
    }
}
