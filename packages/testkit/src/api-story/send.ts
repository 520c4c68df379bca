import { type OperationKey, routeOf } from "../../../contract/src/index.ts";

export interface RequestParts {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, unknown>>;
  readonly body?: unknown;
}

export interface Answer {
  readonly status: number;
  readonly text: string;
}

export function pathOf(key: OperationKey, { params = {}, query = {} }: RequestParts): string {
  const filled = routeOf(key).path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(params[name] ?? ""),
  );
  const search = new URLSearchParams(
    Object.entries(query).map(([name, value]): [string, string] => [name, String(value)]),
  );
  return search.size > 0 ? `${filled}?${search}` : filled;
}

/** Sends the request of an operation, and returns the response. */
export async function sendOperation(
  { url, apiKey }: { readonly url: string; readonly apiKey: string },
  key: OperationKey,
  request: RequestParts,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  const body = request.body === undefined ? undefined : JSON.stringify(request.body);
  const response = await fetch(url + pathOf(key, request), {
    method: routeOf(key).method,
    headers: {
      authorization: `Bearer ${apiKey}`,
      ...(body !== undefined && { "content-type": "application/json" }),
      ...headers,
    },
    ...(body !== undefined && { body }),
  });
  return { status: response.status, text: await response.text() };
}
