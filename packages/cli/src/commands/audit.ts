import { auditSentence } from "../audit-sentence.ts";
import { command } from "../command.ts";
import { listOptions, pageOf } from "../list-options.ts";
import { omitUndefined } from "../omit-undefined.ts";
import { parseSince } from "../output/duration.ts";
import { printMore } from "../output/table.ts";

export const audit = command({
  name: "audit",
  summary: "Show who changed what, newest first. Needs a key that may manage.",
  details: "Names of fields are shown, never their values. Entries are kept for 400 days.",
  options: {
    limit: { type: "string", value: "N", help: "Maximum number of entries, up to 1000. Default: 20." },
    offset: listOptions.offset,
    since: { type: "string", value: "TIME", help: "A duration such as 2h, or a time such as 2026-01-31T12:00:00Z." },
    until: { type: "string", value: "TIME", help: "Only entries before this: a duration ago, or a time." },
    "by-key": { type: "string", value: "ID", help: "Only entries of this key." },
    operation: { type: "string", value: "ID", help: "Only this operation of the API, such as updateAgent." },
    resource: { type: "string", value: "ID", help: "Only this resource: its id, or a provider's name." },
    outcome: { type: "string", choices: ["changed", "refused"], help: "Only changes, or only refused requests." },
  },
  examples: ["perch audit --since 7d", "perch audit --outcome refused"],
  run: async ({ perch, terminal, show, time, signal }, _, options) => {
    const { since, until, operation, resource, outcome, limit = "20", offset } = options;
    const filter = omitUndefined({
      start_time: since === undefined ? undefined : parseSince("since", since),
      end_time: until === undefined ? undefined : parseSince("until", until),
      key_id: options["by-key"],
      operation,
      resource,
      outcome,
    });
    const page = pageOf({ limit, ...omitUndefined({ offset }) });
    const found = await perch().auditLog.list({ ...filter, ...page }, { signal });
    show(found, () => {
      if (found.data.length === 0) return terminal.note("No entries.");
      for (const entry of found.data)
        terminal.line(
          terminal.wrap(`${terminal.style("dim", time(entry.created_at))} ${terminal.safe(auditSentence(entry))}`, 4),
        );
      printMore(terminal, found.pagination, found.data.length);
    });
  },
});
