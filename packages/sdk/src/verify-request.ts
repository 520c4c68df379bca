import { type Bytes, base64Of, bytesOfBase64, bytesOfBody, type RawBody, utf8 } from "./bytes.ts";
import { RequestVerificationError, type RequestVerificationReason } from "./errors.ts";
import { keyDirectoryOf } from "./verify-request/key-directory.ts";
import type { ReplayStore } from "./verify-request/replay-store.ts";
import { type Message, type RequestHeaders, readFields, signatureBase } from "./verify-request/signed-components.ts";
import {
  base64In,
  integerOf,
  type Member,
  malformed,
  parseDictionary,
  stringOf,
} from "./verify-request/structured-fields.ts";
import { importKeys, type VerificationJwk, type VerificationKey } from "./verify-request/verification-key.ts";

/** A request as your server received it. */
export interface ReceivedRequest {
  readonly method: string;
  /** The path with the query, as it came, or the whole URL. The origin is taken from the options. */
  readonly url: string;
  /** All headers. */
  readonly headers: RequestHeaders;
  /** The raw body, empty if there is none. Do not parse and serialise it first: the bytes would differ. */
  readonly body: RawBody;
}

/** The expectations that a request is checked against. */
export interface VerifyRequestOptions {
  /** The origin by which Perch calls your service, such as `https://tools.example.com`, whatever a proxy makes of it. */
  readonly origin: string;
  /** The origin of Perch, such as `https://perch.example`. Its public keys are fetched from there and cached. */
  readonly directory?: string | undefined;
  /** The public keys themselves, in place of `directory`. */
  readonly keys?: readonly VerificationJwk[] | undefined;
  /**
   * The organisation whose agents may call, such as `org_01m7evf01ne8nv228qpt0msbq9`, or several. Without it, the agents
   * of every organisation of the installation pass, because Perch signs for all of them.
   */
  readonly organisation?: string | readonly string[];
  /** Remembers requests, so that none passes twice. */
  readonly replayStore: ReplayStore;
  /** Fetches the keys; `fetch` unless set. Give the same function every time, because keys are cached for each. */
  readonly fetch?: typeof globalThis.fetch | undefined;
  /** The time now, in milliseconds; for tests. */
  readonly nowMs?: number | undefined;
}

/** The facts that a request proved. */
export interface VerifiedRequest {
  /** The run that the call belongs to (`X-Request-Id`); undefined while an agent is being checked. */
  readonly runId: string | undefined;
  /** The organisation whose agent called (`Perch-Organisation`); undefined if the request does not name it. */
  readonly organisationId: string | undefined;
  /** The agent that called (`Perch-Agent`); undefined if the request does not name it. */
  readonly agentId: string | undefined;
  /** The key that signed it. */
  readonly keyId: string;
  /** When it was signed. */
  readonly createdAt: Date;
}

interface Signature {
  readonly input: Member;
  readonly bytes: Bytes;
  readonly keyId: string;
  readonly nonce: string;
  readonly created: number;
  readonly expires: number;
}

const label = "perch";
const maxLifetimeSeconds = 300;
const skewSeconds = 30;

const refuse = (reason: RequestVerificationReason, message: string): RequestVerificationError =>
  new RequestVerificationError(reason, message);

const passHeaders = "Pass all headers of the request as they came.";

/**
 * The address that the sender signed. It is concatenated, not parsed, because a parser could make two addresses one.
 */
