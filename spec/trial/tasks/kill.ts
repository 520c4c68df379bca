import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Balancer } from "@perch/testkit/installation/balancer.ts";
import { hang, startToolServer } from "@perch/testkit/servers/tool-server.ts";
import { expectEqual, expectText } from "../expect.ts";
import type { FleetProcess } from "../fleet.ts";
import type { Task } from "../task.ts";

const agentFile = (url: string): string => `name: slow
model: perch/script
instructions: '${JSON.stringify({
  steps: [
    { tool_calls: [{ name: "reserve", arguments: { seats: 2 } }] },
    { tool_calls: [{ name: "confirm", arguments: { seats: 2 } }] },
    { reply: "Two seats are yours." },
  ],
})}'
tools:
${["reserve", "confirm"]
  .map(
    (name) => `  - type: http
    name: ${name}
    description: Of the theatre.
    method: POST
    url: ${url}/${name}
    parameters: { type: object }
`,
  )
  .join("")}`;

/** The process that has the most connections of its balancer: there, that is the one with the run. */
function busiest(balancer: Balancer, processes: readonly FleetProcess[]): FleetProcess {
  const [load] = balancer.loads();
  const found = processes.find(({ port }) => port === load?.port);
  if (!found || load?.connections === 0) throw new Error("Nobody has a connection, so nobody has the run.");
  return found;
}

export const kill: Task = {
  number: 11,
  title: "kill -9 of the worker with a run and of an API node",
  needs: [10],
  run: async (trial) => {
    const { nodes, workers, nodeBalancer, workerBalancer, apiKey } = trial.the("fleet");
    const callsOf = (path: string) => theatre.calls.filter((call) => call.method === "POST" && call.path === path);
    // The first `confirm` never answers: its worker is killed meanwhile.
    const theatre = await startToolServer(({ method, path }) =>
      method === "POST" && path === "/confirm" && callsOf(path).length === 1 ? hang() : { body: "done" },
    );
    trial.onEnd(theatre.close);
    const cwd = join(trial.root, "theatre");
    mkdirSync(cwd);
    writeFileSync(join(cwd, "agent.yaml"), agentFile(theatre.url));
    const options = { cwd, env: { PERCH_URL: nodeBalancer.url, PERCH_API_KEY: apiKey } };
    await trial.run(["perch", "apply", "--yes"], options);
    const answer = trial.run(["perch", "invoke", "slow", "--draft", "Two seats, please"], options);
    answer.catch(() => {}); // Looked at below, after the kills.
    await trial.until("the tool is called", () => callsOf("/confirm")[0]);
    await Promise.all([busiest(workerBalancer, workers).running.kill(), busiest(nodeBalancer, nodes).running.kill()]);
    expectText(await answer, "Two seats are yours.");
    const { data } = JSON.parse(await trial.run(["perch", "runs", "slow", "--json"], options)) as {
      data: { status: string }[];
    };
    expectEqual(
      "runs",
      data.map(({ status }) => status),
      ["completed"],
    );
    expectEqual("calls of the tool that had answered", callsOf("/reserve").length, 1);
    const keys = new Set(callsOf("/confirm").map(({ headers }) => headers["idempotency-key"]));
    expectEqual("keys of the call that was repeated", keys.size, 1);
    return "the run ended once, and its answer came";
  },
};
