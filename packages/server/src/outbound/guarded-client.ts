import { promises as dns, type LookupAddress, type LookupOptions } from "node:dns";
import { isIP, type LookupFunction } from "node:net";
import { ReadableStream, type ReadableStreamDefaultReader } from "node:stream/web";
import {
  Agent,
  buildConnector,
  errors,
  type RequestInit,
  type Response as UndiciResponse,
  fetch as undiciFetch,
} from "undici";
import type { GiveBack, Share } from "../fairness/shares.ts";
import { type AddressGuard, createAddressGuard, type OwnAddresses, RefusedAddressError } from "./address-guard.ts";
import { acquireCall } from "./outbound-share.ts";
import { createOwnAddresses } from "./own-addresses.ts";

/**
 * The only HTTP client for addresses given by tenants. It follows no redirects (a 3xx is returned as it is, or throws with
 * `redirect: "error"`), ignores the proxy settings of the environment, and limits the size and duration of every response.
 */
export interface GuardedClient {
  /** Like the standard fetch. */
  readonly fetch: typeof globalThis.fetch;
  /** Closes every connection, including those in use. */
  readonly close: () => Promise<void>;
}

export interface ExchangeLimits {
  /** Limit of a body, after decompression. */
  readonly maxResponseBytes?: number;
  /** Limit of the whole exchange, including the body. */
  readonly timeoutMs?: number;
  /** The share of calls under way, each counted from the request to the end of the response's body. */
  readonly share?: Share;
}

/** Resolves a name to all of its addresses. */
export type Resolve = (hostname: string) => Promise<readonly LookupAddress[]>;

export interface GuardOptions extends ExchangeLimits {
  /** Private addresses and CIDR ranges that may be reached. */
  readonly allowedRanges: readonly string[];
  /** Addresses that are never reached, even in those ranges. Without it, only metadata services. */
  readonly own?: OwnAddresses;
  readonly resolve?: Resolve;
}

interface TooLargeOptions extends ErrorOptions {
  readonly what?: string;
  readonly unit?: string;
}

export class ResponseTooLargeError extends Error {
  override readonly name = "ResponseTooLargeError";

  constructor(max: number, { what = "The response", unit = "bytes", ...options }: TooLargeOptions = {}) {
    super(`${what} is larger than the limit of ${max} ${unit}.`, options);
  }
}

/** For addresses given by tenants: reaches public addresses, and the private ones that the operator allows. */
export function createGuardedClient({
  allowedRanges,
  own = createOwnAddresses([]),
  resolve,
  ...limits
}: GuardOptions): GuardedClient {
  return createClient(limits, createGuardedConnector(createAddressGuard(allowedRanges, own), own, resolve));
}

/** For addresses given by the operator: the same client without the address check. */
export function createTrustedClient(limits: ExchangeLimits = {}): GuardedClient {
  return createClient(limits);
}

/**
 * The limit for the DNS lookup, the connection and its TLS handshake together. It allows for one lost packet or a slow
 * name server.
 */
const connectTimeoutMs = 4000;

function createClient(limits: ExchangeLimits, connect?: buildConnector.connector): GuardedClient {
  const { maxResponseBytes = 16 * 1024 * 1024, timeoutMs = 15 * 60 * 1000, share } = limits;
  const agent = new Agent({
    allowH2: false,
    // Per process and origin. Requests beyond this are queued; `share` limits the calls of one organisation.
    connections: 2048,
    keepAliveTimeout: 4_000,
    keepAliveMaxTimeout: 10_000,
    // The deadline covers both; undici's own five minutes would cut off a slow model.
    headersTimeout: 0,
    bodyTimeout: 0,
    // Bytes on the wire, against a compressed body that decodes to nothing. Doubled, so that it never cuts off a legitimate one.
    maxResponseSize: maxResponseBytes * 2,
    connect: connect ?? { timeout: connectTimeoutMs },
  });

  const toError = (error: unknown): unknown => {
    const cause = error instanceof Error ? error.cause : undefined;
    if (cause instanceof RefusedAddressError) return cause;
    if (cause instanceof errors.ResponseExceededMaxSizeError)
      return new ResponseTooLargeError(maxResponseBytes, { cause });
    return error;
  };

  const toResponse = (response: UndiciResponse, deadline: Deadline): Response => {
    const { status, statusText, headers, body, url } = response;
    if (!body) deadline.end();
    const limited = body && limitBody(body, { maxBytes: maxResponseBytes, onEnd: deadline.end, toError });
    // The global class, because callers ask `instanceof Response`; it leaves `url` empty.
    const standard = new Response(limited, { status, statusText: toStatusText(statusText), headers: [...headers] });
    return Object.defineProperty(standard, "url", { value: url });
  };

  return {
    fetch: async (input, init) => {
      const request = await toUndiciRequest(input, init);
      const giveBack = await acquireCall(share, request.init.signal);
      const deadline = startDeadline(timeoutMs, request.init.signal, giveBack);
      try {
        const redirect = request.init.redirect === "error" ? "error" : "manual";
        const { signal } = deadline;
        return toResponse(
          await undiciFetch(request.url, { ...request.init, redirect, signal, dispatcher: agent }),
          deadline,
        );
      } catch (error) {
        deadline.abort(error);
        throw toError(error);
      }
    },
    close: () => agent.destroy(),
  };
}

