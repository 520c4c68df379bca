import { publicKey, type SignOptions, signRequest } from "./sign-request.ts";

/** A request with the expected result of `verifyRequest`. */
export interface RequestCase {
  readonly title: string;
  readonly request: {
    readonly method: string;
    readonly url: string;
    readonly headers: readonly (readonly [string, string])[];
    readonly body: string;
  };
  readonly origin: string;
  /** The organisations whose agents may call; all if absent. */
  readonly organisation?: string | readonly string[];
  /** Seconds since 1970. */
  readonly now: number;
  readonly keys: readonly object[];
  /** Why it is refused; null if it passes. */
  readonly reason: string | null;
  /** Set if the same request passed before. */
  readonly repeated?: true;
}

// In the year 2100, so that a replay store with a clock of its own forgets none of them.
export const created = 4_102_444_800;
export const origin = "https://tools.example.com";
export const path = "/weather?city=Paris&unit=c";
export const nonce = "cbBo1uvRIkZ0NQ7VzLXWz5Q0JzEwX6v2xY9nN3kq0aE";
export const organisation = "org_01m7evf00ae8nv228b2d9gj1xw";
export const otherOrganisation = "org_01m7evf00be8nv2290e6zkb9p3";
export const whose = { "perch-organisation": organisation, "perch-agent": "agent_01m7evf009e8nv2284kww951qd" };
/** The key of RFC 8037, appendix A. */
export const otherKey = {
  kty: "OKP",
  crv: "Ed25519",
  x: "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo",
  d: "nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A",
};
export const otherPublicKey = { kty: otherKey.kty, crv: otherKey.crv, x: otherKey.x };

export const call: SignOptions = {
  method: "POST",
  url: `${origin}${path}`,
  body: '{"city":"Paris","note":"grüße 🐦"}',
  headers: {
    "content-type": "application/json",
    "x-request-id": "req_01m7evf01ne8nv228qpt0msbq9",
    ...whose,
    "signature-agent": 'perch="https://perch.example/.well-known/http-message-signatures-directory"',
  },
  created,
  nonce,
};

type Headers = Record<string, string>;
export interface Change {
  /** How it is signed. */
  readonly sign?: Partial<SignOptions>;
  /** The change of the request on the way. */
  readonly request?: Partial<Omit<RequestCase["request"], "headers">>;
  readonly headers?: (headers: Headers) => Headers | readonly (readonly [string, string])[];
  readonly origin?: string;
  readonly organisation?: string | readonly string[];
  readonly now?: number;
  readonly keys?: readonly object[];
  readonly repeated?: true;
}

export function toCase(title: string, reason: string | null, change: Change): RequestCase {
  const options = { ...call, ...change.sign };
  const signed = signRequest(options);
  const sent = change.headers?.(signed) ?? signed;
  return {
    title,
    request: {
      method: options.method,
      url: new URL(options.url).pathname + new URL(options.url).search,
      body: options.body,
      ...change.request,
      headers: Symbol.iterator in sent ? sent : Object.entries(sent),
    },
    origin: change.origin ?? origin,
    now: change.now ?? created,
    keys: change.keys ?? [publicKey],
    reason,
    ...(change.organisation && { organisation: change.organisation }),
    ...(change.repeated && { repeated: true }),
  };
}

export const replace = (name: string, from: string | RegExp, to: string) => (headers: Headers) => {
  const before = headers[name] ?? "";
  const after = before.replace(from, to);
  if (after === before) throw new Error(`${name} has no ${from}`);
  return { ...headers, [name]: after };
};
export const without = (name: string) => (headers: Headers) =>
  Object.fromEntries(Object.entries(headers).filter(([key]) => key !== name));
/** The same bytes, as a lenient decoder would read them. */
export const withStrayBits = (headers: Headers) => {
  const [, last = ""] = /(.)==:$/.exec(headers.signature ?? "") ?? [];
  return replace("signature", /.==:$/, `${String.fromCharCode(last.charCodeAt(0) + 1)}==:`)(headers);
};
export const twice = (name: string) => (headers: Headers) =>
  Object.entries(headers).flatMap(([key, value]) =>
    key === name ? [[key, value] as const, [key, value] as const] : [[key, value] as const],
  );
export const parameter = (name: string, value: string | number | null): Change => ({
  sign: { parameters: { [name]: value } },
});
export const all = [
  ...['"@method"', '"@target-uri"', '"content-digest"', '"x-request-id"', '"perch-organisation"', '"perch-agent"'],
  '"signature-agent";key="perch"',
];
export const covering = (components: readonly string[]): Change => ({ sign: { components } });
export const leavingOut = (identifier: string): Change => covering(all.filter((one) => one !== identifier));
