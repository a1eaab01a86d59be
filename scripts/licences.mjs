// The licence texts of everything that is inside the page, as one text: crates that are compiled into the wasm and packages that are bundled into
// the scripts. What only builds the page (macros, tools) is not in it.
import {execFileSync} from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import {packagesIn} from '../www/build/bundle.mjs';

const ENTRIES = ['www/app.tsx', 'www/worker-plain.ts', 'www/worker-threads.ts'];
const TEXT = /^(licen[cs]e|copying|notice|unlicense)/i;

/** Crates that end up in the page: along normal dependencies, macros left out, which run in the compiler. */
const crates = () => {
  const {packages, resolve} = JSON.parse(execFileSync('cargo', ['metadata', '--locked', '--format-version', '1', '--filter-platform', 'wasm32-unknown-unknown',
    '--no-default-features', '--features', 'threads'], {encoding: 'utf8', maxBuffer: 2 ** 28}));
  const byId = new Map(packages.map(each => [each.id, each]));
  const nodes = new Map(resolve.nodes.map(node => [node.id, node]));
  const isMacro = id => byId.get(id).targets.some(({kind}) => kind.includes('proc-macro'));
  const inside = new Set();
  const add = id => {
    if (inside.has(id) || isMacro(id)) return;
    inside.add(id);
    for (const {pkg, dep_kinds} of nodes.get(id).deps) if (dep_kinds.some(({kind}) => kind === null)) add(pkg);
  };
  add(resolve.root);
  inside.delete(resolve.root);
  return [...inside].map(id => {
    const {name, version, license, manifest_path} = byId.get(id);
    return {name, version, licence: license, kind: 'crate', folder: path.dirname(manifest_path)};
  });
};

const modules = async () => {
  const folders = new Set((await Promise.all(ENTRIES.map(packagesIn))).flat());
  return [...folders].map(folder => {
    const {name, version, license} = JSON.parse(fs.readFileSync(path.join(folder, 'package.json'), 'utf8'));
    return {name, version, licence: license, kind: 'module', folder};
  });
};

const textsOf = folder => fs.readdirSync(folder).filter(name => TEXT.test(name)).sort()
  .map(name => fs.readFileSync(path.join(folder, name), 'utf8').replaceAll('\r\n', '\n').trim()).filter(text => text !== '');

/** What the standard library itself is built from on wasm32, all under its own licences; their files do not come with the compiler. */
const STANDARD_PARTS = ['cfg-if', 'dlmalloc', 'hashbrown', 'rustc-demangle'];

const standard = () => {
  const root = execFileSync('rustc', ['--print', 'sysroot'], {encoding: 'utf8'}).trim();
  const lock = fs.readFileSync(path.join(root, 'lib/rustlib/src/rust/library/Cargo.lock'), 'utf8');
  const version = name => new RegExp(`^name = "${name}"\nversion = "(.*)"$`, 'm').exec(lock)?.[1];
  const rust = /\d\S*/.exec(execFileSync('rustc', ['--version'], {encoding: 'utf8'}))[0];
  const parts = STANDARD_PARTS.filter(version).map(name => ({name, version: version(name), kind: 'crate'}));
  return [{name: "Rust's standard library", version: rust, kind: 'standard'}, ...parts].map(part => ({...part, licence: `MIT OR ${OWN}`, folder: null}));
};

/** What a package's own files lack is in the page's own licence, or nowhere. */
const OWN = 'Apache-2.0';

const titleOf = ({name, version}) => `${name} ${version}`;

/** Everything that is inside the page, by name. */
export const inside = async () => {
  const ours = [...crates(), ...await modules()];
  const titles = new Set(ours.map(titleOf));
  return [...standard().filter(part => !titles.has(titleOf(part))), ...ours].sort((a, b) => titleOf(a) < titleOf(b) ? -1 : 1);
};

export const licences = async () => {
  const all = (await inside()).map(part => ({name: titleOf(part), licence: part.licence, texts: part.folder === null ? [] : textsOf(part.folder)}));
  const users = new Map();
  for (const {name, licence, texts} of all) {
    if (texts.length === 0 && !licence.includes(OWN)) throw new Error(`${name} (${licence}) has no licence text`);
    for (const text of texts) users.set(text, [...users.get(text) ?? [], name]);
  }
  const list = all.map(({name, licence, texts}) => `${name}: ${licence}${texts.length === 0 ? `; its text as ${OWN} is that of LICENSE` : ''}`);
  const rule = '-'.repeat(80);
  const texts = [...users].map(([text, names]) => `${rule}\n${names.join(', ')}\n${rule}\n\n${text}\n`);
  return `Inside the page, with their licences:\n\n${list.join('\n')}\n\n${texts.join('\n')}`;
};