/**
 * undici decodes it as UTF-8, and `Response` refuses most of the possible results: the answer counts, whatever its
 * status is called.
 */
const toStatusText = (text: string): string => text.replaceAll(/[^\t\x20-\x7e]/g, "?");

type FetchArguments = Parameters<typeof globalThis.fetch>;

async function toUndiciRequest(
  input: FetchArguments[0],
  init: FetchArguments[1],
): Promise<{ url: URL; init: RequestInit }> {
  const url = parseAllowedUrl(input instanceof Request ? input.url : input);
  if (!(input instanceof Request || init?.body instanceof FormData)) {
    // The remaining options are the same in undici and the standard; only the types differ.
    return { url, init: { ...init } as unknown as RequestInit };
  }
  // undici takes its own Request and FormData only, and would send the global ones as "[object …]".
  const request = new Request(input, init);
  const { method, headers, signal, redirect } = request;
  const body = request.body && (await request.arrayBuffer());
  return { url, init: { method, headers: [...headers], body, signal, redirect } };
}

/** Throws on an address that is never called, whatever it resolves to. */
export function parseAllowedUrl(input: string | URL): URL {
  const url = new URL(input);
  if (url.protocol !== "http:" && url.protocol !== "https:") {
    throw new RefusedAddressError(`Only http: and https: addresses can be called, not ${url.protocol}`);
  }
  if (url.username !== "" || url.password !== "") {
    throw new RefusedAddressError(
      `The address of ${url.host} must not contain a user name or password: send them in a header.`,
    );
  }
  return url;
}

const systemResolve: Resolve = (hostname) => dns.lookup(hostname, { all: true });

/**
 * Connects only to addresses that the guard allows. The name is resolved once, and the socket gets the checked address,
 * which defeats DNS rebinding.
 */
function createGuardedConnector(
  guard: AddressGuard,
  own: OwnAddresses,
  resolve: Resolve = systemResolve,
): buildConnector.connector {
  const connectors = new Map<number, buildConnector.connector>();
  // A lookup does not know the port, so each port has its own connector. Tenants choose ports, so only some are cached.
  const connectorFor = (port: number): buildConnector.connector => {
    const known = connectors.get(port);
    if (known) return known;
    if (connectors.size >= 64) connectors.clear();
    const lookup = createGuardedLookup((address) => guard(address, port), resolve);
    // HTTP/1.1 only: ending an exchange then ends its connection, and one connection carries one exchange.
    const made = buildConnector({ allowH2: false, lookup, timeout: connectTimeoutMs });
    connectors.set(port, made);
    return made;
  };
  return (options, callback) => {
    const { hostname, protocol } = options;
    const port = portOf(options.port, protocol);
    const connect = (): void => {
      // node:net skips the lookup for IP literals, and undici uses its own if the Host header differs from one.
      const isRefused = isIP(hostname) === 0 ? own.includes(hostname, port) : !guard(hostname, port);
      if (isRefused) callback(RefusedAddressError.private(hostname), null);
      else connectorFor(port)(options, callback);
    };
    own
      .refresh()
      .then(connect)
      .catch((error: Error) => callback(error, null));
  };
}

/** The port of an address, which is left out if it is the protocol's default. */
export const portOf = (port: string | undefined, protocol: string): number =>
  Number(port) || (protocol === "https:" ? 443 : 80);

