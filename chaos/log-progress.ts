const startedAt = performance.now();

export const elapsedSeconds = () => (performance.now() - startedAt) / 1000;

/** Progress goes to standard error: standard output has only the verdict. */
export const logProgress = (line: string) =>
  process.stderr.write(`${elapsedSeconds().toFixed(1).padStart(6)} s  ${line}\n`);
