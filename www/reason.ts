// What an error says. One that crossed from a worker as text would say twice that it is one.

/** Its message, for a sentence that goes on; before it its kind, where that tells more than that it is an error. */
export const reasonOf = (error: unknown): string => String(error).replace(/^(?:Error: )+|\.$/g, '');
