import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { childrenOf } from "@perch/testkit/installation/child-processes.ts";
import { type AlertCase, repeat } from "../alert-case.ts";

/** Parts that are down, silent or slow. */
export const partCases: readonly AlertCase[] = [
  {
    fault: "the API node is killed",
    fires: {
      PerchProcessDown: "Start the process again.",
      PerchNoApiNode: "Otherwise start the API nodes.",
    },
    isShort: true,
    cause: async ({ api }) => {
      await api.kill();
      return { repair: api.start };
    },
  },
  {
    fault: "the worker of `all` is killed",
    fires: { PerchProcessRestarts: "Read the last lines of its log before it died." },
    cause: async ({ startAllOf }) => {
      const all = await startAllOf("beside");
      const isWorker = (pid: number) => readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0").includes("work");
      const worker = childrenOf(all.pid() ?? 0).find(isWorker);
      if (worker === undefined) throw new Error("`all` has no process for the worker");
      // Two scrapes know it alive.
      await sleep(3000);
      process.kill(worker, "SIGKILL");
      return { repair: all.stop };
    },
  },
  {
    fault: "Valkey is killed",
    fires: { PerchDependencyDown: "start that part again" },
    cause: async ({ valkey }) => {
      await valkey.kill();
      return { repair: valkey.start };
    },
  },
  {
    fault: "one of three engine nodes is stopped, its ports stay open",
    fires: { PerchEngineNodeDown: "end its process and start it again" },
    cause: async ({ engine }) => {
      const node = engine.nodes.at(-1);
      const pid = node?.pid();
      if (!node || pid === undefined) throw new Error("The engine has no node");
      process.kill(pid, "SIGSTOP");
      return {
        repair: async () => {
          await node.kill();
          await node.start();
        },
      };
    },
  },
  {
    fault: "all engine nodes are killed while agents are invoked and deployed",
    fires: {
      PerchEngineFailures: "If `PerchDependencyDown` or `PerchEngineNodeDown` fires, begin there.",
      PerchEngineTasksWaiting: "Tasks are sent within about 30 seconds after the engine is back.",
    },
    cause: async ({ engine, tenant }) => {
      await tenant.post("agents", { name: "deployed", model: "perch/echo" });
      await Promise.all(engine.nodes.map((node) => node.kill()));
      await tenant.post("agents/deployed/deployments", { environment: "production", version: "one" });
      const end = repeat(200, () => tenant.start("deployed"));
      return { repair: () => Promise.all(engine.nodes.map((node) => node.start())), end };
    },
  },
  {
    fault: "PostgreSQL crashes",
    fires: { PerchHighErrorRate: "If `PerchDependencyDown` fires too, begin there." },
    cause: async ({ postgres, tenant }) => {
      const end = repeat(200, () => tenant.call("GET", "agents"));
      await postgres.crash();
      return { repair: postgres.start, end };
    },
  },
  {
    fault: "PostgreSQL stands still for 1.3 s, again and again",
    fires: { PerchHighLatency: "look at PostgreSQL: its CPU, its disk, and what it waits for." },
    cause: async ({ postgres, tenant }) => {
      const end = repeat(100, () => tenant.call("GET", "agents"));
      const stopped = new AbortController();
      const stutter = async () => {
        while (!stopped.signal.aborted) {
          await postgres.freeze();
          await sleep(1300);
          await postgres.thaw();
          await sleep(300);
        }
      };
      const stuttering = stutter();
      const repair = async () => {
        stopped.abort();
        await stuttering;
      };
      return { repair, end };
    },
  },
];
