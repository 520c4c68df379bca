import type { DataOf, ItemOf, OperationKey, PaginationOf, RequestOf, ResponseOf } from "./operation-parts.ts";
import type { RequestOptions, Settings } from "./options.ts";
import { type Page, PageList } from "./page-list.ts";
import { type Answer, type Call, type OpenStream, openStream, send } from "./send.ts";

/** What the methods of the namespaces are made of. */
export interface Client {
  readonly settings: Settings;
  send<K extends OperationKey>(key: K, request: RequestOf<K>, options?: RequestOptions): Promise<Answer<ResponseOf<K>>>;
  /** The body as it is. */
  request<K extends OperationKey>(key: K, request: RequestOf<K>, options?: RequestOptions): Promise<ResponseOf<K>>;
  /** What is in its envelope. */
  data<K extends OperationKey>(key: K, request: RequestOf<K>, options?: RequestOptions): Promise<DataOf<K>>;
  list<K extends OperationKey>(
    key: K,
    request: RequestOf<K>,
    options?: RequestOptions,
  ): PageList<ItemOf<K>, PaginationOf<K>>;
  /** One try to open the stream of an operation. All tries of one stream are the same call. */
  stream<K extends OperationKey>(
    key: K,
    request: RequestOf<K>,
    options?: RequestOptions,
  ): (lastEventId: string | undefined) => Promise<OpenStream>;
}

interface Parts {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, unknown>> | undefined;
  readonly body?: unknown;
}

/** A missing part would make another address of it: `/v1/agents//logs`, or the list instead of one. */
function fill(path: string, params: Parts["params"] = {}): string {
  return path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = params[name];
    if (typeof value !== "string" || value === "" || value === "." || value === "..")
      throw new TypeError(`${name} must be a text that is not empty`);
    return encodeURIComponent(value);
  });
}

function searchOf(query: Parts["query"] = {}): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined);
  const text = new URLSearchParams(given.map(([name, value]): [string, string] => [name, String(value)])).toString();
  return text && `?${text}`;
}

/** One key for all tries of one call: whatever the network does, it is done once. `randomUUID` is not there on every page. */
export const newIdempotencyKey = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");

function callOf(key: OperationKey, request: Parts, options: RequestOptions = {}): Call {
  const { idempotencyKey = newIdempotencyKey() } = options;
  // No header could hold it: the platform's own error would pass for a broken connection.
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
      ...options.headers,
    },
    options,
  };
}

/** The operations over one connection's settings. */
export function createClient(settings: Settings): Client {
  const client: Client = {
    settings,
    send: async (key, request, options) => (await send(settings, callOf(key, request, options))) as Answer<never>,
    request: async (key, request, options) => (await client.send(key, request, options)).body,
    data: async (key, request, options) =>
      ((await client.request(key, request, options)) as { data: unknown }).data as never,
    list: (key, request, options) => {
      const { query = {} } = request as Parts;
      const fetchPage = (change: object): Promise<Page<never, never>> =>
        client.request(key, { ...request, query: { ...query, ...change } } as never, options) as Promise<never>;
      return new PageList(fetchPage, query);
    },
    stream: (key, request, options) => {
      const call = callOf(key, request, options);
      return (lastEventId) => openStream(settings, call, lastEventId);
    },
  };
  return client;
}
