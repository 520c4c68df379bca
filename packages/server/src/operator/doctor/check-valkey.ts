import { placeOf } from "../../compose/own-endpoints.ts";
import type { UsableSettings } from "../../config/config.ts";
import { probeValkey } from "../../limits/probe-valkey.ts";
import { healthChecks } from "../../platform/health-checks.ts";
import { beginCheck, type Check, failed, limitMs, ok, unreadable } from "./check.ts";

const refusesLogin = /^(NOAUTH|WRONGPASS|NOPERM)\b/;

function explainValkey(error: unknown, place: string): string {
  const { message, code } = error as Error & { readonly code?: string };
  return refusesLogin.test(message)
    ? `Valkey at ${place} refuses the user or the password (${message}). Correct PERCH_VALKEY_URL.`
    : `Valkey does not answer at ${place} (${code ?? message}). ${healthChecks.valkey.advice}`;
}

export function checkValkey(settings: UsableSettings): Check {
  const { valkeyUrl: url } = settings;
  return beginCheck(
    "valkey",
    async () => {
      if (!("valkeyUrl" in settings)) return unreadable("valkey");
      if (url === undefined)
        return ok("PERCH_VALKEY_URL is not set: enough for one process that runs `all`, not for more");
      const { server, isReplica } = await probeValkey(url, limitMs - 1000);
      return isReplica
        ? failed(
            `${server} at ${placeOf(url)} is a replica and takes no writes. Point PERCH_VALKEY_URL at the primary.`,
          )
        : ok(`${server} at ${placeOf(url)}`);
    },
    (error) => (url === undefined ? undefined : explainValkey(error, placeOf(url))),
  );
}
