import type { LogEntry } from "@perch/sdk";
import { command } from "../command.ts";
import { given } from "../given.ts";
import { parseSince, parseWhole } from "../output/duration.ts";
import { coloured, time } from "../output/text.ts";
import type { Terminal } from "../terminal.ts";

export const logLevels = ["debug", "info", "warn", "error"] as const;

export function printLogEntry(terminal: Terminal, { timestamp, level, message, metadata }: LogEntry): void {
  const { request_id, ...rest } = metadata as Readonly<Record<string, unknown>>;
  const details = Object.entries(rest)
    .filter(([, value]) => value !== null && value !== undefined)
    .map(([name, value]) => `${name}=${typeof value === "string" ? value : JSON.stringify(value)}`);
  const tail = [...details, ...(request_id ? [String(request_id)] : [])].join(" ");
  terminal.line(
    `${time(timestamp)} ${coloured(terminal, level, 5)} ${message} ${terminal.style("dim", tail)}`.trimEnd(),
  );
}

export const logs = command({
  name: "logs",
  summary: "Show an agent's log, oldest first; --follow shows what comes.",
  details: "With --json one entry on each line.",
  args: ["agent"],
  options: {
    follow: { type: "boolean", short: "f", help: "Go on with new entries until ctrl-c." },
    level: { type: "string", choices: logLevels, help: "Only these." },
    since: { type: "string", value: "TIME", help: "2h, or 2026-01-31T12:00:00Z; the last 24 hours unless set." },
    limit: { type: "string", short: "n", value: "N", help: "How many of the newest; 100 unless set, at most 1000." },
    run: { type: "string", value: "ID", help: "Only those of this run." },
    environment: { type: "string", value: "NAME", help: "Only those of this environment." },
    "agent-version": { type: "string", value: "LABEL", help: "Only those of this version." },
    contains: { type: "string", help: "Only those with this in the message." },
  },
  examples: ["perch logs support --follow --level error", "perch logs support --since 15m"],
  run: async ({ perch, terminal, isJson, signal }, { agent }, options) => {
    const { follow, since, limit, level, run, environment, contains } = options;
    const filter = given({ level, request_id: run, environment, version: options["agent-version"], contains });
    const page = given({
      start_time: since === undefined ? undefined : parseSince("since", since),
      limit: limit === undefined ? undefined : parseWhole("limit", limit),
    });
    const print = (entry: LogEntry) => (isJson ? terminal.line(JSON.stringify(entry)) : printLogEntry(terminal, entry));
    const client = perch();
    const { data } = await client.logs.list(agent, { ...filter, ...page }, { signal });
    for (const entry of data.reverse()) print(entry);
    if (!follow) return;
    terminal.note(terminal.style("dim", "following; ctrl-c stops"));
    const shown = new Set(data.map((entry) => JSON.stringify(entry)));
    for await (const entry of client.logs.follow(agent, filter, { signal }))
      if (!shown.has(JSON.stringify(entry))) print(entry);
  },
});
