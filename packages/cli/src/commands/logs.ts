import type { LogEntry } from "@perch/sdk";
import { command } from "../command.ts";
import { omitUndefined } from "../omit-undefined.ts";
import { parseSince, parseWhole } from "../output/duration.ts";
import { logLine } from "../output/log-line.ts";
import { jsonText } from "../output/safe-text.ts";

export const logLevels = ["debug", "info", "warn", "error"] as const;

export const logs = command({
  name: "logs",
  summary: "Show an agent's log, oldest first. --follow streams new entries.",
  details: "--json prints one entry per line.",
  args: ["agent"],
  options: {
    follow: { type: "boolean", short: "f", help: "Stream new entries until ctrl-c." },
    level: { type: "string", choices: logLevels, help: "Only entries of this level." },
    since: {
      type: "string",
      value: "TIME",
      help: "A duration such as 2h, or a time such as 2026-01-31T12:00:00Z. Default: 24h.",
    },
    limit: { type: "string", short: "n", value: "N", help: "Maximum number of entries, up to 1000. Default: 100." },
    run: { type: "string", value: "ID", help: "Only entries of this run." },
    environment: { type: "string", value: "NAME", help: "Only entries of this environment." },
    "agent-version": { type: "string", value: "LABEL", help: "Only entries of this version." },
    contains: { type: "string", help: "Only entries whose message contains this text." },
  },
  examples: ["perch logs support --follow --level error", "perch logs support --since 15m"],
  run: async ({ perch, terminal, isJson, signal, time }, { agent }, options) => {
    const { follow, since, limit, level, run, environment, contains } = options;
    const filter = omitUndefined({ level, request_id: run, environment, version: options["agent-version"], contains });
    const page = omitUndefined({
      start_time: since === undefined ? undefined : parseSince("since", since),
      limit: limit === undefined ? undefined : parseWhole("limit", limit),
    });
    const print = (entry: LogEntry) =>
      isJson ? terminal.line(jsonText(entry)) : terminal.line(logLine(terminal, time, entry));
    const client = perch();
    const { data } = await client.logs.list(agent, { ...filter, ...page }, { signal });
    for (const entry of data.reverse()) print(entry);
    if (data.length === 0 && !isJson)
      terminal.note(
        `No entries${Object.keys(filter).length > 0 ? " with these options" : ""} ${since === undefined ? "in the last 24 hours" : "in that time"}.`,
      );
    if (!follow) return;
    terminal.note(terminal.style("dim", "following; ctrl-c stops"));
    const shown = new Set(data.map((entry) => JSON.stringify(entry)));
    for await (const entry of client.logs.follow(agent, filter, { signal }))
      if (!shown.has(JSON.stringify(entry))) print(entry);
  },
});
