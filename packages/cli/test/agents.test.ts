import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { createServer, type IncomingMessage } from "node:http";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { tierLimits } from "@perch/contract";
import { Perch, type PerchEvent, verifyWebhook } from "@perch/sdk";
import { serviceUrl } from "@perch/testkit/installation/scratch-database.ts";
import { describe, expect, test } from "vitest";
import { usePerch } from "../../server/test/support/harness.ts";
import { sourceOf } from "../src/agent-file/agent-sources.ts";
import { planAgents } from "../src/agent-file/apply-file.ts";
import { requireAgents } from "../src/agent-file/read-agent-file.ts";
import { withoutAccidents } from "./shell.ts";
import { newDesk, removeDesks } from "./using-perch.ts";

// The API and its worker are separate here, so their messages go through Valkey.
const server = usePerch({ valkeyUrl: serviceUrl("PERCH_VALKEY_URL") }, { withWorker: true });
removeDesks();

const echo = "name: bot\nmodel: perch/echo\ninstructions: |\n  Be brief.\n  Be kind.\n";

async function deskWithBot() {
  const desk = await newDesk(server());
  writeFileSync(join(desk.cwd, "agent.yaml"), echo);
  expect((await desk.perch(["apply"])).code).toBe(0);
  return desk;
}

describe("perch apply", () => {
  test("creates, then says that nothing changes, then shows a diff and asks", async () => {
    const { cwd, perch } = await newDesk(server());
    writeFileSync(join(cwd, "agent.yaml"), echo);
    const created = await perch(["apply"]);
    expect([created.code, withoutAccidents(created.stdout)]).toMatchSnapshot();
    expect((await perch(["apply"])).stdout).toBe("bot: no change\n");

    writeFileSync(join(cwd, "agent.yaml"), echo.replace("kind", "blunt").concat("temperature: 0.5\n"));
    const asked = await perch(["apply"]);
    expect(asked.code).toBe(1);
    expect(asked.stderr).toContain("Give --yes");
    expect((await perch(["agents", "get", "bot", "--json"])).json()).toMatchObject({ temperature: null });

    const applied = await perch(["apply", "--yes"]);
    expect([applied.code, applied.stdout]).toMatchSnapshot();
    expect((await perch(["agents", "get", "bot", "--json"])).json()).toMatchObject({ temperature: 0.5 });
  });

  test("a field that the file no longer has gets its default again", async () => {
    const { cwd, perch } = await deskWithBot();
    writeFileSync(join(cwd, "agent.yaml"), `${echo}limits:\n  max_steps: 3\n`);
    await perch(["apply", "--yes"]);
    writeFileSync(join(cwd, "agent.yaml"), echo);
    const { stdout } = await perch(["apply", "--yes"]);
    expect(stdout).toContain("limits.max_steps: 3 -> 20");
  });

  test("an agent that another user changed since it was compared is left as it is, with the advice to apply again", async () => {
    const { cwd, organisation } = await deskWithBot();
    const file = join(cwd, "agent.yaml");
    writeFileSync(file, `${echo}temperature: 1\n`);
    const client = new Perch({ baseUrl: server().url, apiKey: organisation.adminKey });
    const [plan] = await planAgents(client, requireAgents([sourceOf(file)]), {});
    await client.agents.update("bot", { temperature: 0.5 });
    const refusal = expect(plan?.run()).rejects;
    await refusal.toMatchObject({
      message: expect.stringContaining("bot was changed since"),
      hint: expect.stringContaining("Run perch apply again"),
    });
    expect(await client.agents.get("bot")).toMatchObject({ temperature: 0.5 });
    const [again] = await planAgents(client, requireAgents([sourceOf(file)]), {});
    await again?.run();
    expect(await client.agents.get("bot")).toMatchObject({ temperature: 1 });
  });

  test("an agent that another user made meanwhile is updated instead", async () => {
    const { cwd, perch, organisation } = await newDesk(server());
    const file = join(cwd, "agent.yaml");
    writeFileSync(file, `${echo}temperature: 1\n`);
    const client = new Perch({ baseUrl: server().url, apiKey: organisation.adminKey });
    const [plan] = await planAgents(client, requireAgents([sourceOf(file)]), {});
    expect(plan?.outcome).toBe("created");
    await organisation.call("POST /v1/agents", { body: { name: "bot", model: "perch/script" } });
    await plan?.run();
    const found = await perch(["agents", "get", "bot", "--json"]);
    expect(found.json()).toMatchObject({ model: "perch/echo", temperature: 1 });
  });

  test("an agent beyond the quota is refused, with the quota as the reason", async () => {
    const { cwd, perch } = await newDesk(server(), "free");
    const limit = tierLimits.free.agents;
    const documents = Array.from({ length: limit + 1 }, (_, index) => `name: bot-${index}\nmodel: perch/echo\n`);
    writeFileSync(join(cwd, "agent.yaml"), documents.join("---\n"));
    const { code, stderr } = await perch(["apply"]);
    expect(code).toBe(1);
    expect(stderr).toContain(`${limit} agents`);
  });

  test("--dry-run changes nothing", async () => {
    const { cwd, perch } = await newDesk(server());
    writeFileSync(join(cwd, "agent.yaml"), echo);
    expect((await perch(["apply", "--dry-run", "--json"])).json()).toMatchObject({ applied: false });
    expect((await perch(["agents", "--json"])).json()).toMatchObject({ data: [] });
  });

  test("a refused field is shown with its line, and the correlation id", async () => {
    const { cwd, perch } = await newDesk(server());
    writeFileSync(join(cwd, "agent.yaml"), `${echo}limits:\n  max_steps: 0\nmodle: x\n`);
    const { code, stderr } = await perch(["apply"]);
    expect(code).toBe(1);
    expect(withoutAccidents(stderr)).toMatchSnapshot();
  });

  test("the output of agents get can be applied again, and changes nothing", async () => {
    const { cwd, perch } = await deskWithBot();
    const { stdout } = await perch(["agents", "get", "bot"]);
    writeFileSync(join(cwd, "copy.yaml"), stdout);
    expect((await perch(["apply", "-f", "copy.yaml"])).stdout).toBe("bot: no change\n");
  });
});

