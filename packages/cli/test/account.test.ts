import { statSync } from "node:fs";
import { join } from "node:path";
import { verifyWebhook } from "@perch/sdk";
import { generateTotpCode } from "@perch/testkit/identity/one-time-code.ts";
import { freePort } from "@perch/testkit/installation/server-process.ts";
import { verifies } from "@perch/testkit/verifies.ts";
import { describe, expect, test } from "vitest";
import { usePerch } from "../../server/test/support/harness.ts";
import { signedHeaders } from "../src/commands/listen.ts";
import { createShell, withoutAccidents } from "./shell.ts";
import { newDesk, removeDesks } from "./using-perch.ts";

const server = usePerch();
removeDesks();

describe("perch keys", () => {
  test("create prints only the key on standard output; list, rotate and revoke work", async () => {
    verifies("keys.command-line");
    const { perch, env, cwd } = await newDesk(server());
    const created = await perch(["keys", "create", "ci", "--role", "viewer"]);
    expect([created.code, withoutAccidents(created.stderr)]).toMatchSnapshot();
    const token = created.stdout.trim();
    expect(token).toMatch(/^perch_00\w{44}$/);
    const as = (key: string) => createShell({ cwd, env: { ...env, PERCH_API_KEY: key } });
    expect((await as(token)(["agents"])).code).toBe(0);

    const list = await perch(["keys", "list", "--json"]);
    const { id } = list.json<{ data: { id: string; name: string }[] }>().data.find(({ name }) => name === "ci") ?? {};
    expect(id).toMatch(/^key_/);
    const rotated = await perch(["keys", "rotate", id ?? "", "--overlap", "0s"]);
    expect([rotated.code, withoutAccidents(rotated.stderr)]).toMatchSnapshot();
    expect((await as(token)(["agents"])).code).toBe(1);
    expect((await as(rotated.stdout.trim())(["agents"])).code).toBe(0);

    const newest = (await perch(["keys", "list", "--json"])).json<{ data: { id: string }[] }>().data[0]?.id ?? "";
    const asked = await perch(["keys", "revoke", newest]);
    expect([asked.code, asked.stderr.includes("Give --yes")]).toEqual([1, true]);
    expect((await perch(["keys", "revoke", newest, "--yes"])).code).toBe(0);
    expect((await as(rotated.stdout.trim())(["agents"])).code).toBe(1);
    expect(withoutAccidents((await perch(["keys", "list"])).stdout)).toMatchSnapshot();
  });

  test("begin-mfa prints only the token on standard output, and sends the code of the caller", async () => {
    const { perch } = await newDesk(server());
    const created = (await perch(["keys", "create", "ci", "--json"])).json<{ id: string }>();
    const begun = await perch(["keys", "begin-mfa", created.id]);
    expect([begun.code, begun.stderr.includes("X-MFA-Code")]).toEqual([0, true]);
    expect(begun.stdout.trim()).toMatch(/^enrol_[\w-]+\.[\w-]+$/);
    const enrolled = await perch(["api", "POST", "/v1/mfa"]);
    const { secret } = JSON.parse(enrolled.stdout).data as { secret: string };
    const code = (periods: number) => generateTotpCode(secret, periods);
    const confirm = await perch(["api", "POST", "/v1/mfa/confirm", "--data", JSON.stringify({ code: code(-1) })]);
    expect(confirm.code).toBe(0);
    expect((await perch(["keys", "begin-mfa", created.id])).code).toBe(1);
    expect((await perch(["keys", "begin-mfa", created.id, "--code", code(0)])).code).toBe(0);
  });
});

describe("errors", () => {
  test("show what happened, what to do and the correlation id, and end with 1", async () => {
    const { perch } = await newDesk(server());
    const missing = await perch(["agents", "get", "missing"]);
    expect([missing.code, missing.stdout, withoutAccidents(missing.stderr)]).toMatchSnapshot();
    const json = await perch(["agents", "get", "missing", "--json"]);
    expect(JSON.parse(json.stderr)).toMatchObject({
      error: { code: "not_found", status: 404, correlation_id: expect.stringMatching(/^corr_/) },
    });
    const unknown = await perch(["agents"], { env: { PERCH_API_KEY: `perch_${"0".repeat(46)}` } });
    expect([unknown.code, withoutAccidents(unknown.stderr)]).toMatchSnapshot();
  });

  test("reports that it cannot reach a server", async () => {
    const { cwd } = await newDesk(server());
    const perch = createShell({ cwd, env: { XDG_CONFIG_HOME: cwd } });
    const { code, stderr } = await perch(["agents"]);
    expect([code, stderr]).toMatchSnapshot();
  });
});