function targetUriOf(url: string, origin: string): string {
  const parsed = URL.canParse(origin) ? new URL(origin) : undefined;
  if (!parsed || parsed.href !== `${parsed.origin}/`)
    throw new TypeError("Give the origin of this service, such as https://tools.example.com");
  const path = url.startsWith("/") ? url : /^https?:\/\/[^/?#]+(.*)$/is.exec(url)?.[1];
  if (path === undefined)
    throw malformed("The address of the request is neither a path nor a URL. Pass it as it came.");
  return `${parsed.origin}${path.startsWith("/") ? "" : "/"}${path}`;
}

function readSignature(message: Message): Signature {
  const member = (name: string): Member | undefined => parseDictionary(name, message.field(name) ?? "").get(label);
  const input = member("signature-input");
  const signature = member("signature");
  if (!input || !signature)
    throw refuse(
      "missing_signature",
      `The request has no signature of Perch: Signature-Input or Signature lacks ${label}. ${passHeaders}`,
    );
  const text = (name: string) => stringOf(input.parameters.get(name));
  const bytes = bytesOfBase64(base64In(signature.value) ?? "");
  const [keyId, nonce] = [text("keyid"), text("nonce")];
  const [created, expires] = [integerOf(input.parameters.get("created")), integerOf(input.parameters.get("expires"))];
  if (!input.items || bytes?.length !== 64 || keyId === undefined || created === undefined || expires === undefined)
    throw malformed(
      `The signature is not one of Perch: it lacks a list, 64 bytes, keyid, created or expires. ${passHeaders}`,
    );
  if (text("alg") !== "ed25519") throw refuse("wrong_algorithm", "The signature is not of the algorithm ed25519.");
  if (text("tag") !== "web-bot-auth")
    throw refuse("wrong_tag", "The signature is for something else: its tag is not web-bot-auth.");
  if (nonce === undefined || !/^[A-Za-z0-9+/_=-]{16,128}$/.test(nonce))
    throw refuse("invalid_nonce", "The signature has no nonce of 16 to 128 characters.");
  return { input, bytes, keyId, nonce, created, expires };
}

/** A component that is not covered could be changed on the way. */
function checkCoverage({ items = [] }: Member, message: Message): void {
  const covered = new Set(items.map(({ text }) => text));
  const required = ['"@method"', '"@target-uri"', '"content-digest"'];
  for (const name of ["x-request-id", "perch-organisation", "perch-agent"])
    if (message.field(name) !== undefined) required.push(`"${name}"`);
  if (message.field("signature-agent") !== undefined) required.push(`"signature-agent";key="${label}"`);
  const missing = required.filter((identifier) => !covered.has(identifier));
  if (missing.length > 0)
    throw refuse(
      "missing_component",
      `The signature does not cover ${missing.join(", ")}, so that may not be what Perch sent.`,
    );
}

function checkTimes({ created, expires }: Signature, nowSeconds: number): void {
  const clock = "Compare the clock of this machine with that of Perch.";
  if (!(created <= nowSeconds + skewSeconds))
    throw refuse("not_yet_valid", `The request was signed in the future. ${clock}`);
  if (!(nowSeconds < expires))
    throw refuse("expired", `The signature has expired: the request may be a copy. ${clock}`);
  if (!(expires - created <= maxLifetimeSeconds + skewSeconds))
    throw refuse("lifetime_too_long", "The signature is valid for longer than Perch's are.");
}

/** The organisations that may call; undefined if all may. A missing setting must not turn the check off. */
function readOrganisations(options: VerifyRequestOptions): readonly string[] | undefined {
  if (!("organisation" in options)) return undefined;
  const ids: readonly unknown[] = [options.organisation].flat();
  if (ids.length === 0 || !ids.every((id) => typeof id === "string" && /^org_[0-9a-z]+$/.test(id)))
    throw new TypeError(
      "Give the id of your organisation, such as org_01m7evf01ne8nv228qpt0msbq9: perch whoami shows it",
    );
  return ids as readonly string[];
}

function checkOrganisation(allowed: readonly string[] | undefined, organisationId: string | undefined): void {
  if (allowed === undefined || (organisationId !== undefined && allowed.includes(organisationId))) return;
  const whose = organisationId === undefined ? "does not say whose agent calls" : `is of ${organisationId}`;
  throw refuse("wrong_organisation", `The request ${whose}, and may not call this service. Check organisation.`);
}

async function checkDigest(message: Message, body: Bytes): Promise<void> {
  const digest = parseDictionary("content-digest", message.field("content-digest") ?? "").get("sha-256");
  const actual = base64Of(new Uint8Array(await crypto.subtle.digest("SHA-256", body)));
  if (base64In(digest?.value) !== actual)
    throw refuse(
      "digest_mismatch",
      "The body is not the one that was signed. Pass its bytes as they came, not parsed JSON.",
    );
}

async function findKey(keyId: string, options: VerifyRequestOptions, nowMs: number): Promise<VerificationKey> {
  const { directory, keys, fetch = globalThis.fetch } = options;
  if ((directory === undefined) === (keys === undefined)) throw new TypeError("Give either directory or keys");
  const key = keys
    ? (await importKeys(keys)).get(keyId)
    : await keyDirectoryOf(directory ?? "", fetch).find(keyId, nowMs);
  if (!key)
    throw refuse("unknown_key", "The signature is of a key that Perch does not list. Check directory, or update keys.");
  const nowSeconds = nowMs / 1000;
  if (!(key.notBefore - skewSeconds <= nowSeconds && nowSeconds < key.expires + skewSeconds))
    throw refuse("key_not_valid", "The signature is of a key of Perch that is not in use now.");
  return key;
}

/**
 * Verifies that Perch sent a request to your tool, MCP server or remote agent: this request, to this address, for an agent of your
 * organisation, now, and for the first time. Works in Node, workers and browsers.
 *
 * @throws RequestVerificationError if it did not. Respond with the error's `status`.
 *
 * @example
 * ```ts
 * const replayStore = createMemoryReplayStore();
 * const { runId } = await verifyRequest(
 *   { method: request.method, url: request.url, headers: request.headers, body: await request.text() },
 *   { origin: "https://tools.example.com", directory: "https://perch.example", organisation: "org_…", replayStore },
 * );
 * ```
 */
export async function verifyRequest(request: ReceivedRequest, options: VerifyRequestOptions): Promise<VerifiedRequest> {
  const { origin, replayStore, nowMs = Date.now() } = options;
  if (typeof replayStore?.add !== "function")
    throw new TypeError(
      "Give a replayStore, such as createMemoryReplayStore(): without one, a copied request would pass",
    );
  const organisations = readOrganisations(options);
  const body = bytesOfBody(request.body);
  const { method, url, headers } = request;
  const message: Message = { method, targetUri: targetUriOf(url, origin), field: readFields(headers) };
  const signature = readSignature(message);
  const { input, bytes, keyId, nonce, created, expires } = signature;
  checkCoverage(input, message);
  checkTimes(signature, nowMs / 1000);
  const base = utf8(signatureBase(message, input));
  await checkDigest(message, body);
  const { key } = await findKey(keyId, options, nowMs);
  if (!(await crypto.subtle.verify("Ed25519", key, bytes, base)))
    throw refuse(
      "signature_mismatch",
      "The signature does not match: something was changed, or origin is not the address that Perch called.",
    );
  const organisationId = message.field("perch-organisation");
  checkOrganisation(organisations, organisationId);
  // The last check, so that only requests that Perch signed can fill the store. The clocks of machines that share it
  // may differ.
  if (!(await replayStore.add(nonce, new Date((expires + skewSeconds) * 1000))))
    throw refuse("replayed", "This request came before. Perch signs every attempt anew, so it is a copy.");
  const [runId, agentId] = [message.field("x-request-id"), message.field("perch-agent")];
  return { runId, organisationId, agentId, keyId, createdAt: new Date(created * 1000) };
}
