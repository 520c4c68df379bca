import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { installationSettings } from "@perch/testkit/installation/installation-settings.ts";
import { type RestateCluster, startRestate } from "@perch/testkit/installation/restate-process.ts";
import {
  createScratchDatabase,
  type ScratchDatabase,
  serviceUrl,
} from "@perch/testkit/installation/scratch-database.ts";
import { freePort } from "@perch/testkit/installation/server-process.ts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Container, podman, runInContainer, startContainer, whyNoContainers } from "./containers.ts";
import * as layout from "./image-layout.ts";

const root = join(import.meta.dirname, "../..");
const { version } = JSON.parse(readFileSync(join(root, "packages/server/package.json"), "utf8")) as { version: string };
/** The default name, which remains for the tests of the compose file. */
const name = "localhost/perch-server";
const image = `${name}:${version}`;
const obstacle = await whyNoContainers();
if (obstacle !== undefined) console.log(`The tests of the image are skipped: ${obstacle}.`);

interface Component {
  readonly name: string;
  readonly version: string;
  readonly purl: string;
  readonly licenses: readonly unknown[];
}

describe.skipIf(obstacle !== undefined)("the image of the server", () => {
  let folder: string;
  /** The files of the image, as a folder. */
  let files: string;
  let components: Component[];
  /** Runs inside the image, so that a pattern such as `./var/*` does not depend on the mount point. */
  const find = (...tests: string[]): string[] =>
    execFileSync("find", [".", ...tests, "-printf", "%P\n"], { cwd: files, encoding: "utf8" })
      .split("\n")
      .filter(Boolean);

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "perch-image-test-"));
    const build = join(import.meta.dirname, "build.ts");
    execFileSync(process.execPath, ["--no-warnings", build, "--name", name, "--sbom", join(folder, "sbom.json")], {
      stdio: ["ignore", "inherit", "inherit"],
    });
    files = await podman(["image", "mount", image]);
    const sbom = readFileSync(join(files, layout.sbomFile), "utf8");
    components = (JSON.parse(sbom) as { components: Component[] }).components;
  }, 400_000);
  afterAll(async () => {
    if (files) await podman(["image", "unmount", image]);
    rmSync(folder, { recursive: true, force: true });
  });

  test("has at most 300 MB", async () => {
    expect(Number(await podman(["image", "inspect", "--format", "{{.Size}}", image]))).toBeLessThan(300e6);
  });

  test("is configured as image-layout.ts describes", async () => {
    const [{ Config: config }] = JSON.parse(await podman(["image", "inspect", image])) as [
      { Config: Record<string, unknown> & { Labels: Record<string, string> } },
    ];
    const revision = config.Labels["org.opencontainers.image.revision"] ?? "";
    expect(revision).toMatch(/^[0-9a-f]{40}(-modified)?$/);
    expect(config).toEqual({
      User: `${layout.user.id}:${layout.user.id}`,
      ExposedPorts: Object.fromEntries(layout.ports.map((port) => [port, {}])),
      Env: Object.entries(layout.environment).map(([key, value]) => `${key}=${value}`),
      Entrypoint: layout.entrypoint,
      Cmd: layout.command,
      WorkingDir: "/",
      Labels: layout.labels({ version, revision }),
      StopSignal: layout.stopSignal,
    });
  });

  test("has no shell, no package manager, and no program but Node", () => {
    expect(find("-type", "f", "-perm", "/111", "-not", "-name", "*.so*", "-not", "-path", "./opt/perch/*")).toEqual([
      layout.nodeFile.slice(1),
    ]);
    expect(
      find("-not", "-type", "d", "-regex", ".*/\\(sh\\|bash\\|dash\\|busybox\\|apt\\|apt-get\\|dpkg\\|npm\\|pnpm\\)"),
    ).toEqual([]);
  });

  test("has no file that gives rights, that others may write, or that belongs to a user other than root", () => {
    expect(find("-perm", "/6000")).toEqual([]);
    expect(find("-perm", "-0002", "-not", "-type", "l").sort()).toEqual(["tmp", "var/lock", "var/tmp"]);
    expect(find("(", "-not", "-uid", "0", "-o", "-not", "-gid", "0", ")")).toEqual([]);
    expect(find("-not", "-perm", "-0004", "-not", "-type", "l", "-not", "-path", "./root")).toEqual([]);
  });

  test("lists every package in it, with a licence, and has the text of each licence", () => {
    const manifests = find("-path", "./opt/perch/*", "-name", "package.json").map((path) => join(files, path));
    const installed = manifests
      .filter((path) => /\/(node_modules\/(@[^/]+\/)?[^/]+|opt\/perch\/server)\/package\.json$/.test(path))
      .map((path) => ({ path, ...(JSON.parse(readFileSync(path, "utf8")) as Component) }));
    expect(installed.length).toBeGreaterThan(100);
    const debian = readdirSync(join(files, "var/lib/dpkg/status.d"));
    expect(debian.sort()).toEqual([...layout.debianPackages].sort());
    const listed = components.map((each) => `${each.name} ${each.purl.slice(0, 7)}`);
    expect([...new Set(listed)].sort()).toEqual(
      [
        ...new Set(installed.map((each) => `${each.name} pkg:npm`)),
        ...debian.map((each) => `${each} pkg:deb`),
        "node pkg:gen",
      ].sort(),
    );
    for (const { name: own, version: exact } of installed) {
      expect(components.some((each) => each.name === own && each.version === exact)).toBe(true);
    }
    expect(components.filter(({ licenses }) => licenses.length === 0)).toEqual([]);
    const hasText = (path: string) =>
      readdirSync(join(path, "..")).some((file) => /^(licen[cs]e|notice|copying|copyright)/i.test(file));
    expect(installed.filter(({ path }) => !hasText(path))).toEqual([]);
    for (const each of debian)
      expect(statSync(join(files, "usr/share/doc", each, "copyright")).size).toBeGreaterThan(0);
    expect(existsSync(join(files, "usr/share/doc/node/LICENSE"))).toBe(true);
    expect(readFileSync(join(folder, "sbom.json"), "utf8")).toBe(readFileSync(join(files, layout.sbomFile), "utf8"));
  });

  test("prints its version, as any user and with nothing to write to", async () => {
    expect(await runInContainer(image, ["--version"])).toBe(version);
  });

  describe("beside the services", () => {
    let database: ScratchDatabase;
    let engine: RestateCluster;
    let settings: NodeJS.ProcessEnv;
    const started: Container[] = [];
    const start = async (args: string[], extra: NodeJS.ProcessEnv = {}) => {
      const container = await startContainer(image, args, { ...settings, ...extra });
      started.push(container);
      return container;
    };

    beforeAll(async () => {
      database = await createScratchDatabase();
      engine = await startRestate();
      settings = {
        PERCH_HOST: "127.0.0.1",
        PERCH_PORT: String(await freePort()),
        PERCH_WORKER_PORT: String(await freePort()),
        ...installationSettings({
          database,
          valkeyUrl: serviceUrl("PERCH_VALKEY_URL"),
          engine,
          masterKey: serviceUrl("PERCH_MASTER_KEY"),
        }),
      };
      await runInContainer(image, ["migrate"], settings);
    }, 200_000);
    afterAll(async () => {
      for (const container of started) await container.remove();
      await engine?.stop();
      await database?.drop();
    });

    test("answers an invocation confined to 512 MB, and stops on SIGTERM with 0", async () => {
      const apiKey = await runInContainer(image, ["create-organisation", "--name", "Acme"], settings);
      const server = await start(["all"]);
      const url = `http://127.0.0.1:${settings.PERCH_PORT}`;
      await expect
        .poll(
          () =>
            fetch(`${url}/readyz`).then(
              ({ status }) => status,
              () => 0,
            ),
          { timeout: 60_000 },
        )
        .toBe(200);
      const page = await fetch(`${url}/console/`);
      expect([page.status, await page.text()]).toEqual([200, expect.stringContaining("/console/assets/")]);
      const post = async (path: string, body: object) => {
        const headers = { authorization: `Bearer ${apiKey}`, "content-type": "application/json" };
        const response = await fetch(`${url}/v1/agents${path}`, {
          method: "POST",
          headers,
          body: JSON.stringify(body),
        });
        return { status: response.status, text: await response.text() };
      };
      expect(await post("", { name: "echo", model: "perch/echo", instructions: "Echo." })).toMatchObject({
        status: 201,
      });
      const reply = await post("/echo/invoke", { message: "Hello from a container" });
      expect(reply).toMatchObject({ status: 200, text: expect.stringContaining("Hello from a container") as string });
      expect(await server.stop(30)).toBe(0);
    });

    test("stops at once on a signal while it waits for the engine", async () => {
      const nowhere = `http://127.0.0.1:${await freePort()}`;
      const server = await start(["all"], { PERCH_RESTATE_INGRESS_URL: nowhere, PERCH_RESTATE_ADMIN_URL: nowhere });
      await expect.poll(server.logs, { timeout: 60_000 }).toContain("worker registration failed, will retry");
      expect(await server.isRunning()).toBe(true);
      expect(await server.stop(10)).toBe(128 + 15);
    });
  });
});