describe("perch invoke", () => {
  test("prints the answer alone on standard output", async () => {
    const { perch } = await deskWithBot();
    const { code, stdout, stderr } = await perch(["invoke", "bot", "Hello", "you"]);
    expect({ code, stdout }).toEqual({ code: 0, stdout: "Hello you\n" });
    expect(withoutAccidents(stderr)).toMatchSnapshot();
  });

  test("reads the message from standard input", async () => {
    const { perch } = await deskWithBot();
    expect((await perch(["invoke", "bot"], { input: "From a file\n" })).stdout).toBe("From a file\n");
    expect((await perch(["invoke", "bot", "-"], { input: "" })).code).toBe(2);
  });

  test("--json prints the result, --async the run's id at once", async () => {
    const { perch } = await deskWithBot();
    const { json } = await perch(["invoke", "bot", "Hi", "--json", "--session", "s1"]);
    expect(json()).toMatchObject({ response: "Hi", request_id: expect.stringMatching(/^req_/) });
    const { stdout } = await perch(["invoke", "bot", "Later", "--async"]);
    expect(stdout).toMatch(/^req_\w{26}\n$/);
    await expect
      .poll(async () => (await perch(["runs", "get", "bot", stdout.trim(), "--json"])).json(), { timeout: 10_000 })
      .toMatchObject({ status: "completed", response: "Later" });
    expect((await perch(["runs", "bot", "--session", "s1", "--json"])).json()).toMatchObject({ data: [{}] });
  });

  test("without an agent, runs and deployments are those of all agents, page by page", async () => {
    const { perch } = await deskWithBot();
    for (const message of ["one", "two"]) await perch(["invoke", "bot", message]);
    const first = await perch(["runs", "--limit", "1", "--status", "completed"]);
    expect(first.stdout).toMatch(/^RUN +AGENT +STATUS.*\nreq_\w{26} +bot +completed/);
    const [, rest = ""] = /perch (runs --status completed --limit 1 --cursor \S+)\n/.exec(first.stderr) ?? [];
    const second = await perch(rest.split(" "));
    expect(second.stdout).toMatch(/\nreq_\w{26} +bot +completed/);
    expect(second.stdout).not.toBe(first.stdout);
    expect(second.stderr).toBe("");
    expect((await perch(["deploy", "bot"])).code).toBe(0);
    expect((await perch(["deployments", "--status", "active"])).stdout).toMatch(/\ndep_\w{26} +bot +production/);
  });

  test("runs of all agents and of one agent are filtered by user, environment, version and time", async () => {
    const { perch } = await deskWithBot();
    for (const user of ["ada", "ada", "bob"]) await perch(["invoke", "bot", "Hello", "--draft", "--user", user]);
    const count = async (...options: string[]) =>
      (await perch(["runs", ...options, "--json"])).json<{ data: unknown[] }>().data.length;
    for (const agent of [[], ["bot"]]) {
      expect(await count(...agent, "--user", "ada")).toBe(2);
      expect(await count(...agent, "--agent-version", "draft")).toBe(3);
      expect(await count(...agent, "--agent-version", "v9")).toBe(0);
      expect(await count(...agent, "--environment", "nowhere")).toBe(0);
      expect(await count(...agent, "--since", "1h")).toBe(3);
      expect(await count(...agent, "--until", "1h")).toBe(0);
    }
    const first = await perch(["runs", "bot", "--user", "ada", "--since", "1h", "--limit", "1"]);
    const [, rest = ""] = /perch (runs bot --user ada --since \S+Z --limit 1 --cursor \S+)\n/.exec(first.stderr) ?? [];
    const second = await perch(rest.split(" "));
    expect(second.stdout).toMatch(/\nreq_\w{26} +bot +completed/);
    expect(second.stdout).not.toBe(first.stdout);
    const refused = await perch(["runs", "bot", "--user", "ada", "--offset", "1"]);
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining("Use --cursor instead")]);
  });

  test("the same idempotency key runs once", async () => {
    const { perch } = await deskWithBot();
    const args = ["invoke", "bot", "Once", "--idempotency-key", "k1", "--json"];
    const [first, second] = [await perch(args), await perch(args)];
    expect(second.json()).toEqual(first.json());
    expect((await perch(["runs", "bot", "--json"])).json()).toMatchObject({ pagination: { total: 1 } });
  });

  test.each([
    ["permanent", "A new run would fail in the same way"],
    ["transient", "A new run may succeed"],
  ])("a run with a %s failure ends with 1, names the run and shows whether another can help", async (fail, hint) => {
    const { cwd, perch } = await newDesk(server());
    const script = JSON.stringify({ steps: [{ fail, reply: "No idea." }] });
    const limits = "limits: { timeout_seconds: 3 }";
    writeFileSync(join(cwd, "agent.yaml"), `name: bot\nmodel: perch/script\n${limits}\ninstructions: '${script}'\n`);
    await perch(["apply"]);
    const { code, stdout, stderr } = await perch(["invoke", "bot", "Hi"]);
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toContain(hint);
    expect(stderr).toMatch(/show what happened:\n {2}perch runs get bot req_\w{26}\n$/);
    if (fail === "transient")
      expect(stderr).toMatch(/\[perch\/script attempt 1 failed: No idea; attempt 2 in [\d.]+ s\]/);
  });
});

