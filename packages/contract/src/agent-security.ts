import { z } from "zod";

const Address = z.union([z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6()], "Expected an IP address or a CIDR range");
const FilePath = z.string().min(1).max(1024);
const CalledHost = z
  .string()
  .max(253)
  .regex(
    /^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/,
    "Expected the name of a host in lower case, without scheme and port, such as api.stripe.com",
  );
const maxFloorEntries = 100;

/** Stored outside versions, so that no version can make these calls without a person. */
const ApprovalFloor = z
  .strictObject({
    tools: z
      .array(z.string().min(1).max(128))
      .max(maxFloorEntries)
      .optional()
      .describe(
        "Names of tools: that of an HTTP tool, of an MCP server for all of its tools, or a server's own name for one tool.",
      )
      .meta({ example: ["refund"] }),
    hosts: z
      .array(CalledHost)
      .max(maxFloorEntries)
      .optional()
      .describe("Hosts: calls of HTTP tools and MCP servers there, on any port. There are no wildcards.")
      .meta({ example: ["api.stripe.com"] }),
  })
  .describe(
    "Calls that a person must approve, whatever a version says. A version can only ask for more: more approvers, a second factor, or another time to decide.",
  );

/** Authentication 6 of the specification, in its own spelling, and `approvals`. A block is given whole; they only tighten. */
export const SecuritySettings = z
  .strictObject({
    ipWhitelist: z.strictObject({ enabled: z.boolean(), addresses: z.array(Address).max(1000) }),
    mtls: z.strictObject({ enabled: z.boolean(), clientCert: FilePath, clientKey: FilePath, caCert: FilePath }),
    enforceHttps: z.boolean(),
    hsts: z.strictObject({ enabled: z.boolean(), maxAge: z.int().min(0).describe("Seconds.") }),
    rateLimit: z.strictObject({
      enabled: z.boolean(),
      requests: z.int().min(1).max(1_000_000),
      window: z.string().regex(/^[1-9]\d{0,5}[smhd]$/, "Expected a duration such as 30s, 1m or 1h"),
    }),
    mfa: z.strictObject({ enabled: z.boolean(), operations: z.array(z.enum(["delete", "update"])).max(2) }),
    approvals: ApprovalFloor,
  })
  .partial()
  .meta({ id: "SecuritySettings" });
export type SecuritySettings = z.infer<typeof SecuritySettings>;

export const SecuritySettingsPatch = z
  .strictObject(
    Object.fromEntries(
      Object.entries(SecuritySettings.shape).map(([name, block]) => [name, block.unwrap().nullable().optional()]),
    ) as {
      [K in keyof SecuritySettings]-?: z.ZodOptional<
        z.ZodNullable<ReturnType<(typeof SecuritySettings.shape)[K]["unwrap"]>>
      >;
    },
  )
  .meta({ id: "SecuritySettingsPatch" });