describe("perch login and profiles", () => {
  test("stores a key that works, readable only for its owner, and uses it from then on", async () => {
    const { perch: other, cwd, organisation } = await newDesk(server());
    const { url } = server();
    const perch = createShell({ cwd, env: { XDG_CONFIG_HOME: join(cwd, "mine") } });
    const { code, stdout } = await perch(["login", "staging", "--url", url], { input: `${organisation.adminKey}\n` });
    expect([code, withoutAccidents(stdout.replaceAll(cwd, "<folder>"))]).toMatchSnapshot();
    expect(stdout).not.toContain(organisation.adminKey);
    expect(statSync(join(cwd, "mine/perch/config.json")).mode & 0o777).toBe(0o600);
    expect((await perch(["agents"])).code).toBe(0);
    expect((await perch(["whoami", "--json"])).json()).toMatchObject({ source: "profile staging" });
    for (const name of ["nowhere", "constructor"]) {
      const refused = [
        ["agents", "--profile", name],
        ["profiles", "use", name],
        ["logout", name],
      ];
      for (const args of refused) expect((await perch(args)).stderr).toContain(`There is no profile ${name}.`);
    }
    expect(withoutAccidents((await perch(["profiles"])).stdout)).toMatchSnapshot();
    const elsewhere = { PERCH_URL: url, PERCH_API_KEY: organisation.adminKey };
    const overridden = await perch(["whoami"], { env: elsewhere });
    expect(overridden.stderr).toContain(
      "The current profile, staging, is not used here: PERCH_URL and PERCH_API_KEY are",
    );
    expect((await perch(["whoami"])).stderr).toBe("");
    expect((await perch(["logout", "staging"])).code).toBe(0);
    expect((await perch(["agents"])).stderr).toContain("No server to talk to.");
    expect((await other(["whoami"])).code).toBe(0);
  });

  test("perch whoami prints the resources and the limits of the organisation", async () => {
    const { perch } = await newDesk(server());
    const { stdout } = await perch(["whoami"]);
    expect(stdout).toMatch(/^agents +\d+ +10,000$/m);
    expect(stdout).toMatch(/^keys +\d+ +10,000$/m);
    expect(stdout).toMatch(/^versions per agent +10,000$/m);
    expect(stdout).toContain("\nbecause       PERCH_URL and PERCH_API_KEY are set\n");
    expect(stdout).not.toContain("_id");
  });

  test("a key that does not work is not stored", async () => {
    const { cwd } = await newDesk(server());
    const perch = createShell({ cwd, env: { XDG_CONFIG_HOME: join(cwd, "mine") } });
    const { code } = await perch(["login", "--url", server().url], { input: `perch_${"0".repeat(46)}\n` });
    expect(code).toBe(1);
    expect((await perch(["profiles", "--json"])).json()).toEqual([]);
  });
});

describe("perch webhooks", () => {
  test("create shows the secret once; list, rotate and delete", async () => {
    const { perch } = await newDesk(server());
    const args = ["webhooks", "create", "https://hooks.example.com/perch", "--event", "agent.failed"];
    const created = await perch(args);
    expect([created.code, withoutAccidents(created.stdout + created.stderr)]).toMatchSnapshot();
    expect(withoutAccidents((await perch(["webhooks"])).stdout)).toMatchSnapshot();
    const { id } = (await perch(["webhooks", "--json"])).json<{ data: [{ id: string }] }>().data[0];
    expect((await perch(["webhooks", "rotate", id])).stdout).toMatch(/^whsec_/);
    expect((await perch(["webhooks", "deliveries", id, "--json"])).json()).toMatchObject({ data: [] });
    expect((await perch(["webhooks", "delete", id])).code).toBe(1);
    expect((await perch(["webhooks", "delete", id, "--yes"])).code).toBe(0);
  });

  test("listen signs as deliveries are signed", async () => {
    const secret = `whsec_${"A".repeat(32)}`;
    const body = JSON.stringify({ id: "evt_1", type: "agent.completed" });
    const headers = signedHeaders(secret, "evt_1", body, Math.floor(Date.now() / 1000));
    await expect(verifyWebhook(body, headers, secret)).resolves.toMatchObject({ id: "evt_1" });
    await expect(verifyWebhook(`${body} `, headers, secret)).rejects.toThrow();
  });
});

describe("perch doctor", () => {
  test("finds everything in order", async () => {
    const { perch } = await newDesk(server());
    const { code, json } = await perch(["doctor", "--json"]);
    expect(json<{ checks: { ok: boolean }[] }>().checks.filter(({ ok }) => !ok)).toEqual([]);
    expect(code).toBe(0);
  });

  test("shows the next step if no server answers, and if the key is wrong", async () => {
    const { perch } = await newDesk(server());
    const port = await freePort();
    const silent = await perch(["doctor"], { env: { PERCH_URL: `http://127.0.0.1:${port}` } });
    expect(silent.code).toBe(1);
    expect(silent.stdout).toContain("Start it (perch dev), or correct the address.");
    const wrong = await perch(["doctor"], { env: { PERCH_API_KEY: `perch_${"0".repeat(46)}` } });
    expect(wrong.code).toBe(1);
    expect(wrong.stdout).toContain("FAIL key");
  });
});

describe("perch api", () => {
  test("reaches any operation", async () => {
    const { perch } = await newDesk(server());
    const data = JSON.stringify({ name: "bot", model: "perch/echo" });
    expect((await perch(["api", "POST", "/v1/agents", "--data", data])).json()).toMatchObject({ success: true });
    expect((await perch(["api", "get", "/v1/agents?limit=1"])).json()).toMatchObject({ pagination: { limit: 1 } });
    expect((await perch(["api", "DELETE", "/v1/agents/bot"])).code).toBe(0);
  });
});

describe("perch providers", () => {
  test("adds one with a key from a variable, which is never shown", async () => {
    const { perch } = await newDesk(server());
    const args = ["providers", "add", "local", "--base-url", "https://models.example/v1", "--api-key-env", "MODEL_KEY"];
    const added = await perch(args, { env: { MODEL_KEY: "s3cret" } });
    expect([added.code, added.stdout]).toEqual([0, "local: use model: local/<model>\n"]);
    expect((await perch(["providers"])).stdout).toMatchSnapshot();
    expect((await perch(["providers", "delete", "local", "--yes"])).code).toBe(0);
  });
});
