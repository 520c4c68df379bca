/** The task fails if the text lacks what the user waits for. */
export function expectText(output: string, ...texts: readonly string[]): void {
  for (const text of texts)
    if (!output.includes(text)) throw new Error(`${JSON.stringify(text)} is missing in:\n${output.trim()}`);
}

export function expectEqual(what: string, actual: unknown, expected: unknown): void {
  const [is, should] = [JSON.stringify(actual), JSON.stringify(expected)];
  if (is !== should) throw new Error(`${what}: ${is} instead of ${should}`);
}
