import {
  ErrorBody,
  type ErrorCode,
  errorStatus,
  type Operation,
  type OperationKey,
  type Operations,
  operations,
  type RequestOf,
  type ResponseOf,
  refusalCodes,
  routeOf,
} from "@perch/contract";
import { expect } from "vitest";

interface Failure {
  readonly status: 400 | 401 | 403 | 404 | 409 | 412 | 413 | 422 | 429 | 500 | 503 | 504;
  readonly headers: Headers;
  readonly body: ErrorBody;
}

interface Success<K extends OperationKey> {
  readonly status: Operations[K]["status"];
  readonly headers: Headers;
  readonly body: ResponseOf<Operations[K]>;
}

export type Answer<K extends OperationKey> = Success<K> | Failure;

interface RequestParts {
  readonly params?: Record<string, string>;
  readonly query?: Record<string, unknown>;
  readonly body?: unknown;
}

export function buildRequest(
  key: OperationKey,
  { params = {}, query = {}, body }: RequestParts,
): { path: string; init: RequestInit } {
  const { method, path } = routeOf(key);
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name] ?? `no-${name}`));
  const search = new URLSearchParams(
    Object.entries(query).map(([name, value]): [string, string] => [name, String(value)]),
  );
  return {
    path: search.size > 0 ? `${filled}?${search}` : filled,
    init: {
      method,
      ...(body !== undefined && { body: JSON.stringify(body), headers: { "content-type": "application/json" } }),
    },
  };
}

/** Sends a request and checks the response against the contract: declared fields only, and the status of its error code. */
export async function send<K extends OperationKey>(
  url: string,
  apiKey: string | undefined,
  key: K,
  request: RequestOf<Operations[K]>,
): Promise<Answer<K>> {
  const { path, init } = buildRequest(key, request as RequestParts);
  const headers = { ...(init.headers as Record<string, string>), ...(apiKey && { authorization: `Bearer ${apiKey}` }) };
  const response = await fetch(url + path, { ...init, headers });
  const body: unknown = await response.json();
  if (response.ok) {
    const operation: Operation = operations[key];
    expect(response.status).toBe(operation.status);
    expect(operation.response.parse(body)).toEqual(body);
  } else {
    const { error } = ErrorBody.parse(body);
    expect(ErrorBody.parse(body)).toEqual(body);
    expect(response.status).toBe(errorStatus[error.code]);
    expect(refusalCodes(key), `${key} does not declare this error`).toContain(error.code);
  }
  return { status: response.status, headers: response.headers, body } as Answer<K>;
}

/** Returns the body of a successful response, and throws for an error. */
export function ok<K extends OperationKey>(answer: Answer<K>): ResponseOf<Operations[K]> {
  if ("success" in answer.body && answer.body.success === false)
    throw new Error(`refused: ${JSON.stringify(answer.body.error)}`);
  return answer.body as ResponseOf<Operations[K]>;
}

/** Returns the error of an error response, and throws for a success. */
export function expectError(
  answer: Answer<OperationKey>,
  expected?: ErrorCode,
): ErrorBody["error"] & { readonly status: number } {
  if (!("error" in answer.body)) throw new Error(`not refused: ${JSON.stringify(answer.body)}`);
  if (expected) expect(answer.body.error).toMatchObject({ code: expected });
  return { ...answer.body.error, status: answer.status };
}
