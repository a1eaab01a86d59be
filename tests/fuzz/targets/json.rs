//! trace_view.json: any cuts and any number of ranges read as one piece; what serde_json takes, the splitter takes.
#![no_main]

use libfuzzer_sys::fuzz_target;
use oomscope::ascend::trace_parts::{TracePart, join};
use oomscope::ascend::trace_view::{Trace, TraceReader};
use oomscope::scan::json::{Event, EventSplitter};
use oomscope_fuzz::pieces;
use serde_json::Value;
use std::ops::Range;

const FILE: &str = "trace_view.json";

fn whole(pieces: &[&[u8]]) -> Trace {
    let mut reader = TraceReader::new(FILE);
    for piece in pieces {
        reader.feed(piece);
    }
    reader.finish()
}

fn in_ranges(text: &[u8], cuts: &[usize]) -> Trace {
    let part = |range: Range<u64>, exact| -> TracePart {
        let mut reader = TraceReader::range(FILE, range.clone(), exact);
        // Past the range's end, for its last event.
        reader.feed(text.get(range.start as usize..).unwrap_or_default());
        reader.finish_part()
    };
    let bounds: Vec<u64> = [0].into_iter().chain(cuts.iter().map(|&cut| cut as u64)).chain([u64::MAX]).collect();
    let ranges: Vec<Range<u64>> = bounds.windows(2).map(|pair| pair[0]..pair[1]).collect();
    join(FILE, None, ranges.into_iter().map(|range| (range.clone(), part(range, false))), &mut |range| part(range, true))
}

/// The array's objects, where the file is JSON.
fn objects(text: &[u8]) -> Option<usize> {
    let Ok(Value::Array(elements)) = serde_json::from_slice::<Value>(text) else { return None };
    Some(elements.iter().filter(|element| element.is_object()).count())
}

fuzz_target!(|text: &[u8]| {
    let one = whole(&[text]);
    let cut = pieces(text);
    assert!(one == whole(&cut), "cuts show");
    let mut at = 0;
    let ends: Vec<usize> = cut
        .iter()
        .map(|piece| {
            at += piece.len();
            at
        })
        .filter(|&end| end < text.len())
        .take(6)
        .collect();
    assert!(one == in_ranges(text, &ends), "ranges show");
    if let Some(objects) = objects(text) {
        let mut seen = 0;
        let mut each = |event: Event| {
            seen += 1;
            serde_json::from_slice::<Value>(event.json).is_ok()
        };
        let mut splitter = EventSplitter::default();
        splitter.feed(text, &mut each);
        let ended = splitter.finish(&mut each);
        assert!(seen == objects && ended.broken.is_empty(), "{seen} events of {objects}");
    }
});
