//! Who owned what was alive.

use super::allocator::Allocator;
use std::collections::HashMap;

/// What one owner had alive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Owned {
    /// See [`Allocator::owners`].
    pub owner: String,
    /// Together.
    pub bytes: i64,
    /// How many blocks; 0 for what was there before.
    pub blocks: u64,
}

/// The owner of what no event of the capture allocated.
pub const BEFORE: &str = "allocated before the capture started";
/// The owner of what was freed without an event of it.
const LOST: &str = "freed without an event";

impl Allocator {
    /// What was alive before an instant, by owner, the largest first. It sums to what was in use.
    pub fn live_before(&self, time_ps: i64) -> Vec<Owned> {
        let mut alive: HashMap<i64, (u32, i64)> = HashMap::new();
        for change in self.changes.iter().take_while(|change| change.time_ps < time_ps) {
            match change.owner {
                Some(owner) => alive.insert(change.address, (owner, change.bytes)),
                None => alive.remove(&change.address),
            };
        }
        let mut groups: HashMap<u32, (i64, u64)> = HashMap::new();
        for &(owner, bytes) in alive.values() {
            let group = groups.entry(owner).or_default();
            *group = (group.0.saturating_add(bytes), group.1 + 1);
        }
        let mut owned: Vec<Owned> =
            groups.into_iter().map(|(owner, (bytes, blocks))| Owned { owner: self.owners[owner as usize].clone(), bytes, blocks }).collect();
        let tracked = owned.iter().fold(0i64, |sum, owned| sum.saturating_add(owned.bytes));
        let rest = self.used_before(time_ps).unwrap_or(0).saturating_sub(tracked);
        if rest != 0 {
            // Less in use than is tracked: a release without an event.
            owned.push(Owned { owner: if rest > 0 { BEFORE } else { LOST }.to_owned(), bytes: rest, blocks: 0 });
        }
        owned.sort_by(|a, b| b.bytes.cmp(&a.bytes).then_with(|| a.owner.cmp(&b.owner)));
        owned
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::xplane::runtime::test_rows::{With, gpus, owned, run};

    #[test]
    fn groups_sum_to_what_is_used_even_where_events_are_missing() {
        let rows = [
            ("MemoryAllocation", 1, 0, With::Memory(0, 50, 50, 1)),
            // Nothing says that it was freed; then the address is given again.
            ("MemoryAllocation", 2, 0, With::Memory(0, 30, 30, 1)),
            ("MemoryAllocation", 3, 0, With::Memory(0, 20, 10, 2)),
        ];
        let runtime = run(&[&rows], &gpus(1), &[]);
        let live = owned(&runtime.allocators[0], 4);
        assert_eq!(live.iter().map(|owned| owned.1).sum::<i64>(), 20);
        assert_eq!(live.last().unwrap(), &(LOST.to_owned(), -20, 0));
        assert_eq!(runtime.allocators[0].used_before(0), Some(0));
    }
}
