import { z } from "zod";
import { onOrOff, type SettingTable, setting, wholeNumber } from "./setting.ts";

export const webhookSettings = {
  webhookRetryDelaySeconds: setting(
    "PERCH_WEBHOOK_RETRY_DELAY_SECONDS",
    z
      .string()
      .default("5,30,120,900,3600,10800,28800,86400,129600")
      .transform((text) => text.split(",").map(Number))
      .refine(
        (list) => list.length <= 50 && list.every((seconds) => seconds > 0 && seconds <= 7 * 86_400),
        "must be up to 50 numbers of seconds, separated by commas",
      )
      .describe(
        "Delays between the attempts of a webhook delivery, in seconds, separated by commas. There is one attempt more than there are delays. The default makes 10 attempts over 3 days.",
      ),
  ),
  webhookTimeoutSeconds: setting(
    "PERCH_WEBHOOK_TIMEOUT_SECONDS",
    wholeNumber(1, 60)
      .default(10)
      .describe("A delivery attempt fails if the webhook's receiver has not answered after this long."),
  ),
  webhookSweepIntervalSeconds: setting(
    "PERCH_WEBHOOK_SWEEP_INTERVAL_SECONDS",
    wholeNumber(1, 3600)
      .default(30)
      .describe("How often to look for deliveries that were recorded but not handed to Restate."),
  ),
  webhookAllowLoopback: setting(
    "PERCH_WEBHOOK_ALLOW_LOOPBACK",
    onOrOff
      .default(false)
      .describe(
        "For development: allows webhooks at loopback addresses, also with plain http. All other addresses need https.",
      ),
  ),
} satisfies SettingTable;
