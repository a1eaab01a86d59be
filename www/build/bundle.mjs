// Bundles by esbuild: classic scripts, since file:// allows no modules.
import {build} from 'esbuild';
import path from 'node:path';

// wasm-bindgen-rayon's own worker helper needs import.meta.url and module workers: www/threads.ts takes its place.
const ownThreads = {
  name: 'own-threads',
  setup: b => b.onResolve({filter: /workerHelpers(\.no-bundler)?\.js$/}, () => ({path: path.resolve('www/threads.ts')})),
};

const run = options => build({bundle: true, write: false, minify: true, target: 'es2022', ...options});
const textOf = ({outputFiles: [file]}) => file.text.trimEnd();

// The glue's import.meta.url serves only its default address of the wasm, which is never asked for.
const scriptOf = entry => ({
  entryPoints: [entry], format: 'iife', charset: 'utf8', jsx: 'automatic', jsxImportSource: 'preact', define: {'import.meta.url': '""'}, plugins: [ownThreads],
});

/** `options`: esbuild's, where a test wants another form. */
export const bundleScript = async (entry, options = {}) => textOf(await run({...scriptOf(entry), ...options})).replace(/<(?=\/script|!--)/gi, '\\x3C');

/** The folders of the packages that a script holds parts of. */
export const packagesIn = async entry => {
  const {metafile} = await run({...scriptOf(entry), metafile: true});
  const folders = Object.keys(metafile.inputs).map(file => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0]);
  return [...new Set(folders.filter(folder => folder !== undefined))];
};

export const bundleStyle = async entry => {
  const style = textOf(await run({entryPoints: [entry], charset: 'utf8'}));
  if (/<\/style/i.test(style)) throw new Error(`${entry} must not hold </style`);
  return style;
};
