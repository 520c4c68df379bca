/** For steps a person would wonder about: one line when it begins, one with the seconds when it ends. */
export async function withProgress<T>(title: string, work: () => Promise<T>): Promise<T> {
  const startedAt = performance.now();
  console.log(`${title} ...`);
  const result = await work();
  console.log(`${title}: done in ${((performance.now() - startedAt) / 1000).toFixed(1)} s`);
  return result;
}