describe("perch chat", () => {
  test("answers line by line, in one session", async () => {
    const { perch } = await deskWithBot();
    const { code, stdout } = await perch(["chat", "bot", "--session", "c1"], { input: "One\n\nTwo\n" });
    expect({ code, stdout }).toEqual({ code: 0, stdout: "One\nTwo\n" });
    const runs = await perch(["runs", "bot", "--session", "c1", "--json"]);
    expect(runs.json()).toMatchObject({ pagination: { total: 2 } });
  });
});

describe("perch deploy and rollback", () => {
  test("puts versions live, shows them, and takes the last one back", async () => {
    const { cwd, perch } = await deskWithBot();
    const first = await perch(["deploy", "bot", "--label", "v1"]);
    expect([first.code, withoutAccidents(first.stdout), withoutAccidents(first.stderr)]).toMatchSnapshot();
    writeFileSync(join(cwd, "agent.yaml"), echo.replace("kind", "blunt"));
    await perch(["apply", "--yes"]);
    expect((await perch(["versions", "diff", "bot", "v1"])).stdout).toContain("+");
    expect((await perch(["deploy", "bot", "--label", "v2", "--json"])).json()).toMatchObject({ status: "active" });
    const asked = await perch(["rollback", "bot"]);
    expect([asked.code, withoutAccidents(asked.stderr)]).toMatchSnapshot();
    const back = await perch(["rollback", "bot", "--yes"]);
    expect([back.code, back.stdout]).toEqual([0, "v1 is live in production again.\n"]);
    expect(withoutAccidents(back.stderr)).toContain("Its deployment is dep_…. v2 (dep_…) was rolled back.");
    const further = await perch(["rollback", "bot", "--yes"]);
    expect([further.code, further.stderr.includes("Nothing was live in production before v1")]).toEqual([1, true]);
    const { stdout } = await perch(["deployments", "bot"]);
    expect(withoutAccidents(stdout)).toMatchSnapshot();
    expect((await perch(["versions", "bot", "--json"])).json()).toMatchObject({ pagination: { total: 2 } });
  });

  test("a canary gets its share, and is promoted", async () => {
    const { cwd, perch } = await deskWithBot();
    await perch(["deploy", "bot", "--label", "v1"]);
    writeFileSync(join(cwd, "agent.yaml"), echo.replace("kind", "blunt"));
    await perch(["apply", "--yes"]);
    const args = ["deploy", "bot", "--label", "v2", "--canary", "10", "--max-p95-ratio", "2", "--json"];
    const { id } = (await perch(args)).json<{ id: string }>();
    expect((await perch(["deployments", "traffic", "bot", id, "25", "--json"])).json()).toMatchObject({
      traffic_percent: 25,
    });
    const ended = await perch(["rollback", "bot", id]);
    expect([ended.code, ended.stderr.includes("It stays live. The canary ends: v2")]).toEqual([1, true]);
    expect((await perch(["deployments", "promote", "bot", id])).stdout).toBe("v2 is live in production.\n");
    // The canary was activated before it became live. Only the order in which they were live counts.
    const back = await perch(["rollback", "bot", "--yes"]);
    expect([back.code, back.stdout]).toEqual([0, "v1 is live in production again.\n"]);
  });

  test("a deployment that fails its checks ends with 1, says why, and leaves the old one live", async () => {
    const { cwd, perch } = await deskWithBot();
    await perch(["deploy", "bot", "--label", "v1"]);
    writeFileSync(join(cwd, "agent.yaml"), "name: bot\nmodel: nobody/knows-it\n");
    await perch(["apply", "--yes"]);
    const { code, stdout, stderr } = await perch(["deploy", "bot", "--label", "v2"]);
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(withoutAccidents(stderr)).toMatchSnapshot();
    const live = await perch(["deployments", "bot", "--status", "active", "--json"]);
    expect(live.json()).toMatchObject({ data: [{ version: "v1" }] });
  });
});

