// Which places of a script have run: V8's own block coverage, as one flag a character of the script.
import {Session} from 'node:inspector';

export class Coverage {
  #session = new Session();
  #seen = new Uint8Array(0);
  #url;

  /** `url`: of the one script that is watched. */
  constructor(url) {
    this.#url = url;
    this.#session.connect();
    this.#ask('Profiler.enable');
    this.#ask('Profiler.startPreciseCoverage', {callCount: true, detailed: true});
  }

  /** Notes what ran since it was last asked; how many characters of it had never run before. */
  take() {
    const script = this.#ask('Profiler.takePreciseCoverage').result.find(({url}) => url === this.#url);
    if (script === undefined) return 0;
    const ran = painted(script.functions);
    if (ran.length > this.#seen.length) this.#seen = Object.assign(new Uint8Array(ran.length), this.#seen);
    let fresh = 0;
    ran.forEach((run, at) => {
      if (run === 0 || this.#seen[at] === 1) return;
      this.#seen[at] = 1;
      fresh++;
    });
    return fresh;
  }

  /** What is known, to go back to. */
  get known() {
    return this.#seen.slice();
  }

  set known(seen) {
    this.#seen = seen;
  }

  /** Characters that have run. */
  get covered() {
    return this.#seen.reduce((sum, flag) => sum + flag, 0);
  }

  close() {
    this.#session.disconnect();
  }

  /** The session is of this thread: it answers before `post` returns. */
  #ask(method, parameters) {
    let answer;
    this.#session.post(method, parameters, (error, result) => {
      if (error) throw new Error(`${method}: ${error.message}`);
      answer = result;
    });
    return answer;
  }
}

/** Functions lie in each other, and ranges in functions: the inner one is right. */
function painted(functions) {
  const ranges = functions.flatMap(({ranges}) => ranges).sort((a, b) => a.startOffset - b.startOffset || b.endOffset - a.endOffset);
  const ran = new Uint8Array(Math.max(0, ...ranges.map(({endOffset}) => endOffset)));
  for (const {startOffset, endOffset, count} of ranges) ran.fill(count > 0 ? 1 : 0, startOffset, endOffset);
  return ran;
}
