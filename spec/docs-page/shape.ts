/** The places where a live answer has other fields or types than an example. null stands for any type, and a list for its first item. */
export function shapeDifferences(example: unknown, live: unknown, path = "body"): string[] {
  if (example === null || live === null) return [];
  if (Array.isArray(example) && Array.isArray(live)) {
    return example.length > 0 && live.length > 0 ? shapeDifferences(example[0], live[0], `${path}.0`) : [];
  }
  if (typeof example !== typeof live || Array.isArray(example) !== Array.isArray(live)) {
    return [`${path}: ${typeof example} in the example, ${typeof live} in the answer`];
  }
  if (typeof example !== "object") return [];
  const [expected, actual] = [example as Record<string, unknown>, live as Record<string, unknown>];
  return [...new Set([...Object.keys(expected), ...Object.keys(actual)])].flatMap((name) => {
    if (!(name in actual)) return [`${path}.${name}: only in the example`];
    if (!(name in expected)) return [`${path}.${name}: only in the answer`];
    return shapeDifferences(expected[name], actual[name], `${path}.${name}`);
  });
}
