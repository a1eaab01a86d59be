// Firefox by its own remote protocol, only for what WebDriver BiDi cannot do: pick a folder. Code that runs with the system's rights
// hands over what the picker would have. (A drop cannot be made this way: the page may not see what the system dropped.)
import {spawn} from 'node:child_process';
import fs from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import {setTimeout as pause} from 'node:timers/promises';
import {findBrowser} from '../../scripts/browsers.mjs';

const freePort = () => new Promise(resolve => {
  const server = net.createServer().listen(0, '127.0.0.1', () => {
    const {port} = server.address();
    server.close(() => resolve(port));
  });
});

const connect = async port => {
  for (let attempt = 0; ; attempt++) {
    try {
      return await new Promise((resolve, reject) => {
        const socket = net.connect(port, '127.0.0.1', () => resolve(socket));
        socket.once('error', reject);
      });
    } catch (error) {
      if (attempt === 150) throw error;
      await pause(100);
    }
  }
};

/** Packets are `length:JSON`; a command is [0, id, name, parameters], its answer [1, id, error, result]. */
const client = socket => {
  const waiting = new Map();
  let held = Buffer.alloc(0);
  let id = 0;
  socket.on('data', bytes => {
    held = Buffer.concat([held, bytes]);
    for (;;) {
      const colon = held.indexOf(':');
      const end = colon + 1 + Number(held.subarray(0, Math.max(colon, 0)));
      if (colon < 0 || held.length < end) return;
      const packet = JSON.parse(held.subarray(colon + 1, end));
      held = held.subarray(end);
      if (!Array.isArray(packet)) continue; // the greeting
      const [, answered, error, result] = packet;
      const {resolve, reject} = waiting.get(answered);
      waiting.delete(answered);
      if (error) reject(new Error(`${error.error}: ${error.message}`));
      else resolve(result);
    }
  });
  return (name, parameters = {}) => new Promise((resolve, reject) => {
    id += 1;
    waiting.set(id, {resolve, reject});
    const text = JSON.stringify([0, id, name, parameters]);
    socket.write(`${Buffer.byteLength(text)}:${text}`);
  });
};

export const launch = async () => {
  const profile = fs.mkdtempSync(path.join(os.tmpdir(), 'oomscope-firefox-'));
  const port = await freePort();
  // Firefox ends a page's process that asks for a folder no picker gave; the second preference leaves that to the tests.
  const preferences = {'marionette.port': port, 'dom.filesystem.pathcheck.disabled': true, 'datareporting.policy.dataSubmissionEnabled': false};
  fs.writeFileSync(path.join(profile, 'user.js'), Object.entries(preferences).map(([key, value]) => `user_pref(${JSON.stringify(key)}, ${JSON.stringify(value)});\n`).join(''));
  const firefox = spawn(findBrowser('firefox'), ['-headless', '-marionette', '-profile', profile, '-no-remote'], {stdio: 'ignore'});
  const socket = await connect(port);
  const send = client(socket);
  await send('WebDriver:NewSession', {});
  const execute = (script, args, sandbox) => send('WebDriver:ExecuteScript', {script, args, sandbox}).then(result => result.value);
  const run = (script, ...args) => execute(script, args, 'system');
  /** Until the script's value is true. A script may be refused while the page is being loaded. */
  const waitFor = async (script, ...args) => {
    for (let attempt = 0; attempt < 300; attempt++) {
      const value = await run(script, ...args).catch(() => null);
      if (value) return value;
      await pause(100);
    }
    throw new Error(`in vain: ${script}`);
  };
  return {
    waitFor,
    open: async url => {
      await send('WebDriver:Navigate', {url});
      await waitFor('return document.readyState === "complete" && location.href === arguments[0]', url);
    },
    /** The frame is meant from now on. */
    enter: async selector => {
      const frame = await send('WebDriver:FindElement', {using: 'css selector', value: selector});
      await send('WebDriver:SwitchToFrame', {element: Object.values(frame.value ?? frame)[0]});
    },
    /** The text that a click on an element of the page saves; taken with the page's own rights. */
    exported: async selector => {
      const script = `const [selector] = arguments;
        const make = URL.createObjectURL;
        return new Promise(resolve => {
          URL.createObjectURL = blob => {
            if (blob.type !== 'text/javascript') blob.text().then(resolve);
            return make.call(URL, blob);
          };
          document.querySelector(selector).click();
        });`;
      return execute(script, [selector], null);
    },
    pickFolder: (selector, folder) => run('document.querySelector(arguments[0]).mozSetDndFilesAndDirectories([new window.Directory(arguments[1])])', selector, folder),
    close: async () => {
      const gone = new Promise(resolve => firefox.once('exit', resolve));
      socket.destroy();
      firefox.kill();
      await gone;
      fs.rmSync(profile, {recursive: true, force: true, maxRetries: 5});
    },
  };
};
