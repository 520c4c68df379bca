import { once } from "node:events";
import { type IncomingHttpHeaders, type IncomingMessage, type RequestOptions, request } from "node:http";
import { type RequestOptions as TlsOptions, request as tlsRequest } from "node:https";
import { text } from "node:stream/consumers";
import { ErrorBody } from "@perch/contract";
import { expect } from "vitest";

export interface RawAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: unknown;
}

interface RawRequest {
  readonly method?: string;
  readonly key?: string;
  readonly headers?: Readonly<Record<string, string | string[]>>;
  readonly body?: unknown;
  /** Loopback has many addresses: whoever asks from 127.0.0.2 is not 127.0.0.1. */
  readonly from?: string;
  readonly tls?: Pick<TlsOptions, "ca" | "cert" | "key">;
}

/** One request as it stands: what `fetch` would tidy up goes out as given. */
export async function ask(
  url: string,
  { method = "GET", key, headers = {}, body, from, tls }: RawRequest,
): Promise<RawAnswer> {
  const options: RequestOptions & TlsOptions = {
    method,
    agent: false,
    headers: {
      ...(key && { authorization: `Bearer ${key}` }),
      ...(body !== undefined && { "content-type": "application/json" }),
      ...headers,
    } as Record<string, string | string[]>,
    ...(from && { localAddress: from }),
    ...tls,
  };
  const sent = (url.startsWith("https:") ? tlsRequest : request)(url, options);
  sent.end(body === undefined ? undefined : JSON.stringify(body));
  const [answer] = (await once(sent, "response")) as [IncomingMessage];
  return { status: answer.statusCode ?? 0, headers: answer.headers, body: JSON.parse(await text(answer)) };
}

/** Refused in our envelope, and by us: not because something broke. */
export function expectRefusal({ status, body }: RawAnswer, expected: 401 | 403): void {
  expect(ErrorBody.parse(body)).toEqual(body);
  expect({ status, code: ErrorBody.parse(body).error.code }).toEqual({
    status: expected,
    code: expected === 401 ? "unauthorized" : "forbidden",
  });
}
