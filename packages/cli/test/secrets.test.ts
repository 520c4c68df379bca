import { verifies } from "@perch/testkit/verifies.ts";
import { describe, expect, type MockInstance, test, vi } from "vitest";
import { usePerch } from "../../server/test/support/harness.ts";
import { createShell, withoutAccidents } from "./shell.ts";
import { newDesk, removeDesks } from "./using-perch.ts";

const server = usePerch();
removeDesks();

const value = "s3cret-0123456789";
const host = ["--host", "api.github.com"];

interface Sent {
  readonly route: string;
  readonly body: Record<string, unknown> | undefined;
}

/** The requests that the commands make, with their bodies. */
function recordRequests(): { readonly sent: () => Sent[]; readonly spy: MockInstance } {
  const spy = vi.spyOn(globalThis, "fetch");
  const sent = () =>
    (spy.mock.calls as [unknown, RequestInit?][]).map(([address, { method = "GET", body } = {}]) => ({
      route: `${method} ${new URL(String(address)).pathname}`,
      body: typeof body === "string" ? (JSON.parse(body) as Record<string, unknown>) : undefined,
    }));
  return { sent, spy };
}

describe("perch secrets", () => {
  test("set creates a secret from standard input, and replaces its value later; list and delete", async () => {
    verifies("secrets.command-line");
    const { perch } = await newDesk(server());
    const created = await perch(["secrets", "set", "github_token", ...host], { input: `${value}\n` });
    expect(created).toMatchObject({
      code: 0,
      stdout: "github_token created: {{secret.github_token}} is sent to api.github.com.\n",
      stderr: "",
    });
    const replaced = await perch(["secrets", "set", "github_token", "--json"], { input: `${value}-2` });
    expect(replaced.json()).toMatchObject({ name: "github_token", outcome: "updated", hosts: ["api.github.com"] });
    const moved = await perch(["secrets", "set", "github_token", "--host", "a.example", "--host", "b.example:8443"], {
      input: value,
    });
    expect(moved.stdout).toBe("github_token updated: {{secret.github_token}} is sent to a.example, b.example:8443.\n");
    const listed = await perch(["secrets"]);
    expect(withoutAccidents(listed.stdout)).toMatchSnapshot();
    const json = await perch(["secrets", "--json"]);
    expect(json.json()).toMatchObject({ data: [{ name: "github_token", agent_id: null }], pagination: { total: 1 } });
    const asked = await perch(["secrets", "delete", "github_token"]);
    expect([asked.code, asked.stderr.includes("Give --yes")]).toEqual([1, true]);
    expect(await perch(["secrets", "delete", "github_token", "--yes"])).toMatchObject({
      code: 0,
      stdout: "github_token deleted.\n",
    });
    expect((await perch(["secrets"])).stderr).toContain("No secrets yet");
    for (const { stdout, stderr } of [created, replaced, moved, listed, json])
      expect(stdout + stderr).not.toContain(value);
  });

  test("--approval asks for a person, and stays with a new value until it is none", async () => {
    verifies("approvals.floor");
    const { perch } = await newDesk(server());
    const set = (...args: string[]) => perch(["secrets", "set", "bank_key", ...args], { input: value });
    expect(await set(...host, "--approval", "required")).toMatchObject({
      code: 0,
      stdout:
        "bank_key created: {{secret.bank_key}} is sent to api.github.com, after a person has approved the call.\n",
    });
    expect((await set("--json")).json()).toMatchObject({ outcome: "updated", approval: "required" });
    expect((await perch(["secrets"])).stdout).toContain("required");
    expect((await set("--json", "--approval", "none")).json()).toMatchObject({ approval: null });
    expect(await set("--approval", "always")).toMatchObject({ code: 2 });
  });

  test("--agent sets, lists and deletes the agent's own", async () => {
    const { perch } = await newDesk(server());
    await perch(["api", "POST", "/v1/agents", "--data", '{"name": "bot", "model": "perch/echo"}']);
    const agent = ["--agent", "bot"];
    expect((await perch(["secrets", "set", "github_token", ...host, ...agent], { input: value })).code).toBe(0);
    expect((await perch(["secrets", "set", "github_token", ...agent], { input: value })).stdout).toContain("updated");
    expect((await perch(["secrets", ...agent, "--json"])).json()).toMatchObject({ data: [{ name: "github_token" }] });
    expect((await perch(["secrets", "--json"])).json()).toMatchObject({ data: [] });
    expect((await perch(["secrets", "delete", "github_token", "--yes"])).code).toBe(1);
    expect((await perch(["secrets", "delete", "github_token", "--yes", ...agent])).code).toBe(0);
  });

  test.each([
    [`${value}\n`, value],
    [`${value}\r\n`, value],
    [value, value],
  ])("of standard input %j one line break at the end is not the value's", async (input, expected) => {
    const { perch } = await newDesk(server());
    const { sent, spy } = recordRequests();
    expect((await perch(["secrets", "set", "github_token", ...host], { input })).code).toBe(0);
    expect(sent().at(-1)).toEqual({
      route: "POST /v1/secrets",
      body: { name: "github_token", value: expected, hosts: ["api.github.com"] },
    });
    spy.mockRestore();
  });

  test.each([
    [["secrets", "set", "github_token", value, ...host], "the value is not an argument"],
    [["secrets", "set", "github_token", ...host, "--", value], "the value is not an argument"],
    [["secrets", "set", `GITHUB_TOKEN=${value}`, ...host], "not a secret's name"],
    [["secrets", "set", `github_token=${value}`, ...host], "not a secret's name"],
    [["secrets", "set", "github_token", "--value", value, ...host], "Unknown option '--value'"],
    [["secrets", "set", "github_token", `--value=${value}`, ...host], "Unknown option '--value'"],
    [["secrets", "delete", value, "--yes"], "not a secret's name"],
  ])("%j: a value on the command line is refused without repeating it, and nothing is sent", async (args, reason) => {
    const { perch } = await newDesk(server());
    const { spy } = recordRequests();
    for (const wanted of [args, [...args, "--json"]]) {
      // After `--`, everything is an argument.
      if (args.includes("--") && wanted !== args) continue;
      const { code, stdout, stderr } = await perch(wanted, { input: "typed-instead" });
      expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
      expect(stderr).toContain(reason);
      expect(stderr).not.toContain(value);
    }
    expect(spy).not.toHaveBeenCalled();
    spy.mockRestore();
  });

  test("a new secret without a host, an empty value and a value that is too short are refused with the remedy", async () => {
    const { perch } = await newDesk(server());
    const homeless = await perch(["secrets", "set", "github_token"], { input: value });
    expect([homeless.code, homeless.stderr.includes("--host api.example.com")]).toEqual([1, true]);
    const empty = await perch(["secrets", "set", "github_token", ...host], { input: "\n" });
    expect([empty.code, empty.stderr.includes("No value was given.")]).toEqual([1, true]);
    const short = await perch(["secrets", "set", "github_token", ...host], { input: "s3cret" });
    expect([short.code, short.stderr.includes("value: "), short.stderr.includes("s3cret")]).toEqual([1, true, false]);
  });

  test("a key that may not manage gets an error with the remedy", async () => {
    const { cwd, env, organisation } = await newDesk(server());
    const key = await organisation.createKey({ role: "developer" });
    const perch = createShell({ cwd, env: { ...env, PERCH_API_KEY: key } });
    const { code, stdout, stderr } = await perch(["secrets", "set", "github_token", ...host], { input: value });
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(withoutAccidents(stderr)).toMatchSnapshot();
    const deleted = await perch(["secrets", "delete", "github_token", "--yes"]);
    expect(deleted.stderr).toContain("This needs the permission manage");
  });

  test("a quota that is used up is the reason, when it is", async () => {
    const { perch } = await newDesk(server(), "free");
    for (let index = 0; index < 20; index++)
      expect((await perch(["secrets", "set", `token_${index}`, ...host], { input: value })).code).toBe(0);
    const { code, stderr } = await perch(["secrets", "set", "one_more", ...host], { input: value });
    expect([code, stderr.includes("20 secrets")]).toEqual([1, true]);
  });
});

describe("references to the organisation's secrets", () => {
  test("a provider's key and a webhook's header are shown as references", async () => {
    const { perch } = await newDesk(server());
    await perch(["secrets", "set", "llm_key", "--host", "models.example"], { input: value });
    const args = ["providers", "add", "local", "--base-url", "https://models.example/v1"];
    expect((await perch([...args, "--api-key-secret", "llm_key"])).code).toBe(0);
    expect((await perch(["providers"])).stdout).toContain("{{secret.llm_key}}");
    expect((await perch([...args, "--api-key-secret", "llm_key", "--api-key-env", "X"])).code).toBe(2);
    const webhook = ["webhooks", "create", "https://hooks.example.com/", "--event", "agent.failed"];
    const created = await perch([...webhook, "--header", "Authorization: Bearer {{secret.llm_key}}", "--json"]);
    expect(created.json()).toMatchObject({ headers: { Authorization: "Bearer {{secret.llm_key}}" } });
    const wrong = await perch([...webhook, "--header", value]);
    expect([wrong.code, wrong.stderr.includes(value)]).toEqual([2, false]);
  });
});
