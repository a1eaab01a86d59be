// The rows of a run as text for a terminal, and as README's table.

const seconds = value => Number.isNaN(value) ? '' : value.toFixed(2);
const whole = value => Number.isNaN(value) ? '' : value.toFixed(0);
const size = mb => mb < 10 ? mb.toFixed(1) : whole(mb);
const times = (theirs, ours) => Number.isFinite(theirs / ours) ? `${(theirs / ours).toFixed(theirs < ours ? 2 : 1)}×` : '';
const figures = ({cpu, wall, mb}) => [seconds(cpu), seconds(wall), whole(mb)];

/** How much more CPU (of a page: time) this row takes than the one of half the input. */
function growth(rows, row, side) {
  const half = rows.find(({what, name, nth}) => what === row.what && name === row.name && nth === row.nth - 1);
  if (half === undefined) return '';
  const key = Number.isNaN(row[side].cpu) ? 'wall' : 'cpu';
  return times(row[side][key], half[side][key]);
}

const HEAD = ['', 'MB', 'CPU s', 'wall s', 'peak MB', 'beside', 'CPU s', 'wall s', 'peak MB', 'CPU', 'wall', 'memory', 'input × 2'];
const cells = (rows, row) => {
  const {what, name, mb, ours, theirs} = row;
  const grown = ['ours', 'theirs'].map(side => growth(rows, row, side));
  return [what, size(mb), ...figures(ours), name, ...figures(theirs), ...['cpu', 'wall', 'mb'].map(key => times(theirs[key], ours[key])), grown[0] && grown.join(' / ')];
};

export function consoleTable(rows) {
  const lines = [HEAD, ...rows.map(row => cells(rows, row))];
  const widths = HEAD.map((_, column) => Math.max(...lines.map(line => line[column].length)));
  const isText = column => column === 0 || column === 5;
  return lines.map(line => line.map((cell, column) => isText(column) ? cell.padEnd(widths[column]) : cell.padStart(widths[column])).join('  ')).join('\n');
}

const BEGIN = '<!-- figures: written by scripts/bench.mjs -->';
const END = '<!-- end -->';

/** README with the rows of the largest inputs in the place of those that are there. */
export function intoReadme(readme, rows, machine) {
  const from = readme.indexOf(BEGIN);
  const to = readme.indexOf(END, from);
  if (from < 0 || to < 0) throw new Error(`README.md has no ${BEGIN} with an ${END}`);
  const figure = ({cpu, wall, mb}) => [Number.isNaN(cpu) ? '' : `${seconds(cpu)} s CPU`, `${seconds(wall)} s`, Number.isNaN(mb) ? '' : `${whole(mb)} MB`].filter(Boolean).join(', ');
  const line = row => {
    const {what, name, mb, ours, theirs} = row;
    const less = [[times(theirs.cpu, ours.cpu), 'CPU'], [times(theirs.wall, ours.wall), 'time'], [times(theirs.mb, ours.mb), 'memory']];
    const grown = ['ours', 'theirs'].map(side => growth(rows, row, side)).join(', ');
    return `| ${[what, `${size(mb)} MB`, figure(ours), name, figure(theirs), less.filter(([text]) => text !== '').map(words => words.join(' ')).join(', '), grown].join(' | ')} |`;
  };
  const table = ['| | input | oomscope | beside | | theirs ÷ ours | input doubled: ours, theirs |', '| --- | --- | --- | --- | --- | --- | --- |', ...rows.filter(({last}) => last).map(line)];
  return `${readme.slice(0, from)}${BEGIN}\nOn ${machine}:\n\n${table.join('\n')}\n${readme.slice(to)}`;
}
