//! `--memory`: a size as people write it, and what was given up to keep to it.

use oomscope::ascend::capture::Capture;
use oomscope::error::{Arg, Warning};
use oomscope::units::Decimal;
use oomscope::xplane::capture as xplane;

/// Names of units in small letters, those first that end in another's.
const UNITS_BYTES: [(&str, u64); 10] = [
    ("kib", 1 << 10),
    ("mib", 1 << 20),
    ("gib", 1 << 30),
    ("kb", 1_000),
    ("mb", 1_000_000),
    ("gb", 1_000_000_000),
    ("k", 1 << 10),
    ("m", 1 << 20),
    ("g", 1 << 30),
    ("b", 1),
];

/// More than any machine has.
const MOST_BYTES: u64 = 1 << 50;

/// The value of `--memory`.
pub fn limit(text: &str) -> Result<u64, String> {
    let small = text.trim().to_ascii_lowercase();
    let (number, unit) = UNITS_BYTES.iter().find_map(|(name, unit)| Some((small.strip_suffix(name)?, Some(*unit)))).unwrap_or((&small, None));
    let decimal = Decimal::parse(number.trim_end().as_bytes()).ok().flatten();
    match (decimal, unit) {
        (Some(decimal), _) if decimal.times(unit.unwrap_or(1)) == Some(0) => {
            Err(format!("--memory: {text} leaves no room for anything; without --memory there is no limit"))
        }
        (Some(_), None) => Err(format!("--memory: {text} has no unit: {text}MiB or {text}GiB, say")),
        (Some(decimal), Some(unit)) => match decimal.times(unit) {
            Some(bytes) if bytes < 0 => Err(format!("--memory: {text} is less than nothing")),
            Some(bytes) if bytes.unsigned_abs() <= MOST_BYTES => Ok(bytes.unsigned_abs()),
            _ => Err(format!("--memory: {text} is more than any machine has; without --memory there is no limit")),
        },
        (None, _) => Err(format!("--memory is a size as in 2GiB, with KiB, MiB, GiB, K, M, G, KB, MB, GB or B, not {text}")),
    }
}

/// What was given up in each of these captures, a line each.
pub fn given_up(ascend: &[Capture], jax: &[xplane::Capture]) -> Vec<String> {
    let of_ascend = ascend.iter().filter_map(|capture| {
        let blocks = |count: &dyn Fn(&oomscope::ascend::capture::Device) -> u64| capture.devices.iter().map(count).sum::<u64>();
        let folded = blocks(&|device| device.blocks.folded.as_ref().map_or(0, |folded| folded.blocks));
        let all = blocks(&|device| device.blocks.count());
        let folded = (folded > 0).then(|| format!("{folded} of {all} blocks are folded"));
        line(&capture.facts.source, folded.into_iter().chain(capture.facts.warnings.iter().filter_map(lost)).collect())
    });
    let of_jax = jax.iter().filter_map(|capture| line(&capture.source, capture.warnings.iter().filter_map(lost).collect()));
    of_ascend.chain(of_jax).collect()
}

fn line(source: &str, lost: Vec<String>) -> Option<String> {
    (!lost.is_empty()).then(|| format!("{source}: {}: --memory allows too little for more", lost.join(", ")))
}

/// What a warning says to be lost for want of memory.
fn lost(warning: &Warning) -> Option<String> {
    let count = |key: &str| match warning.args.get(key) {
        Some(Arg::Number(count)) => *count,
        _ => 0,
    };
    match warning.code.as_str() {
        "names-dropped" => Some(format!("{} rows have lost the operator's name", count("rows"))),
        "stacks-dropped" => Some(format!("{} operators have lost their call stack", count("operators"))),
        "events-too-many" => Some("only the plans are told, not what happened at run time".to_owned()),
        "memory-full" => {
            let place = warning.line.map_or_else(|| warning.file.clone(), |line| format!("line {line} of {}", warning.file));
            Some(format!("reading ended at {place}"))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_written_in_many_ways() {
        for (text, bytes) in [
            ("512M", 512 << 20),
            ("2gib", 2 << 30),
            ("2G", 2 << 30),
            ("1.5 GiB", 3 << 29),
            ("3k", 3 << 10),
            ("3KB", 3000),
            ("3kB", 3000),
            ("7mb", 7_000_000),
            ("1GB", 1_000_000_000),
            ("1b", 1),
        ] {
            assert_eq!(limit(text), Ok(bytes), "{text}");
        }
    }

    #[test]
    fn what_is_no_size_is_told_how_to_write_one() {
        for (text, expected) in [
            ("512", "--memory: 512 has no unit: 512MiB or 512GiB, say"),
            ("0", "--memory: 0 leaves no room for anything; without --memory there is no limit"),
            ("0GiB", "--memory: 0GiB leaves no room for anything; without --memory there is no limit"),
            ("-1GiB", "--memory: -1GiB is less than nothing"),
            ("99999999999GiB", "--memory: 99999999999GiB is more than any machine has; without --memory there is no limit"),
            ("GiB", "--memory is a size as in 2GiB, with KiB, MiB, GiB, K, M, G, KB, MB, GB or B, not GiB"),
            ("2 TB", "--memory is a size as in 2GiB, with KiB, MiB, GiB, K, M, G, KB, MB, GB or B, not 2 TB"),
        ] {
            assert_eq!(limit(text), Err(expected.to_owned()));
        }
    }
}
