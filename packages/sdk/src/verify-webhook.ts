import { type Bytes, bytesOfBase64, bytesOfBody, type RawBody, utf8 } from "./bytes.ts";
import { WebhookVerificationError } from "./errors.ts";
import type { PerchEvent } from "./webhook-event.ts";

/** Headers of a request, as common servers represent them. */
export type WebhookHeaders = Headers | Readonly<Record<string, string | readonly string[] | undefined>>;

/** How strict to be. */
export interface VerifyOptions {
  /**
   * How many seconds the signed time of a delivery may differ from now. With `null` any age passes.
   *
   * @defaultValue `300`
   */
  readonly toleranceSeconds?: number | null | undefined;
  /**
   * With `false`, only `X-Service-Signature` is needed. It covers no time, so it cannot detect an old delivery that is
   * sent again. Perch always sends both signatures; turn this off only if something in front of your receiver removes
   * the `webhook-` headers.
   *
   * @defaultValue `true`
   */
  readonly requireTimestamp?: boolean | undefined;
  /** The time now, in milliseconds; for tests. */
  readonly nowMs?: number | undefined;
}

function headerOf(headers: WebhookHeaders, name: string): string | undefined {
  if (headers instanceof Headers) return headers.get(name) ?? undefined;
  const entry = Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1];
  return typeof entry === "string" ? entry : entry?.join(",");
}

const bytesOfHex = (text: string): Bytes | undefined =>
  /^[0-9a-f]{64}$/i.test(text)
    ? Uint8Array.from({ length: 32 }, (_, index) => Number.parseInt(text.slice(2 * index, 2 * index + 2), 16))
    : undefined;

function concat(...parts: readonly Bytes[]): Bytes {
  const all = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

/** The platform compares in constant time. */
async function isSignedBy(keyBytes: Bytes, signatures: readonly Bytes[], message: Bytes): Promise<boolean> {
  const key = await crypto.subtle.importKey("raw", keyBytes, { name: "HMAC", hash: "SHA-256" }, false, ["verify"]);
  const checks = await Promise.all(signatures.map((one) => crypto.subtle.verify("HMAC", key, one, message)));
  return checks.includes(true);
}

const definedOnly = <T>(values: readonly (T | undefined)[]): T[] =>
  values.filter((value): value is T => value !== undefined);

/** Standard Webhooks: keyed with the bytes behind the prefix, over id, time and body. */
async function passesStandard(headers: WebhookHeaders, body: Bytes, secrets: readonly string[]): Promise<boolean> {
  const id = headerOf(headers, "webhook-id") ?? "";
  const timestamp = headerOf(headers, "webhook-timestamp") ?? "";
  const signatures = (headerOf(headers, "webhook-signature") ?? "")
    .split(" ")
    .filter((one) => one.startsWith("v1,"))
    .map((one) => bytesOfBase64(one.slice("v1,".length)));
  const message = concat(utf8(`${id}.${timestamp}.`), body);
  for (const secret of secrets) {
    const key = bytesOfBase64(secret.replace(/^whsec_/, ""));
    if (!key || key.length === 0) throw new TypeError("A webhook secret is whsec_ and base64, as it was shown");
    if (await isSignedBy(key, definedOnly(signatures), message)) return true;
  }
  return false;
}

/** `X-Service-Signature`: keyed with the secret as it was shown, over only the body. */
async function passesPlain(headers: WebhookHeaders, body: Bytes, secrets: readonly string[]): Promise<boolean> {
  const names = ["x-service-signature", "x-service-signature-previous"];
  const signatures = definedOnly(names.map((name) => bytesOfHex(headerOf(headers, name) ?? "")));
  for (const secret of secrets) if (await isSignedBy(utf8(secret), signatures, body)) return true;
  return false;
}

function checkTime(timestamp: string, { toleranceSeconds = 300, nowMs = Date.now() }: VerifyOptions): void {
  if (toleranceSeconds === null) return;
  if (!(Math.abs(nowMs / 1000 - Number(timestamp)) <= toleranceSeconds))
    throw new WebhookVerificationError("The timestamp of this delivery is too far from now: it may be a replay.");
}

/** The signed timestamp; undefined only for a delivery without one, if the options accept that. */
function timestampOf(headers: WebhookHeaders, { requireTimestamp = true }: VerifyOptions): string | undefined {
  const isSigned = headerOf(headers, "webhook-signature") !== undefined;
  if (!isSigned && !requireTimestamp) return undefined;
  const timestamp = headerOf(headers, "webhook-timestamp");
  if (isSigned && timestamp !== undefined && /^\d{1,12}$/.test(timestamp)) return timestamp;
  const missing = isSigned ? "webhook-timestamp" : "webhook-signature";
  throw new WebhookVerificationError(
    `This delivery has no signed timestamp: ${missing} is missing or malformed. Pass all headers of the request.`,
  );
}

/**
 * Verifies the signature of a webhook delivery and returns its event. Works in Node, workers and browsers.
 *
 * @param body - The raw request body. Do not parse and serialise it first: the bytes would differ.
 * @param headers - All headers of the request.
 * @param secret - The webhook's secret, `whsec_…`, or several during a rotation.
 * @throws WebhookVerificationError if the signature or timestamp is invalid. Respond with 401.
 *
 * @example
 * ```ts
 * const event = await verifyWebhook(await request.text(), request.headers, process.env.PERCH_WEBHOOK_SECRET);
 * if (event.type === "agent.completed") console.log(event.data.response);
 * ```
 */
export async function verifyWebhook(
  body: RawBody,
  headers: WebhookHeaders,
  secret: string | readonly string[],
  options: VerifyOptions = {},
): Promise<PerchEvent> {
  const bytes = bytesOfBody(body);
  const secrets = (typeof secret === "string" ? [secret] : secret).filter((one) => one !== "");
  // With an empty secret, anyone could sign.
  if (secrets.length === 0) throw new TypeError("Give the webhook's secret");
  const timestamp = timestampOf(headers, options);
  const check = timestamp === undefined ? passesPlain : passesStandard;
  if (!(await check(headers, bytes, secrets)))
    throw new WebhookVerificationError("The signature of this delivery does not match.");
  if (timestamp !== undefined) checkTime(timestamp, options);
  return JSON.parse(new TextDecoder().decode(bytes)) as PerchEvent;
}
