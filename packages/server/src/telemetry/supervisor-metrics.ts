import { Counter, Registry } from "prom-client";

/** A series begins with the name of its metric, and then has labels or a value. */
function withProcess(series: string, name: string): string {
  const at = series.search(/[{ ]/);
  const [metric, rest] = [series.slice(0, at), series.slice(at)];
  return rest.startsWith("{") ? `${metric}{process="${name}",${rest.slice(1)}` : `${metric}{process="${name}"}${rest}`;
}

/**
 * The metrics of several processes as one text: each family once, with the series of all. `process` says whose a series is, so that
 * none of them is there twice.
 */
export function mergeMetrics(texts: ReadonlyMap<string, string>): string {
  const families = new Map<string, string[]>();
  for (const [name, text] of texts) {
    for (const family of text.split(/^(?=# HELP )/m).filter(Boolean)) {
      const lines = family.split("\n").filter((line) => line !== "");
      const isAbout = (line: string): boolean => line.startsWith("#");
      const head = lines.filter(isAbout).join("\n");
      const series = lines.filter((line) => !isAbout(line)).map((line) => withProcess(line, name));
      families.set(head, [...(families.get(head) ?? []), ...series]);
    }
  }
  return [...families].map(([head, series]) => `${[head, ...series].join("\n")}\n`).join("\n");
}

/** The metrics of a process that runs others: theirs and its own. */
export function createSupervisorMetrics(processes: readonly string[]) {
  const registry = new Registry();
  const restarts = new Counter({
    name: "perch_process_restarts_total",
    help: "How often `all` started one of its processes again, because it had died.",
    labelNames: ["process"],
    registers: [registry],
  });
  for (const process of processes) restarts.inc({ process }, 0);
  return {
    restarted: (process: string) => restarts.inc({ process }),
    /** With the texts of the processes, by name. */
    read: async (texts: ReadonlyMap<string, string>) => ({
      contentType: registry.contentType,
      text: `${mergeMetrics(texts)}\n${await registry.metrics()}`,
    }),
  };
}
