import { z } from "zod";
import { AddressRanges, commaList, onOrOff, type SettingTable, setting, wholeNumber } from "./setting.ts";

const isOrigin = (text: string) => URL.canParse(text) && new URL(text).origin === text;

const loopback = /^http:\/\/(localhost|127\.\d+\.\d+\.\d+|\[::1\])(:\d+)?$/;

const hostPattern = /^(?:[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?|\[[0-9a-f:.]+\])$/;

const PublicUrl = z
  .string()
  .transform((text) => text.replace(/\/$/, ""))
  .refine(
    (text) => isOrigin(text) && (text.startsWith("https://") || loopback.test(text)),
    "must be an origin such as https://perch.example, without a path (http only for localhost)",
  );

export const apiSettings = {
  host: setting("PERCH_HOST", z.string().default("127.0.0.1").describe("Address on which the API listens.")),
  port: setting("PERCH_PORT", wholeNumber(0, 65_535).default(7400).describe("Port on which the API listens.")),
  publicUrl: setting(
    "PERCH_PUBLIC_URL",
    PublicUrl.optional().describe(
      "Origin at which others reach the API, such as https://perch.example. Signed calls name it as the place of the public keys, and links begin with it, so workers need it too. Users can connect accounts only if it is set.",
    ),
  ),
  trustedProxies: setting(
    "PERCH_TRUSTED_PROXIES",
    AddressRanges.describe(
      "Proxies whose X-Forwarded-* and Client-Cert headers are trusted: IP addresses or CIDR ranges, separated by commas. None by default.",
    ),
  ),
  corsOrigins: setting(
    "PERCH_CORS_ORIGINS",
    commaList
      .refine((list) => list.every(isOrigin), "must be origins such as https://app.example, separated by commas")
      .describe("Origins that may call the API from a browser (CORS), separated by commas. None by default."),
  ),
  securityContact: setting(
    "PERCH_SECURITY_CONTACT",
    z
      .url({ protocol: /^(https|mailto|tel)$/, error: "must be an address such as mailto:security@perch.example" })
      .optional()
      .describe(
        "Where to report a weakness of this installation, such as mailto:security@perch.example. Served at /.well-known/security.txt; without it there is no such file.",
      ),
  ),
  console: setting(
    "PERCH_CONSOLE",
    onOrOff.default(true).describe("Whether this node serves the web console under /console."),
  ),
  allowedHosts: setting(
    "PERCH_ALLOWED_HOSTS",
    commaList
      .transform((list) => list.map((name) => name.toLowerCase()))
      .refine(
        (list) => list.every((name) => hostPattern.test(name)),
        "must be names such as perch.example or 127.0.0.1, without a port, separated by commas",
      )
      .describe(
        "Names in the header `Host` that the API answers for, without a port, separated by commas; all others get 403, except for /healthz and /readyz. Any by default. Set it for a server that listens on loopback, against DNS rebinding.",
      ),
  ),
  draftByDefault: setting(
    "PERCH_DRAFT_BY_DEFAULT",
    onOrOff
      .default(false)
      .describe(
        "For development: a request to invoke that names neither an environment nor a version runs the agent's draft, even if a version is deployed.",
      ),
  ),
  unauthenticatedRequestsPerMinute: setting(
    "PERCH_UNAUTHENTICATED_REQUESTS_PER_MINUTE",
    wholeNumber(1, 1_000_000)
      .default(300)
      .describe("Maximum number of requests per minute from one IP address without a valid API key."),
  ),
} satisfies SettingTable;
