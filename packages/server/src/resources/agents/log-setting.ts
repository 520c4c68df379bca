import { agentDefaults, type LogSetting, logSettings } from "@perch/contract";

/** While releases are mixed, a node of the earlier one that changes another field spreads the word into its letters. */
const wordOf = (logs: unknown): unknown =>
  typeof logs === "object" && logs !== null && !("messages" in logs) ? Object.values(logs).join("") : logs;

/**
 * How much of its runs' contents an agent shows. Definitions that were stored before the setting was a word have an
 * object, `{ messages: boolean }`, or nothing. `byDefault` is the installation's meaning of the default, `shapes`.
 */
export function logSettingOf(
  { logs }: { readonly logs?: unknown },
  byDefault: LogSetting = agentDefaults.logs,
): LogSetting {
  const word = wordOf(logs);
  const known = logSettings.find((setting) => setting === word);
  if (known) return known === agentDefaults.logs ? byDefault : known;
  const { messages = false } = typeof logs === "object" && logs !== null ? (logs as { messages?: unknown }) : {};
  return messages === true ? "full" : byDefault;
}
