import { once } from "node:events";
import { type IncomingHttpHeaders, type IncomingMessage, type RequestOptions, request } from "node:http";
import { type RequestOptions as TlsOptions, request as tlsRequest } from "node:https";
import { text } from "node:stream/consumers";
import { ErrorBody } from "@perch/contract";
import { expect } from "vitest";

export interface RawResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: unknown;
}

interface RawRequest {
  readonly method?: string;
  readonly key?: string;
  readonly headers?: Readonly<Record<string, string | string[]>>;
  readonly body?: unknown;
  /** The client's address on loopback, such as 127.0.0.2. */
  readonly from?: string;
  readonly tls?: Pick<TlsOptions, "ca" | "cert" | "key">;
}

/** Sends a request exactly as given, without the normalisation that `fetch` does. */
export async function sendRawRequest(
  url: string,
  { method = "GET", key, headers = {}, body, from, tls }: RawRequest,
): Promise<RawResponse> {
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
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  return { status: response.statusCode ?? 0, headers: response.headers, body: JSON.parse(await text(response)) };
}

/** Expects a 401 or 403 with the standard error body. */
export function expectRefusal({ status, body }: RawResponse, expected: 401 | 403): void {
  expect(ErrorBody.parse(body)).toEqual(body);
  expect({ status, code: ErrorBody.parse(body).error.code }).toEqual({
    status: expected,
    code: expected === 401 ? "unauthorized" : "forbidden",
  });
}
