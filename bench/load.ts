import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { type HttpConnection, openHttpConnection } from "./http-connection.ts";

/** One URL. Each connection sends one of these headers. */
export interface LoadTarget {
  readonly url: string;
  readonly headers: readonly Readonly<Record<string, string>>[];
}

export interface PostTarget extends LoadTarget {
  /** A function makes the body of each connection. */
  readonly body: string | (() => string);
  /** A header that gets a new value for every request. */
  readonly uniqueHeader?: "idempotency-key" | "x-correlation-id";
}

export type Target = LoadTarget | PostTarget;

export const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;

const bodyOf = (target: Target): string | undefined => {
  if (!("body" in target)) return undefined;
  return typeof target.body === "string" ? target.body : target.body();
};

function headersOf(target: Target, i: number): Record<string, string> {
  const own = target.headers[i % target.headers.length] ?? {};
  return "body" in target ? { ...own, "content-type": "application/json" } : own;
}

const uniqueHeaderOf = (target: Target): Record<string, string> =>
  "body" in target && target.uniqueHeader ? { [target.uniqueHeader]: randomUUID() } : {};

/** The requests of one connection as bytes, prepared as far as they are equal. */
function requestWriter(target: Target, connection: number): () => string {
  const { host, pathname, search } = new URL(target.url);
  const body = bodyOf(target);
  const headers = Object.entries({ host, ...headersOf(target, connection) }).map(
    ([name, value]) => `${name}: ${value}`,
  );
  if (body !== undefined) headers.push(`content-length: ${Buffer.byteLength(body)}`);
  const start = [`${body === undefined ? "GET" : "POST"} ${pathname}${search} HTTP/1.1`, ...headers].join("\r\n");
  const end = `\r\n\r\n${body ?? ""}`;
  const uniqueHeader = "body" in target ? target.uniqueHeader : undefined;
  return uniqueHeader ? () => `${start}\r\n${uniqueHeader}: ${randomUUID()}${end}` : () => start + end;
}

export interface Load {
  /** Responses since the start. */
  readonly completed: () => number;
  /** Waits for the responses under way. Throws if any response was not 2xx. */
  readonly stop: () => Promise<void>;
}

/** Runs this many requests at any time, one on each connection. The connections start one by one within `spreadMs`. */
export async function startLoad(target: Target, connections: number, spreadMs: number): Promise<Load> {
  const url = new URL(target.url);
  const open = await Promise.all(Array.from({ length: connections }, () => openHttpConnection(url)));
  const refusals = new Map<number, number>();
  let completed = 0;
  let isStopped = false;
  const repeat = async (connection: HttpConnection, i: number): Promise<void> => {
    const writeRequest = requestWriter(target, i);
    if (spreadMs > 0) await sleep((i / connections) * spreadMs);
    while (!isStopped) {
      const status = await connection.send(writeRequest());
      if (status < 200 || status > 299) refusals.set(status, (refusals.get(status) ?? 0) + 1);
      completed++;
    }
  };
  const running = Promise.all(open.map(repeat));
  // `stop` reports it.
  running.catch(() => undefined);
  return {
    completed: () => completed,
    stop: async () => {
      isStopped = true;
      await running.finally(() => {
        for (const connection of open) connection.close();
      });
      if (refusals.size > 0) throw new Error(`${target.url} answered ${JSON.stringify(Object.fromEntries(refusals))}`);
    },
  };
}

/** A process that paused costs up to twice the CPU for a second or two, so nothing is counted before this. */
export const settleMs = 1000;

/** Consecutive responses on one connection, each with its duration in milliseconds. */
async function* sendRequests(target: Target, count: number) {
  for (let i = 0; i < count; i++) {
    const body = bodyOf(target);
    const start = performance.now();
    const response = await fetch(target.url, {
      ...(body !== undefined && { method: "POST", body }),
      headers: { ...headersOf(target, i), ...uniqueHeaderOf(target) },
    });
    const text = await response.text();
    const ms = performance.now() - start;
    if (!response.ok) throw new Error(`${target.url}: ${response.status} ${text}`);
    yield { ms, text };
  }
}

/** Milliseconds of one request after another, on one connection. */
export async function latencies(target: Target, requests: number): Promise<number[]> {
  const times: number[] = [];
  const countedFrom = performance.now() + settleMs;
  for await (const { ms } of sendRequests(target, Number.POSITIVE_INFINITY)) {
    if (performance.now() > countedFrom) times.push(ms);
    if (times.length === requests) break;
  }
  return times;
}

/** Sends one request with each header, one by one, and checks that every answer contains this text. */
export async function checkAnswers(target: Target, expected: string): Promise<void> {
  for await (const { text } of sendRequests(target, target.headers.length))
    if (!text.includes(expected)) throw new Error(`${target.url} answers without ${expected}: ${text}`);
}