function createGuardedLookup(isAllowed: (address: string) => boolean, resolve: Resolve): LookupFunction {
  return (hostname, options, callback) => {
    resolveChecked(hostname, options, isAllowed, resolve).then(
      (addresses) => {
        const [first] = addresses;
        if (options.all) callback(null, [...addresses]);
        else callback(null, first.address, first.family);
      },
      (error: NodeJS.ErrnoException) => callback(error, []),
    );
  };
}

async function resolveChecked(
  hostname: string,
  { family }: LookupOptions,
  isAllowed: (address: string) => boolean,
  resolve: Resolve,
) {
  const all = await resolve(hostname);
  // One private address among public ones is refused as well: an attacker may hope that it is the one chosen.
  if (!all.every(({ address }) => isAllowed(address))) throw RefusedAddressError.private(hostname);
  const [first, ...others] = all.filter((found) => (family === 4 || family === 6 ? found.family === family : true));
  if (!first) throw Object.assign(new Error(`${hostname} has no address`), { code: "ENOTFOUND" });
  return [first, ...others] as const;
}

interface Deadline {
  readonly signal: AbortSignal;
  readonly abort: (reason: unknown) => void;
  /** Releases the timer, the listener on the caller's signal and the organisation's share. */
  readonly end: () => void;
}

/** Combines the time limit with the caller's signal. AbortSignal.timeout would keep its timer after the exchange has ended. */
function startDeadline(timeoutMs: number, caller: AbortSignal | null | undefined, giveBack: GiveBack): Deadline {
  const controller = new AbortController();
  const end = () => {
    clearTimeout(timer);
    caller?.removeEventListener("abort", onCallerAbort);
    giveBack();
  };
  // Gives the unit back even if the body is never read, because the connection is closed.
  const abort = (reason: unknown) => {
    end();
    controller.abort(reason);
  };
  const onCallerAbort = () => abort(caller?.reason);
  const onTimeout = () =>
    abort(new DOMException(`The exchange took longer than ${timeoutMs / 1000} s.`, "TimeoutError"));
  const timer = setTimeout(onTimeout, timeoutMs).unref();
  if (caller?.aborted) onCallerAbort();
  else caller?.addEventListener("abort", onCallerAbort, { once: true });
  return { signal: controller.signal, abort, end };
}

/**
 * The maximum size of a line: an event of a stream, or a whole answer in JSON. Readers buffer a line until its end and
 * parse it at once. It is large enough for a hundred vectors of an embedder.
 */
const maxLineBytes = 5 * 1024 * 1024;
const newline = "\n".charCodeAt(0);

interface BodyLimits {
  readonly maxBytes: number;
  /** Called once, when nothing more will be read. */
  readonly onEnd: () => void;
  readonly toError: (error: unknown) => unknown;
}

/** Passes a decoded body through, chunk by chunk. It fails past the limit; cancelling it closes the connection. */
function limitBody(source: ReadableStream<Uint8Array>, limits: BodyLimits): ReadableStream<Uint8Array> {
  // Locked at the first read: undici closes the connection of an unread response only while its body is unlocked.
  let reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
  let received = 0;
  let lineBytes = 0;
  const refuse = async (open: ReadableStreamDefaultReader<Uint8Array>, error: Error): Promise<never> => {
    limits.onEnd();
    await open.cancel(error);
    throw error;
  };
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        reader ??= source.getReader();
        const { done, value } = await reader.read().catch((error: unknown) => {
          limits.onEnd();
          throw limits.toError(error);
        });
        if (done) {
          limits.onEnd();
          controller.close();
          return;
        }
        received += value.byteLength;
        if (received > limits.maxBytes) await refuse(reader, new ResponseTooLargeError(limits.maxBytes));
        const lastNewline = value.lastIndexOf(newline);
        lineBytes = lastNewline < 0 ? lineBytes + value.byteLength : value.byteLength - lastNewline - 1;
        if (lineBytes > maxLineBytes)
          await refuse(reader, new ResponseTooLargeError(maxLineBytes, { what: "A line of the response" }));
        controller.enqueue(value);
      },
      cancel(reason) {
        limits.onEnd();
        return (reader ?? source).cancel(reason);
      },
    },
    // Nothing is read ahead, so a slow reader slows the sender down.
    { highWaterMark: 0 },
  );
}
