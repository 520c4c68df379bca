import { z } from "zod";
import { boundedRecord } from "./bounded-record.ts";

export const SecretName = z
  .string()
  .regex(/^[a-z][a-z0-9_]{0,62}$/, "Use 1 to 63 lower-case letters, digits and underscores, starting with a letter")
  .describe("The name by which requests refer to the secret: `{{secret.github_token}}`.")
  .meta({ id: "SecretName", example: "github_token" });

const reference = /\{\{secret\.([a-z][a-z0-9_]{0,62})\}\}/g;

/** The names of the secrets that a text refers to, each once. */
export const secretNamesIn = (text: string): string[] => [
  ...new Set([...text.matchAll(reference)].map(([, name = ""]) => name)),
];

/** Replaces each reference by the result of `findValue`, which is not searched again. */
export const replaceSecrets = (text: string, findValue: (name: string) => string): string =>
  text.replaceAll(reference, (_, name: string) => findValue(name));

/** The name in a text that is one reference and nothing else. */
export const wholeSecretName = (text: string): string | undefined => {
  const [name, ...others] = secretNamesIn(text);
  return name !== undefined && others.length === 0 && text === `{{secret.${name}}}` ? name : undefined;
};

/** Whether a text has no braces but those of references. */
export const hasOnlySecretReferences = (text: string): boolean => !/\{\{|\}\}/.test(text.replaceAll(reference, ""));

const wrongReference = "Refer to a secret as {{secret.name}}; other double braces are not allowed";

const Template = z
  .string()
  .max(1024)
  .regex(/^[\x20-\x7e]*$/, "Use printable ASCII characters")
  .refine((text) => text.trim() === text && text !== "", "Must not be empty, nor begin or end with a space")
  .refine(hasOnlySecretReferences, wrongReference);

const maxEntries = 16;

/** Headers that Perch sets itself, and those that change how a request is transported. */
const ownHeaders = new Set([
  ...["accept", "accept-encoding", "connection", "cookie2", "date", "expect", "host", "idempotency-key", "keep-alive"],
  ...["last-event-id", "signature", "signature-agent", "signature-input", "te", "traceparent", "tracestate", "trailer"],
  ...["transfer-encoding", "upgrade", "user-agent", "via", "x-request-id"],
  // What a proxy says of its client: behind one, a server would believe it.
  ...[
    "cf-connecting-ip",
    "client-cert",
    "client-cert-chain",
    "forwarded",
    "true-client-ip",
    "x-client-ip",
    "x-real-ip",
  ],
]);
const ownPrefixes = [...["content-", "mcp-", "perch-", "proxy-", "sec-", "webhook-", "x-forwarded-", "x-service-"]];

const isOwnHeader = (name: string): boolean => {
  const lower = name.toLowerCase();
  return ownHeaders.has(lower) || ownPrefixes.some((prefix) => lower.startsWith(prefix));
};

const HeaderName = z
  .string()
  .regex(/^[A-Za-z][A-Za-z0-9-]{0,63}$/, "Use 1 to 64 letters, digits and hyphens, starting with a letter")
  .refine((name) => !isOwnHeader(name), "Perch sets this header itself");

/** Headers that a request carries besides those of Perch. Values may refer to secrets. */
export const RequestHeaders = boundedRecord(HeaderName, Template, maxEntries)
  .refine(
    (headers) => new Set(Object.keys(headers).map((name) => name.toLowerCase())).size === Object.keys(headers).length,
    "Two headers have the same name",
  )
  .describe("Headers to send. A value may refer to secrets: `Bearer {{secret.github_token}}`.");

const ParameterName = z.string().regex(/^[\w.$[\]-]{1,64}$/, "Use 1 to 64 letters, digits and _ . $ [ ] -");

export const RequestQuery = boundedRecord(ParameterName, Template, maxEntries).describe(
  "Query parameters to send. A value may refer to secrets: `{{secret.maps_key}}`.",
);
