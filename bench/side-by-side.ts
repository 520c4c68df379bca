import { type Figures, roundTo } from "./comparison.ts";
import { percentile } from "./steady-load.ts";

const warmUpRounds = 30;
const rounds = 300;

/** How much longer something may take with 10,000 times the rows. */
export const maxRatio = 1.5;

/** Small and large. */
export type Subjects<T> = readonly [T, T];

/** Calls `work`, which returns milliseconds, for small and large in turn, so that other load on the machine affects both. */
export async function measureSideBySide<T extends { readonly size: number }>(
  name: string,
  subjects: Subjects<T>,
  work: (subject: T, round: number) => Promise<number>,
): Promise<Figures> {
  const times: [number[], number[]] = [[], []];
  for (let round = 0; round < warmUpRounds + rounds; round++) {
    for (const side of round % 2 === 0 ? ([0, 1] as const) : ([1, 0] as const)) {
      const ms = await work(subjects[side], round);
      if (round >= warmUpRounds) times[side].push(ms);
    }
  }
  const at = (part: number) => times.map((each) => percentile(each, part)) as [number, number];
  const [p50, p95] = [at(0.5), at(0.95)];
  const show = (side: 0 | 1) => `p50 ${p50[side].toFixed(2)} ms, p95 ${p95[side].toFixed(2)} ms`;
  console.error(`${name}: ${show(0)} with ${subjects[0].size} rows; ${show(1)} with ${subjects[1].size}`);
  return {
    [`${name}_p50_ms`]: roundTo(2, p50[1]),
    [`${name}_p95_ms`]: roundTo(2, p95[1]),
    [`${name}_p50_ratio`]: roundTo(2, p50[1] / p50[0]),
    [`${name}_p95_ratio`]: roundTo(2, p95[1] / p95[0]),
  };
}

/** Reads an address of the API with this key. */
export async function timedGet<T>(url: string, key: string): Promise<{ readonly ms: number; readonly body: T }> {
  const start = performance.now();
  const response = await fetch(url, { headers: { authorization: `Bearer ${key}` } });
  const body = (await response.json()) as T;
  if (!response.ok) throw new Error(`${url}: ${JSON.stringify(body)}`);
  return { ms: performance.now() - start, body };
}
