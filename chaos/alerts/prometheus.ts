import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "@perch/testkit/installation/server-process.ts";
import { waitUntil } from "@perch/testkit/services/commands.ts";
import { isOk } from "../is-ok.ts";
import type { RuleFile } from "./alert-rules.ts";

export interface Prometheus {
  /** Replaces the targets. */
  readonly watch: (ports: readonly number[]) => void;
  /** The state of each alert that is not inactive, by its name. */
  readonly states: () => Promise<ReadonlyMap<string, "pending" | "firing">>;
  /** How many series a query finds. */
  readonly count: (query: string) => Promise<number>;
  readonly stop: () => Promise<void>;
}

interface ActiveAlert {
  readonly labels: { readonly alertname: string };
  readonly state: "pending" | "firing";
}

function toConfig(folder: string, scrapeMs: number) {
  return {
    global: { scrape_interval: `${scrapeMs}ms`, scrape_timeout: `${scrapeMs}ms`, evaluation_interval: "500ms" },
    rule_files: [join(folder, "rules.yaml")],
    scrape_configs: [{ job_name: "watched", file_sd_configs: [{ files: [join(folder, "targets.json")] }] }],
  };
}

/** Starts Prometheus with these rules, and without targets. */
export async function startPrometheus(rules: RuleFile, scrapeMs: number): Promise<Prometheus> {
  const folder = mkdtempSync(join(tmpdir(), "perch-prometheus-"));
  const write = (name: string, content: unknown) => {
    // In one step: Prometheus reads a file as soon as it changes.
    writeFileSync(join(folder, `${name}.new`), JSON.stringify(content));
    renameSync(join(folder, `${name}.new`), join(folder, name));
  };
  const watch = (ports: readonly number[]) =>
    write("targets.json", [{ targets: ports.map((port) => `127.0.0.1:${port}`) }]);
  write("rules.yaml", rules);
  write("prometheus.yaml", toConfig(folder, scrapeMs));
  watch([]);
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const args = [
    `--config.file=${join(folder, "prometheus.yaml")}`,
    `--storage.tsdb.path=${join(folder, "data")}`,
    `--web.listen-address=127.0.0.1:${port}`,
    "--log.level=warn",
  ];
  const child = spawn("prometheus", args, { stdio: ["ignore", "ignore", "inherit"] });
  const exited = once(child, "exit");
  exited.catch(() => undefined);
  const stop = async () => {
    child.kill("SIGKILL");
    await exited;
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  };
  if (!(await waitUntil(() => isOk(`${url}/-/ready`), 30))) {
    await stop();
    throw new Error("Prometheus is not ready after 30 s");
  }
  const ask = async <T>(path: string): Promise<T> => {
    const response = await fetch(`${url}/api/v1/${path}`, { signal: AbortSignal.timeout(5000) });
    const answer = (await response.json()) as { readonly data: T; readonly error?: string };
    if (!response.ok) throw new Error(`Prometheus refuses ${path}: ${answer.error}`);
    return answer.data;
  };
  return {
    watch,
    states: async () => {
      const { alerts } = await ask<{ readonly alerts: readonly ActiveAlert[] }>("alerts");
      const firing = alerts.filter(({ state }) => state === "firing");
      return new Map([...alerts, ...firing].map(({ labels, state }) => [labels.alertname, state]));
    },
    count: async (query) => {
      const { result } = await ask<{ readonly result: readonly unknown[] }>(`query?query=${encodeURIComponent(query)}`);
      return result.length;
    },
    stop,
  };
}
