import { z } from "zod";
import { wholeSecretName } from "./secret-references.ts";

const isLoopback = (text: string): boolean => /^http:\/\/(127\.0\.0\.1|localhost|\[::1\])([:/]|$)/i.test(text);

/**
 * An OAuth address, to which tokens and codes are sent. It must be encrypted, except for tests on the local machine.
 */
export const SecureUrl = z
  .url({ protocol: /^https?$/, error: "Expected an https address" })
  .max(2048)
  .refine((text) => !/^https?:[\\/]*[^\\/?#]*@/i.test(text), "Must not contain a user name or password")
  .refine((text) => /^https:/i.test(text) || isLoopback(text), "Expected an https address; http is for loopback alone")
  .refine((text) => !text.includes("#"), "Must not contain a fragment");

const Issuer = SecureUrl.refine((text) => !text.includes("?"), "An issuer has no query").describe(
  "URL of the authorization server. Left out: the tool's server names it in its protected-resource metadata (RFC 9728).",
);

const ClientSecret = z
  .string()
  .max(128)
  .refine((text) => wholeSecretName(text) !== undefined, "Refer to a secret: {{secret.name}}")
  .describe(
    "`{{secret.name}}`: a secret whose `hosts` name the authorization server's token endpoint. Left out: a public client.",
  );

/** As RFC 6749 has it. */
export const scopePattern = /^[\x21\x23-\x5b\x5d-\x7e]{1,256}$/;
export const maxScopes = 64;

const Scopes = z
  .array(z.string().regex(scopePattern, "Expected a scope without spaces or quotes"))
  .max(maxScopes)
  .describe("Scopes to ask for. Left out: those that the tool's server names, if it names any.");

const Resource = SecureUrl.describe(
  "What the tokens are for (RFC 8707). The default is the `url` of an MCP server, and what its metadata says of an HTTP tool.",
);

/** Parameters that Perch adds to the address. Two of the same name would be ambiguous. */
const addedParameters = ["code", "connection_id", "error"];
const hasOwnParameters = (text: string): boolean =>
  !(URL.canParse(text) && addedParameters.some((name) => new URL(text).searchParams.has(name)));

const ReturnUrls = z
  .array(SecureUrl.refine(hasOwnParameters, "Leave out `code`, `connection_id` and `error`, which Perch adds"))
  .min(1)
  .max(8)
  .refine((urls) => new Set(urls).size === urls.length, "An address is named twice")
  .describe(
    "Addresses of your application that a person may return to, with a code to confirm. `return_url` must equal one of them.",
  );

const ClientId = z.string().regex(/^[\x21-\x7e]{1,512}$/, "Use 1 to 512 printable ASCII characters without spaces");

const shared = { issuer: Issuer.optional(), scopes: Scopes.optional(), resource: Resource.optional() };

/** With which account a tool is called. A call carries an access token of it as `Authorization: Bearer`. */
export const ToolConnection = z
  .discriminatedUnion("account", [
    z
      .strictObject({
        account: z.literal("user").describe("The account of the run's own user, who has consented to it."),
        ...shared,
        client_id: ClientId.optional().describe(
          "Your client at the authorization server. Left out: Perch presents a client id metadata document, or registers itself where the server offers only that.",
        ),
        client_secret: ClientSecret.optional(),
        return_urls: ReturnUrls,
      })
      .refine(({ client_id, client_secret }) => client_secret === undefined || client_id !== undefined, {
        path: ["client_secret"],
        error: "A `client_secret` belongs to a `client_id`: give both",
      }),
    z.strictObject({
      account: z.literal("agent").describe("The agent's own account, by client credentials. No user is asked."),
      ...shared,
      client_id: ClientId,
      client_secret: ClientSecret,
    }),
  ])
  .meta({ id: "ToolConnection", description: "The OAuth account that the tool is called with." });
export type ToolConnection = z.infer<typeof ToolConnection>;
export type UserConnection = Extract<ToolConnection, { account: "user" }>;

/** The two would contradict each other. */
export const hasOneLogin = ({
  headers = {},
  connection,
}: {
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly connection?: ToolConnection | undefined;
}): boolean => !(connection && Object.keys(headers).some((name) => name.toLowerCase() === "authorization"));
export const oneLogin = {
  path: ["headers"],
  error: "A tool with a `connection` gets its `Authorization` header from it: leave the header out",
};
