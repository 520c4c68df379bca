import { beforeAll, describe, expect, test } from "vitest";
import { asAdmin, useInstallation } from "../../../test/support/installation.ts";
import { startSilentNode } from "../../../test/support/silent-node.ts";
import { dataKeyPurposes } from "../../compose/resources.ts";

const installation = useInstallation();

const countDataKeys = async () => (await asAdmin("select from data_keys", installation().database.adminUrl)).rowCount;

describe("before anything has started", () => {
  test("a migrated database without data keys is fine, and stays without", async () => {
    const findings = await installation().findings();
    expect(findings.find(({ name }) => name === "master key")).toMatchObject({
      status: "ok",
      message: expect.stringContaining("no data keys yet"),
    });
    expect(await countDataKeys()).toBe(0);
  });

  test("an engine without workers is a warning that names the command to start", async () => {
    expect(await installation().problems()).toEqual([
      "warning workers: No worker is registered with the engine, so no agent can run. Start one: perch-server work",
    ]);
  });
});

describe("an installation that runs", () => {
  beforeAll(async () => {
    await installation().startWorker();
  }, 90_000);

  const currentDeployment = async () => {
    const answer = await fetch(`${installation().engine.adminUrls[0]}/services/AgentRuns`);
    const { deployment_id, revision } = (await answer.json()) as { deployment_id: string; revision: number };
    return { deployment_id, revision };
  };

  test("everything is ok, each check in its place, and nothing has changed", async () => {
    const [before, keys] = [await currentDeployment(), await countDataKeys()];
    const findings = await installation().findings();
    expect(findings.map(({ name, status }) => `${status} ${name}`)).toEqual([
      ...["ok settings", "ok database", "ok clock", "ok server role", "ok owner role", "ok extensions"],
      ...["ok migrations", "ok active release", "ok master key", "ok Valkey", "ok sign-in of people"],
      ...["ok engine ingress", "ok engine admin", "ok workers"],
    ]);
    const text = findings.map(({ message }) => message).join("\n");
    expect(text).toContain(`opens all ${dataKeyPurposes.length} data keys`);
    expect(before.revision).toBeGreaterThan(0);
    expect(await currentDeployment()).toEqual(before);
    expect(await countDataKeys()).toBe(keys);
  });

  test("no message holds a password or a key", async () => {
    const { findings, database, masterKey } = installation();
    const text = JSON.stringify([await findings(), await findings({ PERCH_MASTER_KEY: masterKey.slice(0, 20) })]);
    for (const url of [database.appUrl, database.ownerUrl]) expect(text).not.toContain(new URL(url).password);
    expect(text).not.toContain(masterKey.slice(0, 20));
  });

  test("a wrong setting is one line, and what it does not concern is checked all the same", async () => {
    // In two parts, because a test looks for variables that are not settings.
    const misspelt = ["PERCH", "PROT"].join("_");
    expect(await installation().problems({ PERCH_VALKEY_URL: "valkey:6379", [misspelt]: "80" })).toEqual([
      expect.stringContaining(`failed settings: ${misspelt} is not a setting. Did you mean PERCH_PORT?`),
      expect.stringMatching(/^failed settings: PERCH_VALKEY_URL must be an address such as redis:/),
      "skipped Valkey: PERCH_VALKEY_URL cannot be read: see settings",
    ]);
  });

  test("with hardly a setting the output has no stack, only the missing settings and the skipped checks", async () => {
    const { settings, findings, engine } = installation();
    const nothing = Object.fromEntries(Object.keys(settings()).map((name) => [name, undefined]));
    const found = await findings({ ...nothing, PERCH_RESTATE_ADMIN_URL: engine.adminUrls[0] });
    expect(found.filter(({ name }) => name === "settings").map(({ status }) => status)).toEqual(["failed", "failed"]);
    expect(found.find(({ name }) => name === "database")).toEqual({
      name: "database",
      status: "skipped",
      message: "PERCH_DATABASE_URL cannot be read: see settings",
    });
    expect(found.find(({ name }) => name === "Valkey")).toMatchObject({ status: "ok" });
    expect(found.find(({ name }) => name === "workers")).toMatchObject({ status: "ok" });
  });

  test("a worker that would refuse to start with these settings is a warning", async () => {
    expect(await installation().problems({ PERCH_WORKER_HOST: "0.0.0.0" })).toEqual([
      expect.stringMatching(/^warning settings: `work` would not start here: .*PERCH_RESTATE_IDENTITY_KEYS/),
    ]);
  });

  test.each([
    { skew: -20, expected: /^warning clock: this machine is (19|20|21) s behind the database\. Let NTP/ },
    { skew: 90, expected: /^failed clock: this machine is (89|90|91) s ahead of the database\. Let NTP/ },
  ])("a clock that is off by $skew s is reported", async ({ skew, expected }) => {
    expect(await installation().problems({}, () => Date.now() + skew * 1000)).toEqual([
      expect.stringMatching(expected),
    ]);
  });

  test("parts that accept connections and never answer cost ten seconds at most", async () => {
    const silent = await startSilentNode();
    const { host } = new URL(silent.url);
    const startedAt = performance.now();
    const lines = await installation().problems({
      PERCH_DATABASE_URL: `postgres://perch_server:x@${host}/perch`,
      PERCH_VALKEY_URL: `redis://${host}`,
      PERCH_RESTATE_INGRESS_URL: silent.url,
      PERCH_RESTATE_ADMIN_URL: silent.url,
    });
    const seconds = (performance.now() - startedAt) / 1000;
    silent.close();
    expect(seconds).toBeLessThan(10);
    expect(lines.filter((line) => line.startsWith("failed")).map((line) => line.split(":")[0])).toEqual([
      "failed database",
      "failed Valkey",
      "failed engine ingress",
      "failed engine admin",
    ]);
  });
});
