import { randomBytes } from "node:crypto";
import type { SigningKey } from "../../platform/signing-key.ts";
import { contentDigest, signMessage } from "./sign-message.ts";
import { type Component, derivedComponent, fieldComponent, serializeString } from "./signed-components.ts";

interface SignedFetchDeps {
  readonly fetch: typeof globalThis.fetch;
  /** The key to sign with now. */
  readonly signingKey: () => SigningKey;
  /** The address of the public keys for receivers; undefined if the installation has no public address. */
  readonly directoryUrl: string | undefined;
  readonly now: () => number;
}

const label = "perch";
const validSeconds = 300;
const nonceBytes = 32;
/** The run, the organisation and the agent of a request. A preflight belongs to no run. */
const coveredIfPresent = ["x-request-id", "perch-organisation", "perch-agent"];

type Body = string | Uint8Array;

function bodyOf(init: RequestInit | undefined): Body {
  const body = init?.body ?? "";
  if (typeof body === "string" || body instanceof Uint8Array) return body;
  throw new TypeError(
    "A signed request has a text or bytes as its body: a stream cannot be digested before it is sent.",
  );
}

/**
 * A fetch whose requests carry an HTTP message signature (RFC 9421) as in the web-bot-auth draft, so that a receiver
 * can identify the sender. Every call is signed anew: a retry has its own nonce and time. These headers replace any
 * from the caller.
 */
export const createSignedFetch =
  ({ fetch, signingKey, directoryUrl, now }: SignedFetchDeps): typeof globalThis.fetch =>
  (input, init) => {
    if (input instanceof Request) throw new TypeError("A signed request is given as an address and its options.");
    const url = new URL(input);
    const method = (init?.method ?? "GET").toUpperCase();
    const digest = contentDigest(bodyOf(init));
    const headers: Record<string, string> = Object.fromEntries(new Headers(init?.headers));
    const components = [
      derivedComponent("@method", { method, url }),
      derivedComponent("@target-uri", { method, url }),
      fieldComponent("content-digest", digest),
      ...coveredIfPresent.flatMap((name) => (headers[name] === undefined ? [] : [fieldComponent(name, headers[name])])),
      ...agentComponent(directoryUrl),
    ];
    const key = signingKey();
    const created = Math.floor(now() / 1000);
    const { input: signatureInput, signature } = signMessage(key, label, components, {
      created,
      expires: created + validSeconds,
      nonce: randomBytes(nonceBytes).toString("base64url"),
      keyid: key.keyId,
      alg: "ed25519",
      tag: "web-bot-auth",
    });
    delete headers["signature-agent"];
    Object.assign(headers, {
      "content-digest": digest,
      ...(directoryUrl === undefined ? {} : { "signature-agent": `${label}=${serializeString(directoryUrl)}` }),
      "signature-input": signatureInput,
      signature,
    });
    return fetch(url, { ...init, method, headers });
  };

/** The member of `Signature-Agent` that belongs to our signature. */
const agentComponent = (directoryUrl: string | undefined): Component[] =>
  directoryUrl === undefined
    ? []
    : [{ identifier: `"signature-agent";key="${label}"`, value: serializeString(directoryUrl) }];
