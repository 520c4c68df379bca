import {
  Agent,
  type buildConnector,
  errors,
  type RequestInit,
  type Response as UndiciResponse,
  fetch as undiciFetch,
} from "undici";
import { createAddressGuard, RefusedAddressError } from "./address-guard.ts";
import { limitedBody, ResponseTooLargeError } from "./guarded-body.ts";
import { guardedConnector, type Resolve } from "./guarded-connector.ts";
import { type Deadline, startDeadline } from "./guarded-deadline.ts";

export { RefusedAddressError, ResponseTooLargeError };

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
}

export interface GuardOptions extends ExchangeLimits {
  /** Private addresses and CIDR ranges that may be reached. */
  readonly allowedRanges: readonly string[];
  readonly resolve?: Resolve;
}

/** For addresses given by tenants: reaches public addresses, and the private ones that the operator allows. */
export function createGuardedClient({ allowedRanges, resolve, ...limits }: GuardOptions): GuardedClient {
  return createClient(limits, guardedConnector(createAddressGuard(allowedRanges), resolve));
}

/** For addresses given by the operator: the same client without the address check. */
export function createTrustedClient(limits: ExchangeLimits = {}): GuardedClient {
  return createClient(limits);
}

function createClient(limits: ExchangeLimits, connect?: buildConnector.connector): GuardedClient {
  const { maxResponseBytes = 16 * 1024 * 1024, timeoutMs = 15 * 60 * 1000 } = limits;
  const agent = new Agent({
    allowH2: false,
    // Per process and origin, shared by all organisations. Requests beyond this are queued.
    connections: 2048,
    keepAliveTimeout: 4_000,
    keepAliveMaxTimeout: 10_000,
    // The deadline covers both; undici's own five minutes would cut off a slow model.
    headersTimeout: 0,
    bodyTimeout: 0,
    // Bytes on the wire, against a compressed body that decodes to nothing. Doubled, so that it never cuts off a legitimate one.
    maxResponseSize: maxResponseBytes * 2,
    ...(connect && { connect }),
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
    const limited = body && limitedBody(body, { maxBytes: maxResponseBytes, onEnd: deadline.end, toError });
    // The global class, because callers ask `instanceof Response`; it leaves `url` empty.
    const standard = new Response(limited, { status, statusText, headers: [...headers] });
    return Object.defineProperty(standard, "url", { value: url });
  };

  return {
    fetch: async (input, init) => {
      const request = await toOutbound(input, init);
      const deadline = startDeadline(timeoutMs, request.init.signal);
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

type FetchArguments = Parameters<typeof globalThis.fetch>;

async function toOutbound(input: FetchArguments[0], init: FetchArguments[1]): Promise<{ url: URL; init: RequestInit }> {
  const url = checkedUrl(input instanceof Request ? input.url : input);
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

function checkedUrl(input: string | URL): URL {
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
