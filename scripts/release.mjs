// Packs dist/ for people who host the page: release/oomscope-page-VERSION.tar.gz with index.html, sw.js, our licence, those of all that is inside and a list of it;
// and its hash. The same dist gives the same bytes. Called by `make release`.
import crypto from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import {fileURLToPath} from 'node:url';
import zlib from 'node:zlib';
import {licences} from './licences.mjs';
import {sbom} from './sbom.mjs';

/** Every file's date: 1980-01-01, the first that every archive can hold. */
const DATE_S = 315_532_800;
const BLOCK = 512;

/** A file of a tar archive in the ustar form: a block of fields, the bytes, zeros to the block's end. */
const entry = (name, bytes) => {
  const head = Buffer.alloc(BLOCK);
  const put = (at, text) => head.write(text, at, 'latin1');
  const octal = (at, digits, value) => put(at, value.toString(8).padStart(digits, '0'));
  if (Buffer.byteLength(name) > 100) throw new Error(`${name} is too long a name`);
  put(0, name);
  octal(100, 7, 0o644);
  octal(108, 7, 0);
  octal(116, 7, 0);
  octal(124, 11, bytes.length);
  octal(136, 11, DATE_S);
  put(148, '        ');
  put(156, '0');
  put(257, 'ustar\x0000');
  octal(148, 6, head.reduce((sum, byte) => sum + byte, 0));
  head[154] = 0;
  return Buffer.concat([head, bytes, Buffer.alloc((BLOCK - bytes.length % BLOCK) % BLOCK)]);
};

/** An archive of files by name; the order of names is theirs. */
export const pack = files => {
  const names = Object.keys(files).sort();
  return zlib.gzipSync(Buffer.concat([...names.map(name => entry(name, files[name])), Buffer.alloc(2 * BLOCK)]), {level: 9});
};

export const release = async (into, dist = 'dist') => {
  const version = /^version = "(.*)"$/m.exec(fs.readFileSync('Cargo.toml', 'utf8'))[1];
  const top = `oomscope-page-${version}`;
  const archive = pack({
    [`${top}/index.html`]: fs.readFileSync(path.join(dist, 'index.html')),
    [`${top}/sw.js`]: fs.readFileSync(path.join(dist, 'sw.js')),
    [`${top}/LICENSE`]: fs.readFileSync('LICENSE'),
    [`${top}/LICENSES-inside.txt`]: Buffer.from(await licences()),
    [`${top}/sbom.cdx.json`]: Buffer.from(await sbom()),
  });
  fs.mkdirSync(into, {recursive: true});
  const file = path.join(into, `${top}.tar.gz`);
  fs.writeFileSync(file, archive);
  fs.writeFileSync(path.join(into, 'SHA256SUMS'), `${crypto.createHash('sha256').update(archive).digest('hex')}  ${path.basename(file)}\n`);
  return file;
};

if (process.argv[1] === fileURLToPath(import.meta.url)) console.log(await release('release'));
