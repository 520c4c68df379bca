/** Variables with our prefix that are no settings of the server, by who reads them. A server's environment may have them. */
const others = {
  "the CLI and the SDKs": ["PERCH_URL", "PERCH_API_KEY", "PERCH_PROFILE", "PERCH_LOG"],
  "the examples of receivers and remote agents": ["PERCH_WEBHOOK_SECRET", "PERCH_ORGANISATION"],
  "pnpm services and the tests, which write .services/env": ["PERCH_DATABASE_ADMIN_URL", "PERCH_SERVICES_PORT_BASE"],
  "tests and benchmarks, for how much they do": [
    "PERCH_BALANCER_WAIT_SECONDS",
    "PERCH_BENCH_DAYS",
    "PERCH_BENCH_EVENTS_PER_SECOND",
    "PERCH_BENCH_MEMORIES",
    "PERCH_BENCH_RUNS_PER_DAY",
    "PERCH_DOCS_PAGE",
    "PERCH_ERASURE_ACTS",
    "PERCH_ERASURE_RECORDS",
    "PERCH_ERASURE_USERS",
    "PERCH_FAULT_INVOCATIONS",
    "PERCH_FREEZE_SECONDS",
    "PERCH_FUZZ_REQUESTS",
    "PERCH_FUZZ_SEED",
    "PERCH_MIGRATION_KILLS",
    "PERCH_OUTSIDE_RUNS",
    "PERCH_RECONCILE_LOAD_SECONDS",
    "PERCH_SCREENSHOT",
    "PERCH_STORM_OPERATIONS",
  ],
  "the checks of the Helm chart": ["PERCH_HELM"],
  "the checks of the Python SDK": ["PERCH_NODE", "PERCH_PYTHON"],
} as const;

export const otherVariables: ReadonlySet<string> = new Set(Object.values(others).flat());

/** What Kubernetes sets in every pod for a service whose name starts with `perch`. */
const serviceLink = /^PERCH_(.+_)?(SERVICE_HOST|SERVICE_PORT(_.+)?|PORT_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)$/;

export const isServiceLink = (variable: string, value: string): boolean =>
  serviceLink.test(variable) || (variable.endsWith("_PORT") && value.includes("://"));
