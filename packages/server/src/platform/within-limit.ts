/** Its message contains only the limit, so it may be public. */
export class NoAnswer extends Error {}

/** The work's result, or `NoAnswer` if it takes longer. The work itself goes on. */
export async function withinLimit<T>(limitMs: number, work: () => Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const overdue = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new NoAnswer(`no answer within ${limitMs} ms`)), limitMs).unref();
  });
  try {
    return await Promise.race([work(), overdue]);
  } finally {
    clearTimeout(timer);
  }
}
