import { OrganisationId, Role } from "@perch/contract";
import { z } from "zod";
import { ConfigError, seeSettingsPage } from "./config-error.ts";
import { httpUrl, parsedJson, type SettingTable, secretSetting, type ValuesOf } from "./setting.ts";

const loopback = /^http:\/\/(localhost|127\.\d+\.\d+\.\d+|\[::1\])(:\d+)?(\/|$)/i;

const Issuer = httpUrl("https://login.example")
  .max(1024)
  .refine(
    (text) => text.startsWith("https://") || loopback.test(text),
    "must begin with https:// (http only for localhost): tokens and the client's secret are sent there",
  )
  .refine(
    (text) => !/[?#]/.test(text),
    "must be the issuer as it names itself, without a query and without the path of its discovery document",
  );

/** RFC 6749, appendix A.4. */
const Scope = z.string().regex(/^[\x21\x23-\x5b\x5d-\x7e]{1,256}$/, "must be a scope, without spaces and quotes");

const GroupMapping = z.strictObject({
  group: z.string().min(1).max(512),
  organisation: OrganisationId,
  role: Role,
  /** No role includes the permission to decide on approvals. */
  approve: z.boolean().optional(),
});

const OpenIdIssuer = z.strictObject({
  issuer: Issuer,
  client_id: z.string().min(1).max(512),
  /** Without it, Perch is a public client, and only PKCE protects the code. */
  client_secret: z.string().min(1).max(1024).optional(),
  name: z.string().trim().min(1).max(40).default("single sign-on"),
  scopes: z
    .array(Scope)
    .max(32)
    .refine((list) => list.includes("openid"), "must include openid")
    .default(["openid", "profile", "email"]),
  groups_claim: z.string().min(1).max(256).default("groups"),
  groups: z.array(GroupMapping).min(1, "must map at least one group: without it, no person could sign in").max(10_000),
});

export type GroupMapping = Readonly<z.infer<typeof GroupMapping>>;
export type OpenIdIssuer = Readonly<z.infer<typeof OpenIdIssuer>>;

export const signInSettings = {
  oidc: secretSetting(
    "PERCH_OIDC",
    parsedJson
      .pipe(OpenIdIssuer)
      .optional()
      .describe(
        "The OpenID Connect issuer where people sign in to the console, as JSON: `issuer`, `client_id`, `client_secret`, `name`, `scopes`, `groups_claim` and `groups`. Needs PERCH_PUBLIC_URL. See docs/operations/sign-in.md.",
      ),
  ),
} satisfies SettingTable;

/** The issuer sends people back to the public address, so there must be one. */
export function signInConfig(values: ValuesOf<typeof signInSettings>, publicUrl: string | undefined) {
  if (values.oidc && publicUrl === undefined)
    throw new ConfigError(
      `PERCH_OIDC needs PERCH_PUBLIC_URL: the issuer sends people back there. Set it to the origin at which browsers reach the console, such as https://perch.example.\n${seeSettingsPage}`,
    );
  return values;
}
