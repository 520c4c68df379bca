import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { npmInstall, writeManifest } from "@perch/testkit/packaging/install-packages.ts";
import { hang, startToolServer } from "@perch/testkit/servers/tool-server.ts";
import { connectionOf } from "../chatbot.ts";
import { expectEqual } from "../expect.ts";
import { packHigherVersion } from "../higher-version.ts";
import type { Task } from "../task.ts";
import type { Trial } from "../trial.ts";
import { startDev } from "./dev.ts";

const agentFile = (url: string): string => `name: patient
model: perch/script
instructions: '${JSON.stringify({
  steps: [{ tool_calls: [{ name: "wait", arguments: {} }] }, { reply: "It was worth the wait." }],
})}'
tools:
  - type: http
    name: wait
    description: Answers when it likes.
    method: POST
    url: ${url}/wait
    parameters: { type: object }
`;

/** Not the question, when the agent is applied, whether anybody is there. */
const isCall = (method: string) => method !== "OPTIONS";

const printed = async (trial: Trial, ...words: string[]) => JSON.parse(await trial.run(["perch", ...words, "--json"]));

/** What must be the same before and after: agents, keys, and the runs of an agent. */
const listKept = async (trial: Trial) => ({
  agents: (await printed(trial, "agents")).data.map(({ id }: { id: string }) => id),
  keys: (await printed(trial, "keys", "list")).data.map(({ id }: { id: string }) => id),
  runs: (await printed(trial, "runs", "my-agent")).data.map(({ request_id }: { request_id: string }) => request_id),
});

/** How the run has ended. Not with a command: a user asks once, and not ten times a second. */
async function findEnd(trial: Trial, run: string): Promise<string | undefined> {
  const { PERCH_URL: url, PERCH_API_KEY: key } = await connectionOf(trial);
  const response = await fetch(`${url}/v1/agents/patient/invocations/${run}`, {
    headers: { authorization: `Bearer ${key}` },
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`The run that was under way: ${response.status} ${text}`);
  const { data } = JSON.parse(text) as { data: { status: string } };
  return data.status === "running" ? undefined : data.status;
}

export const upgrade: Task = {
  number: 12,
  title: "upgrade with a run under way",
  needs: [3],
  run: async (trial) => {
    let isHeld = true;
    const tool = await startToolServer(({ method }) => (isHeld && isCall(method) ? hang() : { body: "now" }));
    trial.onEnd(tool.close);
    const cwd = join(trial.home, "patient");
    mkdirSync(cwd);
    writeFileSync(join(cwd, "agent.yaml"), agentFile(tool.url));
    await trial.run(["perch", "apply", "--yes"], { cwd });
    const { request_id } = await printed(trial, "invoke", "patient", "Take your time", "--async");
    await trial.until("the tool is called", () => tool.calls.find(({ method }) => isCall(method)));
    const [before, versionBefore] = [await listKept(trial), await trial.run(["perch", "--version"])];
    await trial.the("dev").stop();
    const tarballs = packHigherVersion(trial.the("tarballs"), join(trial.root, "packed-again"));
    writeManifest(trial.home, tarballs, ["perch"]);
    await trial.run(["npm", ...npmInstall]);
    isHeld = false;
    await startDev(trial);
    const version = await trial.run(["perch", "--version"]);
    if (version === versionBefore) throw new Error(`Still ${version.trim()} after the upgrade`);
    expectEqual("what was there before", await listKept(trial), before);
    const status = await trial.until("the run that was under way ends", () => findEnd(trial, request_id), 60);
    expectEqual("the run that was under way", status, "completed");
    return `${versionBefore.trim()} to ${version.trim()}`;
  },
};