describe("perch logs and metrics", () => {
  test("the log oldest first, coloured only if asked for; --follow goes on", async () => {
    const { perch } = await deskWithBot();
    await perch(["invoke", "bot", "One"]);
    await expect
      .poll(async () => (await perch(["logs", "bot"])).stdout, { timeout: 10_000 })
      .toContain("Run completed");
    const { stdout } = await perch(["logs", "bot"]);
    expect(withoutAccidents(stdout)).toMatchSnapshot();
    expect((await perch(["logs", "bot"], { env: { FORCE_COLOR: "1" } })).stdout).toContain("\u001b[36minfo");
    const both = { FORCE_COLOR: "1", NO_COLOR: "1" };
    expect((await perch(["logs", "bot"], { env: both })).stdout).toBe(stdout);

    const following = perch(["logs", "bot", "--follow", "--limit", "1", "--json"], {
      until: (text) => text.includes('"Run completed"') && text.split("\n").length > 3,
    });
    const ticking = setInterval(() => void perch(["invoke", "bot", "Two"]), 1000);
    const followed = await following.finally(() => clearInterval(ticking));
    expect(followed.code).toBe(0);
    for (const line of followed.stdout.trim().split("\n")) expect(JSON.parse(line)).toHaveProperty("level");
  });

  test("metrics are drawn, or JSON", async () => {
    const { perch } = await deskWithBot();
    await perch(["invoke", "bot", "One"]);
    const args = ["metrics", "bot", "throughput", "--since", "3m", "--granularity", "1m"];
    await expect.poll(async () => (await perch(args)).stdout, { timeout: 10_000 }).toContain("█");
    expect((await perch([...args, "--json"])).json()).toMatchObject({ metric: "throughput", granularity: "1m" });
    expect((await perch(["metrics", "bot", "--json"])).json<unknown[]>()).toHaveLength(3);
  });
});

