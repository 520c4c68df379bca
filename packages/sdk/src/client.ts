import { keepEtag } from "./etags.ts";
import type { Source } from "./follow.ts";
import type { DataOf, ItemOf, OperationKey, PaginationOf, RequestOf, ResponseOf } from "./operation-parts.ts";
import type { RequestOptions, Settings } from "./options.ts";
import { type Page, PageList } from "./page-list.ts";
import { type ApiResponse, type Call, openStream, send } from "./send.ts";

/** The calls that the methods of the namespaces make. */
export interface Client {
  readonly settings: Settings;
  send<K extends OperationKey>(
    key: K,
    request: RequestOf<K>,
    options?: RequestOptions,
  ): Promise<ApiResponse<ResponseOf<K>>>;
  /** Returns the whole body. */
  request<K extends OperationKey>(key: K, request: RequestOf<K>, options?: RequestOptions): Promise<ResponseOf<K>>;
  /** Returns `data` of the body. */
  data<K extends OperationKey>(key: K, request: RequestOf<K>, options?: RequestOptions): Promise<DataOf<K>>;
  list<K extends OperationKey>(
    key: K,
    request: RequestOf<K>,
    options?: RequestOptions,
  ): PageList<ItemOf<K>, PaginationOf<K>>;
  /** The event stream of an operation. All attempts to open it share one idempotency key. */
  stream<K extends OperationKey>(key: K, request: RequestOf<K>, options?: RequestOptions): Source;
}

interface Parts {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, unknown>> | undefined;
  readonly body?: unknown;
}

/** An empty parameter would change the route: `/v1/agents//logs`, or the list instead of one item. */
function fill(path: string, params: Parts["params"] = {}): string {
  return path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = params[name];
    if (typeof value !== "string" || value === "" || value === "." || value === "..")
      throw new TypeError(`${name} must be a non-empty string`);
    return encodeURIComponent(value);
  });
}

function searchOf(query: Parts["query"] = {}): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined);
  const text = new URLSearchParams(given.map(([name, value]): [string, string] => [name, String(value)])).toString();
  return text && `?${text}`;
}

/** The same for all attempts of a call, so that it takes effect once. `randomUUID` does not exist in insecure contexts. */
export const newIdempotencyKey = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");

function callOf(key: OperationKey, request: Parts, options: RequestOptions = {}): Call {
  const { idempotencyKey = newIdempotencyKey() } = options;
  // No header could carry it, and the platform's own error would look like a broken connection.
  if (!/^[\x21-\x7e]{1,255}$/.test(idempotencyKey))
    throw new TypeError("idempotencyKey must be 1 to 255 visible ASCII characters without spaces");
  const [method = "", path = ""] = key.split(" ");
  const body = request.body === undefined ? undefined : JSON.stringify(request.body);
  return {
    method,
    path: fill(path, request.params) + searchOf(request.query),
    body,
    headers: {
      accept: "application/json",
      ...(body !== undefined && { "content-type": "application/json" }),
      ...(/^(POST|PATCH)$/.test(method) && { "idempotency-key": idempotencyKey }),
      ...(options.ifMatch !== undefined && { "if-match": options.ifMatch }),
      ...options.headers,
    },
    options,
  };
}

/** Creates the client for these settings. */
export function createClient(settings: Settings): Client {
  const client: Client = {
    settings,
    send: async (key, request, options) => (await send(settings, callOf(key, request, options))) as ApiResponse<never>,
    request: async (key, request, options) => (await client.send(key, request, options)).body,
    data: async (key, request, options) => {
      const { headers, body } = await client.send(key, request, options);
      const { data } = body as { readonly data: unknown };
      keepEtag(data, headers);
      return data as never;
    },
    list: (key, request, options) => {
      const { query = {} } = request as Parts;
      const fetchPage = (change: object): Promise<Page<never, never>> =>
        client.request(key, { ...request, query: { ...query, ...change } } as never, options) as Promise<never>;
      return new PageList(fetchPage, query);
    },
    stream: (key, request, options = {}) => {
      const call = callOf(key, request, options);
      const { log, maxRetries } = settings;
      return {
        open: (lastEventId) => openStream(settings, call, lastEventId),
        maxRetries: options.maxRetries ?? maxRetries,
        signal: options.signal,
        log,
      };
    },
  };
  return client;
}
