import { z } from "zod";
import { commaList, type SettingTable, setting, wholeNumber } from "./setting.ts";

const urlList = z
  .string()
  .transform((text) => text.split(",").map((item) => item.trim().replace(/\/$/, "")))
  .refine((list) => list.every((item) => URL.canParse(item)), "must be addresses, separated by commas");

export const engineSettings = {
  ingressUrls: setting(
    "PERCH_RESTATE_INGRESS_URL",
    urlList
      .default(["http://127.0.0.1:8080"])
      .describe("Ingress URL of Restate, the workflow engine. For several nodes, separate their URLs with commas."),
  ),
  adminUrls: setting(
    "PERCH_RESTATE_ADMIN_URL",
    urlList
      .default(["http://127.0.0.1:9070"])
      .describe("Admin URL of Restate, where workers register. For several nodes, separate their URLs with commas."),
  ),
  identityKeys: setting(
    "PERCH_RESTATE_IDENTITY_KEYS",
    commaList.describe(
      "Public keys (publickeyv1_…) of the Restate servers that may call workers, separated by commas. If empty, any caller is accepted.",
    ),
  ),
  workerHost: setting(
    "PERCH_WORKER_HOST",
    z.string().default("127.0.0.1").describe("Address on which workers listen for Restate."),
  ),
  workerPort: setting(
    "PERCH_WORKER_PORT",
    wholeNumber(0, 65_535).default(7401).describe("Port on which workers listen for Restate."),
  ),
  workerUrl: setting(
    "PERCH_WORKER_URL",
    z
      .url()
      .optional()
      .describe(
        "URL at which Restate reaches the workers of this release, the same for all of them. The default is the worker's own host and port. Each release needs its own URL, because a run ends on the release that it started on.",
      ),
  ),
} satisfies SettingTable;
