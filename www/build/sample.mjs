// A sample as one blob: u32 LE length of the header, header as JSON [{path, size}], then the files' bytes in that order.
import fs from 'node:fs';
import path from 'node:path';

// The README tells people where the capture comes from, truth.json tells tests what must come out: neither belongs to the capture.
const NOT_CAPTURE = new Set(['README.md', 'truth.json']);

const filesBelow = folder =>
  fs.readdirSync(folder, {withFileTypes: true}).flatMap(entry => {
    const file = path.join(folder, entry.name);
    return entry.isDirectory() ? filesBelow(file) : [file];
  });

export const packSample = folder => {
  if (!fs.existsSync(folder)) throw new Error(`the sample ${folder} is missing`);
  return packFiles(path.dirname(folder), filesBelow(folder).filter(file => !NOT_CAPTURE.has(path.basename(file))).sort());
};

/** Files by their paths below `base`. */
export const packFiles = (base, list) => {
  const files = list.map(file => ({path: path.relative(base, file).split(path.sep).join('/'), bytes: fs.readFileSync(file)}));
  const header = Buffer.from(JSON.stringify(files.map(({path, bytes}) => ({path, size: bytes.length}))));
  const length = Buffer.alloc(4);
  length.writeUInt32LE(header.length);
  return Buffer.concat([length, header, ...files.map(file => file.bytes)]);
};
