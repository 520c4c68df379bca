import { readFileSync } from "node:fs";
import { AgentAuth, SecuritySettings } from "@perch/contract";
import { z } from "zod";
import { ConfigError } from "./config-error.ts";
import { commaList, parsedJson, type SettingTable, secretSetting, type ValuesOf } from "./setting.ts";

const MasterKey = z
  .string({ error: "is missing: 32 random bytes in base64, as `openssl rand -base64 32` makes them" })
  .trim()
  .refine((text) => /^[A-Za-z0-9+/]{43}=$/.test(text), "must be 32 bytes in base64: openssl rand -base64 32")
  .transform((text) => Buffer.from(text, "base64"));

const FilePath = z.string().min(1).max(1024);

/** The settings that agents have as `security` and `auth`, for all requests, and those that only a server has. */
const InstanceSecurity = z.strictObject({
  enforceHttps: SecuritySettings.shape.enforceHttps,
  hsts: SecuritySettings.shape.hsts,
  ipWhitelist: SecuritySettings.shape.ipWhitelist,
  mfa: SecuritySettings.shape.mfa,
  mtls: z.strictObject({ enabled: z.boolean(), caCert: FilePath }).optional(),
  auth: AgentAuth.optional(),
  tls: z.strictObject({ cert: FilePath, key: FilePath }).optional(),
  certificates: FilePath.optional(),
});

export const securitySettings = {
  masterKey: secretSetting(
    "PERCH_MASTER_KEY",
    MasterKey.describe(
      "32 random bytes in base64. It encrypts the keys that protect all secrets. If it is lost, so is everything that is stored encrypted, and no server starts on this database.",
    ),
  ),
  previousMasterKeys: secretSetting(
    "PERCH_PREVIOUS_MASTER_KEYS",
    commaList
      .pipe(z.array(MasterKey))
      .describe("Previous master keys, separated by commas. Needed until `rotate-master-key` has run."),
  ),
  security: secretSetting(
    "PERCH_SECURITY",
    parsedJson
      .pipe(InstanceSecurity)
      .default({})
      .describe(
        "Security settings for all requests except /healthz and /readyz, as JSON. See docs/security/settings.md.",
      ),
  ),
} satisfies SettingTable;

export const securityConfig = (values: ValuesOf<typeof securitySettings>) => ({
  ...values,
  /** Certificate and key in PEM, if the API itself terminates TLS. */
  tls: readTls(values.security.tls),
});

interface Tls {
  readonly cert: Buffer;
  readonly key: Buffer;
}

function readTls(files: { readonly cert: string; readonly key: string } | undefined): Tls | undefined {
  if (!files) return undefined;
  try {
    return { cert: readFileSync(files.cert), key: readFileSync(files.key) };
  } catch (error) {
    throw new ConfigError(`PERCH_SECURITY names files that cannot be read: ${(error as Error).message}`);
  }
}
