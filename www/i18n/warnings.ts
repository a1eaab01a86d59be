// The codes of warnings. Rust brings the English sentence along; other languages make theirs from code and arguments.

export type WarningCode =
  | 'missing-trace' | 'missing-metadata' | 'unknown-rank' | 'duplicate-rank' | 'missing-column' | 'bad-value' | 'imprecise-time'
  | 'empty-name' | 'cut-file' | 'damaged-file' | 'baseline-rise' | 'no-stacks' | 'missing-memory-record' | 'unsupported-export' | 'not-analysed'
  | 'not-utf8' | 'doubled-rows' | 'foreign-trace' | 'duplicate-file'
  | 'no-operator-memory' | 'no-blocks' | 'no-totals' | 'unreadable-file' | 'more-warnings' | 'ge-release-only'
  | 'unsupported-report' | 'empty-report' | 'no-session' | 'duplicate-capture' | 'same-source' | 'joined-capture' | 'no-allocator-events' | 'no-hlo-proto'
  | 'blocks-folded' | 'names-dropped' | 'stacks-dropped' | 'memory-full' | 'events-too-many';
