import { once } from "node:events";
import {
  type IncomingHttpHeaders,
  type IncomingMessage,
  request as plainRequest,
  type RequestOptions,
} from "node:http";
import { type RequestOptions as TlsOptions, request as tlsRequest } from "node:https";
import { text } from "node:stream/consumers";

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** The body as JSON; undefined if it is not JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: each check tests the shape of what it reads.
  readonly body: any;
}

export interface RequestParts {
  readonly body?: unknown;
  /** Sent as it is, instead of `body`. */
  readonly rawBody?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** The client's address on loopback, such as 127.0.0.2. */
  readonly from?: string;
  readonly tls?: Pick<TlsOptions, "ca" | "cert" | "key">;
}

function parseJson(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

/** Plain HTTP without a client library: the walk tests what is on the wire. */
export async function sendRequest(method: string, url: string, parts: RequestParts = {}): Promise<Answer> {
  const { body, rawBody = body === undefined ? undefined : JSON.stringify(body), headers = {}, from, tls } = parts;
  const options: RequestOptions & TlsOptions = {
    method,
    agent: false,
    headers: { ...(rawBody !== undefined && { "content-type": "application/json" }), ...headers },
    ...(from && { localAddress: from }),
    ...tls,
  };
  const sent = (url.startsWith("https:") ? tlsRequest : plainRequest)(url, options);
  sent.end(rawBody);
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  const received = await text(response);
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    text: received,
    body: parseJson(received),
  };
}
