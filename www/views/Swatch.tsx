/** The colour of an operator, or of the baseline. */
export function Swatch({hue}: {hue: number | 'baseline'}) {
  return <i class={`swatch hue-${hue}`} aria-hidden="true" />;
}