describe("perch memory", () => {
  test("adds, finds, lists and clears after asking", async () => {
    const { perch } = await deskWithBot();
    expect((await perch(["memory", "add", "bot", "Ada", "likes", "tea", "--user", "ada"])).stdout).toMatch(/^mem_/);
    const found = await perch(["memory", "search", "bot", "tea", "--mode", "text"]);
    expect([found.code, withoutAccidents(found.stdout)]).toMatchSnapshot();
    expect((await perch(["memory", "list", "bot", "--json"])).json()).toMatchObject({ pagination: { total: 1 } });
    expect((await perch(["memory", "clear", "bot"])).code).toBe(1);
    const cleared = await perch(["memory", "clear", "bot", "--yes"]);
    expect([cleared.code, cleared.stdout]).toEqual([0, "1 memories and 0 messages removed.\n"]);
  });
});

describe("perch webhooks listen", () => {
  test("posts events to a local address as they happen, signed as deliveries are", async () => {
    const { perch } = await deskWithBot();
    const secret = `whsec_${"A".repeat(32)}`;
    const received: PerchEvent[] = [];
    const receive = async (request: IncomingMessage): Promise<number> => {
      received.push(await verifyWebhook(await text(request), request.headers, secret));
      return 204;
    };
    const receiver = createServer((request, response) => {
      const answered = receive(request).catch(() => 401);
      void answered.then((status) => response.writeHead(status).end());
    }).listen(0, "127.0.0.1");
    await once(receiver, "listening");
    const { port } = receiver.address() as { port: number };
    const args = ["webhooks", "listen", "--port", String(port), "--path", "/hooks", "--event", "agent.completed"];
    const listening = perch([...args, "--secret", secret], { until: (output) => output.includes("\n") });
    const ticking = setInterval(() => void perch(["invoke", "bot", "Hi"]), 1000);
    const { code, stdout } = await listening.finally(() => clearInterval(ticking));
    receiver.close();
    expect(code).toBe(0);
    expect(withoutAccidents(stdout.split("\n")[0] ?? "")).toBe("<time> agent.completed evt_… -> 204");
    expect(received[0]).toMatchObject({ type: "agent.completed", data: { response: "Hi" } });
  });
});
