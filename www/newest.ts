// Questions that come faster than answers: one is on its way, the newest waits, those between are dropped.

export function newest<A, R>(ask: (question: A) => Promise<R>, take: (answer: R, question: A) => void, failed: (error: unknown) => void): (question: A) => void {
  let busy = false;
  let waiting: {question: A} | null = null;
  const run = async (question: A): Promise<void> => {
    busy = true;
    try {
      take(await ask(question), question);
    } catch (error) {
      failed(error);
    }
    busy = false;
    const next = waiting;
    waiting = null;
    if (next !== null) void run(next.question);
  };
  return question => {
    if (busy) waiting = {question};
    else void run(question);
  };
}
