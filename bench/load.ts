import autocannon from "autocannon";

/** One address, asked with each of these headers in turn. */
export interface LoadTarget {
  readonly url: string;
  readonly headers: readonly Record<string, string>[];
}

export const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;

/** Requests a second at this concurrency. Any answer but 2xx voids the measurement. */
export async function throughput({ url, headers }: LoadTarget, connections: number, seconds: number): Promise<number> {
  const result = await autocannon({
    url,
    connections,
    duration: seconds,
    requests: headers.map((each) => ({ method: "GET", headers: each })),
  });
  if (result.non2xx > 0 || result.errors > 0)
    throw new Error(`${url}: ${result.non2xx} refusals, ${result.errors} errors`);
  return result.requests.average;
}

/** Milliseconds of one request after another, on one connection. */
export async function latencies({ url, headers }: LoadTarget, requests: number): Promise<number[]> {
  const times: number[] = [];
  for (let i = 0; i < requests; i++) {
    const start = performance.now();
    const response = await fetch(url, { headers: headers[i % headers.length] ?? {} });
    await response.arrayBuffer();
    if (!response.ok) throw new Error(`${url}: ${response.status}`);
    times.push(performance.now() - start);
  }
  return times;
}
