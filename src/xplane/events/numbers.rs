//! How the events of a plane are named: the ids of names there, and their numbers here.

use super::class::Name;
use crate::xplane::names::PlaneNames;
use std::collections::HashMap;

/// The numbers of a plane's event names: ids are small as a rule, and there are millions of events.
#[derive(Debug, Default)]
pub struct Numbers {
    small: Vec<u32>,
    others: HashMap<i64, u32>,
}

/// Ids below have a place of their own.
const SMALL: usize = 1 << 20;
const NO_NAME: u32 = u32::MAX;

impl Numbers {
    /// Adds the names of a plane to those that are known.
    pub(crate) fn of(names: &PlaneNames, known: &mut Vec<Name>) -> Numbers {
        let mut numbers = Numbers::default();
        let mut ids: Vec<(&i64, &String)> = names.events.iter().collect();
        ids.sort_unstable();
        for (&id, name) in ids {
            let number = known.len() as u32;
            known.push(Name::of(name));
            numbers.put(id, number);
        }
        numbers
    }

    fn put(&mut self, id: i64, number: u32) {
        match usize::try_from(id) {
            Ok(small) if small < SMALL => {
                if self.small.len() <= small {
                    self.small.resize(small + 1, NO_NAME);
                }
                self.small[small] = number;
            }
            _ => drop(self.others.insert(id, number)),
        }
    }

    /// The number of an event's name in [`super::Events::names`], by its metadata id.
    #[inline]
    pub fn get(&self, id: i64) -> u32 {
        let small = usize::try_from(id).ok().and_then(|small| self.small.get(small));
        small.or_else(|| self.others.get(&id)).copied().unwrap_or(NO_NAME)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_of_any_size_find_their_names() {
        let ids = [-3, 0, 7, SMALL as i64 - 1, SMALL as i64, i64::MAX];
        let plane = PlaneNames { events: ids.map(|id| (id, format!("event {id}"))).into(), ..PlaneNames::default() };
        let mut known = vec![Name::of("of another plane")];
        let numbers = Numbers::of(&plane, &mut known);
        for id in ids {
            assert_eq!(known[numbers.get(id) as usize].text, format!("event {id}"));
        }
        assert_eq!([-1, 1, SMALL as i64 + 1].map(|id| numbers.get(id)), [NO_NAME; 3]);
    }
}
