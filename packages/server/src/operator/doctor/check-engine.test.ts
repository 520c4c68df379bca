import { freePort, type WorkerProcess } from "@perch/testkit/installation/server-process.ts";
import { beforeAll, describe, expect, test } from "vitest";
import { useInstallation } from "../../../test/support/installation.ts";

const installation = useInstallation();
let worker: WorkerProcess;
let nowhere: string;

beforeAll(async () => {
  nowhere = `http://127.0.0.1:${await freePort()}`;
  worker = await installation().startWorker();
}, 90_000);

describe("the engine", () => {
  test("one that is away fails on both ports, and the workers cannot be checked", async () => {
    const change = { PERCH_RESTATE_INGRESS_URL: nowhere, PERCH_RESTATE_ADMIN_URL: nowhere };
    expect(await installation().problems(change)).toEqual([
      `failed engine ingress: ${nowhere} does not answer (ECONNREFUSED). Start that node, or correct PERCH_RESTATE_INGRESS_URL.`,
      `failed engine admin: ${nowhere} does not answer (ECONNREFUSED). Start that node, or correct PERCH_RESTATE_ADMIN_URL.`,
      "skipped workers: the engine's admin port was not reached",
    ]);
  });

  test("one node of several that is away is a warning, and another one is asked for the workers", async () => {
    const { ingressUrls, adminUrls } = installation().engine;
    const change = {
      PERCH_RESTATE_INGRESS_URL: [nowhere, ...ingressUrls].join(","),
      PERCH_RESTATE_ADMIN_URL: [nowhere, ...adminUrls].join(","),
    };
    const findings = await installation().findings(change);
    expect(findings.slice(-5).map(({ name, status }) => `${status} ${name}`)).toEqual([
      "warning engine ingress",
      "ok engine ingress",
      "warning engine admin",
      "ok engine admin",
      "ok workers",
    ]);
  });

  test("an address of another service is not taken for the engine", async () => {
    const { ingressUrls, adminUrls } = installation().engine;
    const swapped = { PERCH_RESTATE_INGRESS_URL: adminUrls[0], PERCH_RESTATE_ADMIN_URL: ingressUrls[0] };
    expect((await installation().problems(swapped)).map((line) => line.split(":")[0])).toEqual([
      "failed engine ingress",
      "failed engine admin",
      "skipped workers",
    ]);
  });
});

test("a Valkey that is away, or wants a password, fails", async () => {
  const { valkey, problems } = installation();
  const place = new URL(valkey.url).host;
  expect(await problems({ PERCH_VALKEY_URL: `redis://nobody:wrong@${place}` })).toEqual([
    expect.stringMatching(/^failed Valkey: .* refuses the user or the password .*Correct PERCH_VALKEY_URL\.$/),
  ]);
  await valkey.kill();
  expect(await problems()).toEqual([
    `failed Valkey: Valkey does not answer at ${place} (ECONNREFUSED). Start it, or correct PERCH_VALKEY_URL.`,
  ]);
  await valkey.start();
});

describe("the workers", () => {
  test("workers that the engine calls in vain fail, with their address and the engine's reason", async () => {
    const { problems } = installation();
    await worker.end("SIGKILL");
    expect(await problems()).toEqual([
      expect.stringMatching(
        new RegExp(
          `^failed workers: The engine does not reach the workers at http://127\\.0\\.0\\.1:${worker.port}/.* \\(.*refused.*\\)\\. Start a worker there`,
        ),
      ),
    ]);
  });

  test("workers that do not accept the engine's identity fail, with the setting to compare", async () => {
    const { problems, startWorker } = installation();
    await startWorker({
      PERCH_WORKER_PORT: String(worker.port),
      PERCH_RESTATE_IDENTITY_KEYS: "publickeyv1_2G8dCQhArfvGpzPw5Vx2ALciR4xCLHfS5YaT93XjNxX9",
    });
    expect(await problems()).toEqual([
      expect.stringMatching(/^failed workers: The workers at http:.* refuse the engine .*PERCH_RESTATE_IDENTITY_KEYS/),
    ]);
  });
});
