// Areas in proportion to values: a squarified treemap, after Bruls, Huizing and van Wijk (2000).

export interface Rect {
  x: number;
  y: number;
  width: number;
  height: number;
}

/** A rectangle for each value, in their order; the values should come largest first. Together they fill the box. */
export function treemap(values: number[], box: Rect): Rect[] {
  const rects: Rect[] = [];
  let rest = box;
  let left = values.reduce((sum, value) => sum + value, 0);
  for (let at = 0; at < values.length;) {
    const row = rowAt(values, at, rest, left);
    const sum = row.reduce((sum, value) => sum + value, 0);
    const [strip, remaining] = cut(rest, left === 0 ? 0 : sum / left);
    rects.push(...along(strip, row, sum));
    rest = remaining;
    left -= sum;
    at += row.length;
  }
  return rects;
}

/** As many values as make a row of the least elongated rectangles. */
function rowAt(values: number[], from: number, {width, height}: Rect, left: number): number[] {
  const side = Math.min(width, height);
  const scale = left === 0 ? 0 : width * height / left;
  const row = [values[from] ?? 0];
  let worst = elongation(row, side, scale);
  for (const value of values.slice(from + 1)) {
    const next = elongation([...row, value], side, scale);
    if (next > worst) break;
    row.push(value);
    worst = next;
  }
  return row;
}

function elongation(row: number[], side: number, scale: number): number {
  const areas = row.map(value => value * scale);
  const thickness = areas.reduce((sum, area) => sum + area, 0) / side;
  const lengths = areas.map(area => area / thickness);
  return Math.max(...lengths.map(length => Math.max(length / thickness, thickness / length)));
}

/** A strip across the shorter side, and what is left of the box. */
function cut({x, y, width, height}: Rect, part: number): [Rect, Rect] {
  if (width >= height) {
    const thick = width * part;
    return [{x, y, width: thick, height}, {x: x + thick, y, width: width - thick, height}];
  }
  const thick = height * part;
  return [{x, y, width, height: thick}, {x, y: y + thick, width, height: height - thick}];
}

function along({x, y, width, height}: Rect, row: number[], sum: number): Rect[] {
  let at = 0;
  return row.map(value => {
    const part = sum === 0 ? 0 : value / sum;
    const rect = height >= width ? {x, y: y + at * height, width, height: part * height} : {x: x + at * width, y, width: part * width, height};
    at += part;
    return rect;
  });
}
