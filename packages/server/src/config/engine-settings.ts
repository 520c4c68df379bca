import { BlockList, isIP } from "node:net";
import { z } from "zod";
import { version } from "../platform/version.ts";
import { ConfigError } from "./config-error.ts";
import {
  commaList,
  httpUrl,
  httpUrls,
  onOrOff,
  type SettingTable,
  secretSetting,
  setting,
  type ValuesOf,
  wholeNumber,
} from "./setting.ts";

export const engineSettings = {
  ingressUrls: setting(
    "PERCH_RESTATE_INGRESS_URL",
    httpUrls("http://engine.example:8080")
      .default(["http://127.0.0.1:8080"])
      .describe("Ingress URL of Restate, the workflow engine. For several nodes, separate their URLs with commas."),
  ),
  adminUrls: setting(
    "PERCH_RESTATE_ADMIN_URL",
    httpUrls("http://engine.example:9070")
      .default(["http://127.0.0.1:9070"])
      .describe(
        "Admin URL of Restate, where workers register, and where API nodes ask for the releases and workers that they show to operators. For several nodes, separate their URLs with commas.",
      ),
  ),
  engineNodePorts: setting(
    "PERCH_RESTATE_NODE_PORTS",
    z
      .string()
      .default("5122")
      .transform((text) => text.split(","))
      .pipe(z.array(wholeNumber(1, 65_535)))
      .describe(
        "Ports at which the nodes of Restate reach one another, separated by commas, if not 5122. No setting of Restate tells them to Perch. Tools never reach them.",
      ),
  ),
  identityKeys: secretSetting(
    "PERCH_RESTATE_IDENTITY_KEYS",
    commaList.describe(
      "Public keys (publickeyv1_…) of the Restate servers that may call workers, separated by commas. If empty, any caller is accepted, so workers then start only on a loopback address or with PERCH_WORKER_NETWORK_CLOSED.",
    ),
  ),
  workerHost: setting(
    "PERCH_WORKER_HOST",
    z.string().default("127.0.0.1").describe("Address on which workers listen for Restate."),
  ),
  workerNetworkClosed: setting(
    "PERCH_WORKER_NETWORK_CLOSED",
    onOrOff
      .default(false)
      .describe(
        "Confirms that only Restate can reach the port of the workers. Allows workers without PERCH_RESTATE_IDENTITY_KEYS to listen on an address that is not loopback.",
      ),
  ),
  workerPort: setting(
    "PERCH_WORKER_PORT",
    wholeNumber(0, 65_535).default(7401).describe("Port on which workers listen for Restate."),
  ),
  workerUrl: setting(
    "PERCH_WORKER_URL",
    httpUrl("http://workers.example:7401")
      .transform((text) => text.replace(/\/+$/, ""))
      .optional()
      .describe(
        "URL at which Restate reaches the workers of this release, the same for all of them. The default is the worker's own host and port. Two releases may share it only if a balancer separates their paths: see docs/operations/running.md.",
      ),
  ),
  releaseName: setting(
    "PERCH_RELEASE",
    z
      .string()
      .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/, "must be up to 64 letters, digits, dots, hyphens and underscores")
      .optional()
      .describe(
        "Name of this release: no other release continues its runs. The default is the version. Set it for builds of your own.",
      ),
  ),
  oneStepRuns: setting(
    "PERCH_ONE_STEP_RUNS",
    onOrOff
      .default(true)
      .describe(
        "Whether workers answer runs that are one model call without Restate's SDK, which takes about half of their processor time. With `false`, the SDK handles every run.",
      ),
  ),
  drainSeconds: setting(
    "PERCH_DRAIN_SECONDS",
    wholeNumber(0, 86_400)
      .default(960)
      .describe(
        "How many seconds a stopped worker waits for runs of its release to end, if another release is active. A worker of the active release stops at once.",
      ),
  ),
  reconcileSeconds: setting(
    "PERCH_RECONCILE_SECONDS",
    wholeNumber(1, 3600)
      .default(300)
      .describe(
        "How often to look for work that is open in the database and that Restate has lost, and for run slots without a run.",
      ),
  ),
} satisfies SettingTable;

export const engineConfig = (values: ValuesOf<typeof engineSettings>) => ({
  ...values,
  release: values.releaseName ?? version,
});

const loopback = new BlockList();
loopback.addSubnet("127.0.0.0", 8);
loopback.addAddress("::1", "ipv6");

const isLoopback = (host: string): boolean =>
  host === "localhost" || (isIP(host) !== 0 && loopback.check(host, isIP(host) === 6 ? "ipv6" : "ipv4"));

/** Any client that reaches a worker without identity keys can run any agent in the name of any organisation. */
export function refuseOpenWorker({
  workerHost,
  identityKeys,
  workerNetworkClosed,
}: Pick<ValuesOf<typeof engineSettings>, "workerHost" | "identityKeys" | "workerNetworkClosed">): void {
  if (identityKeys.length > 0 || workerNetworkClosed || isLoopback(workerHost)) return;
  throw new ConfigError(
    `PERCH_WORKER_HOST is ${workerHost}, where others than the engine can reach this worker, and no identity key says who the engine is.\n` +
      "Give the engine a private key for its requests, and set PERCH_RESTATE_IDENTITY_KEYS to its public key. " +
      "If only the engine can reach the worker's port, set PERCH_WORKER_NETWORK_CLOSED=true instead.\n" +
      "See docs/operations/running.md.",
  );
}
