// A static server on 127.0.0.1 for dist/, with the headers that isolate the page so that it may use threads; without sw.js, which would keep
// the page of yesterday while one works on it. The browser tests use it too, as many kinds of hosts.
// As a program: `node scripts/serve.mjs`, PORT=8080 or the next free one.
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import {fileURLToPath} from 'node:url';

const ISOLATION = {'Cross-Origin-Opener-Policy': 'same-origin', 'Cross-Origin-Embedder-Policy': 'require-corp', 'Cross-Origin-Resource-Policy': 'cross-origin'};
const TYPES = {'.html': 'text/html; charset=utf-8', '.js': 'text/javascript; charset=utf-8'};
const dist = fileURLToPath(new URL('../dist', import.meta.url));

/**
 * Serves `root` below the path `base`, and returns its address, the list of what was asked for, and a way to stop. Rejects where the port is
 * taken. `worker`: with sw.js, or what to wait for before it is given. `pages`: further ones, their markup by their path.
 */
export const serve = ({port = 0, isolated = true, worker = false, root = dist, base = '/', pages = {}} = {}) => new Promise((resolve, reject) => {
  const asked = [];
  const server = http.createServer(async (request, response) => {
    asked.push(`${request.method} ${request.url}`);
    const {pathname} = new URL(request.url, 'http://localhost');
    const answer = (type, body) => {
      response.writeHead(200, {'Content-Type': type, 'Cache-Control': 'no-store', ...(isolated ? ISOLATION : {})});
      response.end(body);
    };
    if (Object.hasOwn(pages, pathname)) return answer(TYPES['.html'], pages[pathname]);
    const below = path.normalize(pathname.slice(base.length)) || '.';
    if (!pathname.startsWith(base) || (below === 'sw.js' && !worker)) return response.writeHead(404).end();
    if (below === 'sw.js') await worker;
    const file = path.join(root, below === '.' ? 'index.html' : below);
    fs.readFile(file, (error, bytes) => {
      if (error) return response.writeHead(404).end();
      answer(TYPES[path.extname(file)] ?? 'application/octet-stream', bytes);
    });
  });
  server.once('error', reject);
  server.listen(port, '127.0.0.1', () => {
    const close = () => new Promise(done => {
      server.close(done);
      server.closeAllConnections();
    });
    resolve({address: `http://127.0.0.1:${server.address().port}${base}`, asked, close});
  });
});

const main = async () => {
  for (let port = Number(process.env.PORT ?? 8080); ; port++) {
    try {
      const {address} = await serve({port});
      console.log(`oomscope is at ${address} (Ctrl-C stops it)`);
      return;
    } catch (error) {
      if (error.code !== 'EADDRINUSE' || process.env.PORT) throw error;
    }
  }
};

if (process.argv[1] === fileURLToPath(import.meta.url)) await main();
