//! Protobuf's wire format: any cuts walk as one piece, and every message that was entered is left.
#![no_main]

use libfuzzer_sys::fuzz_target;
use oomscope::scan::wire::{Action, End, Fault, Visit, Walker, fields, numbers};
use oomscope_fuzz::pieces;
use std::ops::Range;

#[derive(Debug, Default, PartialEq)]
struct Seen {
    told: Vec<(usize, u32, u64)>,
    taken: Vec<Vec<u8>>,
    open: usize,
    damaged: Vec<(u64, Fault)>,
}

impl Visit for Seen {
    fn begins(&mut self, depth: usize, field: u32, body: Range<u64>) -> Action {
        self.told.push((depth, field, body.start));
        match field % 3 {
            0 => Action::Skip,
            1 => {
                self.open += 1;
                Action::Enter
            }
            _ => Action::Take,
        }
    }

    fn taken(&mut self, depth: usize, field: u32, bytes: &[u8]) {
        self.told.push((depth, field, bytes.len() as u64));
        self.taken.push(bytes.to_vec());
    }

    fn number(&mut self, depth: usize, field: u32, value: u64) {
        self.told.push((depth, field, value));
    }

    fn left(&mut self, _: usize) {
        self.open = self.open.saturating_sub(1);
    }

    fn damaged(&mut self, byte: u64, fault: Fault) {
        self.damaged.push((byte, fault));
    }
}

fn walk(pieces: &[&[u8]]) -> (Seen, End) {
    let mut seen = Seen::default();
    let mut walker = Walker::default();
    for piece in pieces {
        walker.feed(piece, &mut seen);
    }
    let end = walker.finish(&mut seen);
    (seen, end)
}

fuzz_target!(|file: &[u8]| {
    let whole = walk(&[file]);
    assert!(whole == walk(&pieces(file)), "cuts show");
    assert!(whole.0.open <= whole.0.damaged.len(), "a message was never left");
    // In memory, as the small messages are read.
    for field in fields(file).map_while(Result::ok) {
        let _ = (field.1.int(), field.1.text(), numbers(field.1).count());
    }
});
