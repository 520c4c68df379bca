/** Its message tells nothing but the limit, so it may be public. */
export class NoAnswer extends Error {}

/** The work's result, or `NoAnswer` if it takes longer. The work itself goes on. */
export const withinLimit = <T>(limitMs: number, work: () => Promise<T>): Promise<T> =>
  Promise.race([
    work(),
    new Promise<never>((_, reject) =>
      setTimeout(() => reject(new NoAnswer(`no answer within ${limitMs} ms`)), limitMs).unref(),
    ),
  ]);
