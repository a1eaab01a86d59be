// Where the tests' browsers are; run as a program, it installs those that are missing where apt can.
import {execFileSync} from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import {fileURLToPath} from 'node:url';

const BROWSERS = {
  chromium: {
    variable: 'CHROME',
    commands: ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable', 'chrome'],
    places: ['/Applications/Google Chrome.app/Contents/MacOS/Google Chrome', '/Applications/Chromium.app/Contents/MacOS/Chromium',
      'C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe'],
    packages: ['chromium'],
  },
  firefox: {
    variable: 'FIREFOX',
    commands: ['firefox-esr', 'firefox'],
    places: ['/Applications/Firefox.app/Contents/MacOS/firefox', 'C:\\Program Files\\Mozilla Firefox\\firefox.exe'],
    packages: ['firefox-esr'],
  },
};

/** The browser's program, or null. The variable CHROME or FIREFOX decides where it is set. */
export const findBrowser = name => {
  const {variable, commands, places} = BROWSERS[name];
  const set = process.env[variable];
  if (set) {
    if (!fs.existsSync(set)) throw new Error(`${variable}=${set}: there is no such file`);
    return set;
  }
  const onPath = (process.env.PATH ?? '').split(path.delimiter).flatMap(folder => commands.map(command => path.join(folder, command)));
  return [...onPath, ...places].find(file => fs.existsSync(file)) ?? null;
};

const works = (command, ...args) => {
  try {
    execFileSync(command, args, {stdio: 'ignore'});
    return true;
  } catch {
    return false;
  }
};

const installByApt = packages => {
  if (!works('apt-get', '--version')) return;
  const root = process.getuid() === 0;
  if (!root && !works('sudo', '-n', 'true')) return;
  const apt = (...args) =>
    execFileSync(root ? 'env' : 'sudo', [...(root ? [] : ['-n', 'env']), 'DEBIAN_FRONTEND=noninteractive', 'apt-get', '-qq', ...args], {stdio: ['ignore', 'ignore', 'inherit']});
  console.log(`== installing ${packages.join(', ')}`);
  apt('update');
  apt('install', '-y', '--no-install-recommends', ...packages);
};

const main = () => {
  const missing = () => Object.keys(BROWSERS).filter(name => findBrowser(name) === null);
  // Screenshots of the Chinese page need a font that has the characters.
  const fonts = works('fc-list', '--version') && execFileSync('fc-list', [':lang=zh']).length > 0 ? [] : ['fonts-noto-cjk'];
  if (missing().length > 0) installByApt([...missing().flatMap(name => BROWSERS[name].packages), ...fonts]);
  for (const name of missing()) {
    console.error(`oomscope: the tests need ${name}. Install it, or set ${BROWSERS[name].variable} to its program, and run this again.`);
    process.exitCode = 1;
  }
};

if (process.argv[1] === fileURLToPath(import.meta.url)) main();
