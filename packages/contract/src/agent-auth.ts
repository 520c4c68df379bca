import { z } from "zod";
import { permissions } from "./permissions.ts";

const bytesOf = (text: string): number => new TextEncoder().encode(text).length;

const Issuer = z
  .url({ protocol: /^https?$/, error: "Expected the https address of an issuer" })
  .max(2048)
  .refine((text) => !/^https?:\/\/[^/?#]*@/i.test(text), "Must not contain a user name or password")
  .refine(
    (text) => /^https:/i.test(text) || /^http:\/\/(127\.0\.0\.1|localhost|\[::1\])[:/]?/i.test(text),
    "Expected an https address; http is for loopback alone",
  )
  .refine((text) => !/[?#]/.test(text), "An issuer has no query and no fragment");

const ClientId = z.string().min(1).max(256);
/** A user's token grants no permissions on the installation, which belongs to no agent. */
const agentPermissions = permissions.filter((permission) => permission !== "operate");
export const agentScopes = agentPermissions.map((permission) => `${permission}:agents` as const);
const Scopes = z.array(z.enum(agentScopes)).min(1).max(8);

const SigningSecret = z
  .string()
  .max(1024)
  .refine((text) => bytesOf(text) >= 32, "Must be at least 32 bytes: openssl rand -base64 32");

const oauth2 = {
  type: z.literal("oauth2"),
  provider: Issuer.describe("URL of the issuer. Its `/.well-known/openid-configuration` is used for discovery."),
  clientId: ClientId,
  scopes: Scopes.describe(
    "Scopes that are accepted. An operation needs the scope of its permission, such as `write:agents` for `write`.",
  ),
  audience: z
    .string()
    .min(1)
    .max(512)
    .optional()
    .describe("Required audience (`aud`) of tokens. The default is `clientId`."),
};

/**
 * Authentication 6 of the specification, in its own spelling: the issuer that vouches for the user, besides the API
 * key.
 */
export const AgentAuth = z
  .discriminatedUnion("type", [
    z.strictObject({
      ...oauth2,
      clientSecret: z.string().min(1).max(1024).optional().describe("For introspection of opaque tokens (RFC 7662)."),
    }),
    z.strictObject({
      type: z.literal("jwt"),
      secret: SigningSecret.describe("HS256 signing secret, at least 32 bytes."),
      previousSecret: SigningSecret.optional().describe("Previous signing secret, still accepted during a rotation."),
    }),
  ])
  .meta({
    id: "AgentAuth",
    description:
      "Requires a user's token in the header `X-User-Token`, in addition to the API key. Callers without `manage` then reach only what belongs to that user.",
  });
export type AgentAuth = z.infer<typeof AgentAuth>;

/** The same without secrets, as responses show it. */
export const RedactedAuth = z
  .discriminatedUnion("type", [
    z.object({ ...oauth2, hasClientSecret: z.boolean() }),
    z.object({ type: z.literal("jwt"), hasPreviousSecret: z.boolean() }),
  ])
  .meta({ id: "RedactedAgentAuth", description: "User authentication of an agent, without its secrets." });
export type RedactedAuth = z.infer<typeof RedactedAuth>;
