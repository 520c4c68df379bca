const startedAt = performance.now();

export const secondsSoFar = () => (performance.now() - startedAt) / 1000;

/** For the person who watches: standard output has the verdict only. */
export const say = (line: string) => process.stderr.write(`${secondsSoFar().toFixed(1).padStart(6)} s  ${line}\n`);
