import { randomUUID } from "node:crypto";
import autocannon from "autocannon";

/** One URL, requested with each of these headers in turn. */
export interface LoadTarget {
  readonly url: string;
  readonly headers: readonly Record<string, string>[];
}

export interface PostTarget extends LoadTarget {
  readonly body: string;
  /** A header that gets a new value for every request. */
  readonly uniqueHeader?: string;
}

export const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;

/** Requests per second at this concurrency. Throws if any response is not 2xx. */
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

/** POST requests per second at this concurrency, each with a new value of `uniqueHeader`. */
export async function postThroughput(target: PostTarget, connections: number, seconds: number): Promise<number> {
  const { url, headers, body } = target;
  const requests = headers.map((each) => ({
    method: "POST" as const,
    body,
    setupRequest: (request: autocannon.Request) => ({
      ...request,
      headers: {
        ...each,
        "content-type": "application/json",
        ...(target.uniqueHeader && { [target.uniqueHeader]: randomUUID() }),
      },
    }),
  }));
  const result = await autocannon({ url, connections, duration: seconds, requests, timeout: 60 });
  if (result.non2xx > 0 || result.errors > 0)
    throw new Error(`${url}: ${result.non2xx} refusals, ${result.errors} errors`);
  return result.requests.average;
}

function headersFor(target: LoadTarget | PostTarget, i: number): Record<string, string> {
  const own = target.headers[i % target.headers.length] ?? {};
  if (!("body" in target)) return own;
  return {
    ...own,
    "content-type": "application/json",
    ...(target.uniqueHeader && { [target.uniqueHeader]: randomUUID() }),
  };
}

/** Milliseconds of one request after another, on one connection. */
export async function latencies(target: LoadTarget | PostTarget, requests: number): Promise<number[]> {
  const { url } = target;
  const body = "body" in target ? { method: "POST", body: target.body } : {};
  const times: number[] = [];
  for (let i = 0; i < requests; i++) {
    const start = performance.now();
    const response = await fetch(url, { ...body, headers: headersFor(target, i) });
    await response.arrayBuffer();
    if (!response.ok) throw new Error(`${url}: ${response.status}`);
    times.push(performance.now() - start);
  }
  return times;
}
