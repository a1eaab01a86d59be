// Bundles by esbuild: classic scripts, since file:// allows no modules.
import {build} from 'esbuild';
import path from 'node:path';

// wasm-bindgen-rayon's own worker helper needs import.meta.url and module workers: www/threads.ts takes its place.
const ownThreads = {
  name: 'own-threads',
  setup: b => b.onResolve({filter: /workerHelpers(\.no-bundler)?\.js$/}, () => ({path: path.resolve('www/threads.ts')})),
};

const run = async options => (await build({bundle: true, write: false, minify: true, target: 'es2022', ...options})).outputFiles[0].text;

// The glue's import.meta.url serves only its default address of the wasm, which is never asked for.
/** `options`: esbuild's, where a test wants another form. */
export const bundleScript = async (entry, options = {}) => {
  const script = await run({
    entryPoints: [entry], format: 'iife', charset: 'utf8', jsx: 'automatic', jsxImportSource: 'preact',
    define: {'import.meta.url': '""'}, plugins: [ownThreads], ...options,
  });
  return script.trimEnd().replace(/<(?=\/script|!--)/gi, '\\x3C');
};

export const bundleStyle = async entry => {
  const style = (await run({entryPoints: [entry], charset: 'utf8'})).trimEnd();
  if (/<\/style/i.test(style)) throw new Error(`${entry} must not hold </style`);
  return style;
};
