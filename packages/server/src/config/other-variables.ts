/**
 * Variables with our prefix that are not settings of the server, by their reader. A server's environment may have them.
 */
const others = {
  "the CLI and the SDKs": ["PERCH_URL", "PERCH_API_KEY", "PERCH_PROFILE", "PERCH_LOG"],
  "the examples of receivers and remote agents": ["PERCH_WEBHOOK_SECRET", "PERCH_ORGANISATION"],
  "pnpm services and the tests, which write .services/env": ["PERCH_DATABASE_ADMIN_URL", "PERCH_SERVICES_PORT_BASE"],
} as const;

export const otherVariables: ReadonlySet<string> = new Set(Object.values(others).flat());

/** Variables that Kubernetes sets in every pod for a service whose name starts with `perch`. */
const serviceLink = /^PERCH_(.+_)?(SERVICE_HOST|SERVICE_PORT(_.+)?|PORT_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)$/;

export const isServiceLink = (variable: string, value: string): boolean =>
  serviceLink.test(variable) || (variable.endsWith("_PORT") && value.includes("://"));
