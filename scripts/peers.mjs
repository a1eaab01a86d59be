// Programs that the project is held beside, each in a Python environment of its own, installed once.
import {spawnSync} from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

const cache = () => path.join(process.env.XDG_CACHE_HOME ?? path.join(os.homedir(), '.cache'), 'oomscope');

/** For each: where it lies, what pip installs, each list in one call, and what must then be importable. */
const PEERS = {
  // All that it names as its own needs would be a web server and Ray besides: only what its parser imports.
  'RL-Insight 0.3.0': {folder: () => path.join(cache(), 'rl-insight-0.3.0'), lists: [['--no-deps', 'rl-insight==0.3.0'], ['loguru', 'ijson', 'pandas', 'omegaconf', 'pyyaml']], module: 'recipe.parser'},
  // Hundreds of megabytes: with the build, where `make clean` finds them.
  'XProf 2.24.2': {folder: () => path.resolve('target/peers/xprof-2.24.2'), lists: [['xprof==2.24.2']], module: 'xprof.convert'},
};

/** Python with a peer, else the reason why not. */
export function peer(name) {
  const {folder: place, lists, module} = PEERS[name];
  const folder = place();
  const python = path.join(folder, 'bin/python');
  const works = () => spawnSync(python, ['-c', `import ${module}`]).status === 0;
  if (works()) return {python};
  fs.rmSync(folder, {recursive: true, force: true});
  const pip = list => [python, ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '--retries', '1', '--timeout', '10', ...list]];
  for (const [command, args] of [['python3', ['-m', 'venv', folder]], ...lists.map(pip)]) {
    const {status, error, stderr} = spawnSync(command, args, {encoding: 'utf8', timeout: 300_000});
    if (status !== 0) return {skip: `${name} cannot be installed: ${(error?.message ?? stderr).trim().split('\n').at(-1)}`};
  }
  return works() ? {python} : {skip: `${name} was installed and cannot be imported`};
}
