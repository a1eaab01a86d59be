//! One thread of the host: what is kept of its events, and where in the file all of them are.

use super::head::Head;
use super::stats::{Memory, Note};
use crate::scan::wire::Fault;
use std::ops::Range;

/// One thread of the host: the events that are kept, as columns, by start.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Line {
    /// When each event began.
    pub start_ps: Vec<i64>,
    /// How long it took.
    pub duration_ps: Vec<i64>,
    /// A number in [`super::Events::names`].
    pub name: Vec<u32>,
    /// By event.
    pub memory: ByEvent<Memory>,
    /// By event.
    pub notes: ByEvent<Note>,
    /// All its events, in the file.
    pub stretches: Vec<Stretch>,
    /// Its plane, a number in [`crate::xplane::names::Names::planes`].
    pub plane: usize,
    /// What to add to the times of its events.
    pub begin_ps: i64,
}

/// What only some events have: their numbers ascend.
#[derive(Debug, Clone, PartialEq)]
pub struct ByEvent<T>(pub Vec<(u32, T)>);

impl<T> Default for ByEvent<T> {
    fn default() -> Self {
        ByEvent(Vec::new())
    }
}

impl<T> ByEvent<T> {
    /// What an event has.
    pub fn get(&self, event: usize) -> Option<&T> {
        let at = self.0.binary_search_by_key(&event, |(event, _)| *event as usize).ok()?;
        Some(&self.0[at].1)
    }

    fn renumber(&mut self, moved: &[u32]) {
        self.0.iter_mut().for_each(|(event, _)| *event = moved[*event as usize]);
        self.0.sort_by_key(|(event, _)| *event);
    }
}

/// Some successive events of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stretch {
    /// Where they lie in the file.
    pub bytes: Range<u64>,
    /// When the first of them begins.
    pub first_start_ps: i64,
    /// When the last of them to end ends.
    pub last_end_ps: i64,
}

impl Line {
    /// When an event ends.
    pub fn end_ps(&self, event: usize) -> i64 {
        self.start_ps[event].saturating_add(self.duration_ps[event])
    }

    /// Keeps an event.
    pub(super) fn push(&mut self, head: &Head, name: u32) {
        self.start_ps.push(head.offset_ps);
        self.duration_ps.push(head.duration_ps);
        self.name.push(name);
    }

    /// Keeps an event of an allocator, also where what it reports cannot be true.
    pub(super) fn push_memory(&mut self, head: &Head, name: u32, memory: Option<Memory>) -> Result<(), Fault> {
        let event = self.start_ps.len() as u32;
        self.push(head, name);
        match memory {
            Some(memory) if !memory.is_plausible() => return Err(Fault::Implausible),
            Some(memory) => self.memory.0.push((event, memory)),
            None => {}
        }
        Ok(())
    }

    /// Keeps an event, with what else it says.
    pub(super) fn push_noted(&mut self, head: &Head, name: u32, note: Option<Note>) {
        let event = self.start_ps.len() as u32;
        self.push(head, name);
        self.notes.0.extend(note.map(|note| (event, note)));
    }

    /// Adds its own start to all times, which were since that.
    pub(super) fn begin_at(&mut self, start_ps: i64) {
        self.begin_ps = start_ps;
        self.start_ps.iter_mut().for_each(|start| *start = start.saturating_add(start_ps));
        for stretch in &mut self.stretches {
            stretch.first_start_ps = stretch.first_start_ps.saturating_add(start_ps);
            stretch.last_end_ps = stretch.last_end_ps.saturating_add(start_ps);
        }
    }

    /// What its events take.
    pub(super) fn bytes(&self) -> u64 {
        const EVENT_BYTES: usize = 2 * size_of::<i64>() + size_of::<u32>();
        let (memory, notes) = (self.memory.0.len() * size_of::<(u32, Memory)>(), self.notes.0.len() * size_of::<(u32, Note)>());
        (self.start_ps.len() * EVENT_BYTES + memory + notes + self.stretches.len() * size_of::<Stretch>()) as u64
    }

    /// Gives up what is known of single events.
    pub(crate) fn forget(&mut self) {
        *self = Line { stretches: std::mem::take(&mut self.stretches), plane: self.plane, begin_ps: self.begin_ps, ..Line::default() };
    }

    /// By start, the longer first: an event comes after those it is in.
    pub(super) fn sort(&mut self) {
        let key = |line: &Line, at: usize| (line.start_ps[at], -line.duration_ps[at]);
        if (1..self.start_ps.len()).all(|at| key(self, at - 1) <= key(self, at)) {
            return;
        }
        let mut order: Vec<u32> = (0..self.start_ps.len() as u32).collect();
        order.sort_by_key(|&at| key(self, at as usize));
        self.start_ps = order.iter().map(|&at| self.start_ps[at as usize]).collect();
        self.duration_ps = order.iter().map(|&at| self.duration_ps[at as usize]).collect();
        self.name = order.iter().map(|&at| self.name[at as usize]).collect();
        let mut moved = vec![0; order.len()];
        order.iter().enumerate().for_each(|(to, &from)| moved[from as usize] = to as u32);
        self.memory.renumber(&moved);
        self.notes.renumber(&moved);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_events_have_moves_with_them_when_they_are_sorted() {
        let mut line = Line::default();
        let note = |program_id| Note { program_id: Some(program_id), ..Note::default() };
        for (name, (offset_ps, duration_ps)) in [(30, 1), (10, 2), (10, 5), (20, 1)].into_iter().enumerate() {
            line.push_noted(&Head { id: 0, offset_ps, duration_ps, has_stats: true }, name as u32, (name != 3).then(|| note(name as i64)));
        }
        line.sort();
        assert_eq!((&line.start_ps[..], &line.duration_ps[..], &line.name[..]), (&[10, 10, 20, 30][..], &[5, 2, 1, 1][..], &[2, 1, 3, 0][..]));
        assert_eq!([0, 1, 2, 3].map(|event| line.notes.get(event).cloned()), [Some(note(2)), Some(note(1)), None, Some(note(0))]);
    }

    #[test]
    fn an_allocation_that_cannot_be_true_still_happened() {
        let mut line = Line::default();
        let head = Head { id: 0, offset_ps: 7, duration_ps: 0, has_stats: true };
        assert_eq!(line.push_memory(&head, 4, Some(Memory { bytes: -1, ..Memory::default() })), Err(Fault::Implausible));
        assert_eq!(line.push_memory(&head, 4, Some(Memory { bytes: 8, ..Memory::default() })), Ok(()));
        assert_eq!((line.start_ps.len(), line.memory.get(0), line.memory.get(1).map(|memory| memory.bytes)), (2, None, Some(8)));
    }
}
