// What runs in a page before anything of its own (`init` of the drivers), so that a test can reach its workers or slow what they read.

/** Counts the workers that live (`liveWorkers`), and keeps the engine's at hand (`engineWorker`). */
export const countWorkers = () => {
  const live = globalThis.liveWorkers = new Set();
  globalThis.Worker = class extends Worker {
    constructor(...args) {
      super(...args);
      live.add(this);
    }

    terminate() {
      live.delete(this);
      super.terminate();
    }

    postMessage(message, ...rest) {
      if (message?.type === 'main') globalThis.engineWorker = this;
      super.postMessage(message, ...rest);
    }
  };
};

/** Workers run this text first. The drivers send a function as its text, which must therefore hold all that it needs. */
const inWorkers = text => new Function(`globalThis.Blob = class extends Blob {
  constructor(parts, options) {
    super(options?.type === 'text/javascript' ? [${JSON.stringify(`{${text}}`)}, ...parts] : parts, options);
  }
};`);

/** Workers that get a piece of a stream only now and then: a slow disk. */
export const slowStreams = inWorkers(`
  const {read} = ReadableStreamBYOBReader.prototype;
  ReadableStreamBYOBReader.prototype.read = async function (...args) {
    await new Promise(resolve => setTimeout(resolve, 150));
    return read.apply(this, args);
  };`);

/** Workers whose files' streams give one piece and then nothing more. */
export const stallStreams = inWorkers(`
  const {read} = ReadableStreamBYOBReader.prototype;
  let reads = 0;
  ReadableStreamBYOBReader.prototype.read = function (...args) { return reads++ < 1 ? read.apply(this, args) : new Promise(() => {}); };`);
