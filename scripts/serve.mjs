// A static server on 127.0.0.1 for dist/, with the headers that isolate the page so that it may use threads. The browser tests
// use it too. As a program: `node scripts/serve.mjs`, PORT=8080 or the next free one.
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import {fileURLToPath} from 'node:url';

const ISOLATION = {'Cross-Origin-Opener-Policy': 'same-origin', 'Cross-Origin-Embedder-Policy': 'require-corp'};
const TYPES = {'.html': 'text/html; charset=utf-8', '.js': 'text/javascript; charset=utf-8'};
const dist = fileURLToPath(new URL('../dist', import.meta.url));

/** Serves dist/ and returns its address, the list of what was asked for, and a way to stop. Rejects where the port is taken. */
export const serve = ({port = 0, isolated = true} = {}) => new Promise((resolve, reject) => {
  const asked = [];
  const server = http.createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    const {pathname} = new URL(request.url, 'http://localhost');
    const file = path.join(dist, pathname === '/' ? 'index.html' : path.normalize(pathname));
    fs.readFile(file, (error, bytes) => {
      if (error) return response.writeHead(404).end();
      response.writeHead(200, {'Content-Type': TYPES[path.extname(file)] ?? 'application/octet-stream', 'Cache-Control': 'no-store', ...(isolated ? ISOLATION : {})});
      response.end(bytes);
    });
  });
  server.once('error', reject);
  server.listen(port, '127.0.0.1', () => {
    const close = () => new Promise(done => {
      server.close(done);
      server.closeAllConnections();
    });
    resolve({address: `http://127.0.0.1:${server.address().port}/`, asked, close});
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
