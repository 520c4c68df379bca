import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import server from "../../packages/server/package.json" with { type: "json" };
import { knownVariables } from "../../packages/server/src/config/config.ts";

interface Service {
  readonly image?: string;
  readonly command?: readonly string[];
  readonly restart?: string;
  readonly read_only?: boolean;
  readonly cap_drop?: readonly string[];
  readonly security_opt?: readonly string[];
  readonly mem_limit?: string;
  readonly depends_on?: unknown;
  readonly healthcheck?: unknown;
  readonly environment?: Readonly<Record<string, string>>;
  readonly secrets?: readonly string[];
  readonly ports?: readonly string[];
  readonly profiles?: readonly string[];
  readonly stop_grace_period?: string;
  readonly networks?: readonly string[] | Readonly<Record<string, unknown>>;
}

interface ComposeFile {
  readonly services: Readonly<Record<string, Service>>;
  readonly networks: Readonly<Record<string, { readonly internal?: boolean }>>;
  readonly secrets?: Readonly<Record<string, { readonly file?: string }>>;
}

const read = (file: string) => readFileSync(join(import.meta.dirname, file), "utf8");
const files = { "compose.yaml": read("compose.yaml"), "cell.yaml": read("cell.yaml") };
const parsed = Object.entries(files).map(
  ([file, text]) => [file, parse(text, { merge: true }) as ComposeFile] as const,
);

/** The services that a file defines. A service without an image only changes one of the other file. */
const services = parsed.flatMap(([file, { services }]) =>
  Object.entries(services)
    .filter(([, { image }]) => image !== undefined)
    .map(([name, service]) => [`${file}: ${name}`, service] as const),
);
const networksOf = ({ networks = [] }: Service) => (Array.isArray(networks) ? networks : Object.keys(networks));
const listed = Object.fromEntries(parsed.flatMap(([, { networks }]) => Object.entries(networks)));

test("the checks see the services of both files", () => {
  const names = services.map(([name]) => name);
  expect(names).toEqual(
    expect.arrayContaining([
      "compose.yaml: all",
      "compose.yaml: postgres",
      "cell.yaml: work-green",
      "cell.yaml: balancer",
    ]),
  );
  expect(names.length).toBeGreaterThanOrEqual(15);
});

describe.each(services)("%s", (_, service) => {
  test("its image is a variable with a default", () => {
    expect(service.image).toMatch(/^\$\{[A-Z]+_IMAGE:-[a-z/-]+:[\w.]+\}$/);
  });

  test("waits for nothing that podman ignores: no dependency and no health check", () => {
    expect(service.depends_on).toBeUndefined();
    expect(service.healthcheck).toBeUndefined();
  });

  test("has a restart policy and a limit of memory, and no more rights than it needs", () => {
    expect(["unless-stopped", "on-failure", "no"]).toContain(service.restart);
    expect(service.mem_limit).toMatch(/^\d+[mg]$/);
    expect(service.read_only).toBe(true);
    expect(service.cap_drop).toEqual(["ALL"]);
    expect(service.security_opt).toEqual(["no-new-privileges:true"]);
  });

  test("publishes ports on the loopback address only", () => {
    for (const port of service.ports ?? []) expect(port).toMatch(/^127\.0\.0\.1:/);
  });

  test("every PERCH_ variable is a setting, and every secret comes from a file that is mounted", () => {
    const environment = Object.entries(service.environment ?? {});
    const ours = environment.map(([name]) => name).filter((name) => name.startsWith("PERCH_"));
    expect(ours.filter((name) => !knownVariables.includes(name))).toEqual([]);
    const mounted = environment.filter(([, value]) => value.startsWith("/run/secrets/"));
    for (const [, path] of mounted) expect(service.secrets).toContain(path.replace("/run/secrets/", ""));
    for (const [name] of environment) expect(name).not.toMatch(/PASSWORD$|MASTER_KEY$|DATABASE_URL$|VALKEY_URL$/);
  });
});

/** The services with this text in their image or command, by name. */
function select(isMeant: (service: Service) => boolean, minimum: number): readonly (readonly [string, Service])[] {
  const found = services.filter(([, service]) => isMeant(service));
  expect(found.length).toBeGreaterThanOrEqual(minimum);
  return found;
}

test("whatever executes runs, which take up to 15 minutes, has 16 to stop", () => {
  const workers = select(({ command = [] }) => ["all", "work"].includes(command[0] ?? ""), 3);
  for (const [name, { stop_grace_period }] of workers) expect(stop_grace_period, name).toBe("18m");
});

test("PostgreSQL, Valkey and the engine are on one network each", () => {
  const stores = select(({ image = "" }) => /POSTGRES|VALKEY/.test(image), 2);
  for (const [name, service] of stores) expect(networksOf(service), name).toEqual(["data"]);
  const nodes = select(({ image = "" }) => image.includes("RESTATE"), 4);
  for (const [name, service] of nodes) expect(networksOf(service), name).toEqual(["engine"]);
});

test("only the network with the published port has a way out", () => {
  const open = Object.entries(listed).filter(([, network]) => network.internal !== true);
  expect(open.map(([name]) => name)).toEqual(["outside"]);
});

test("the files contain no secret: each is a file that create-secrets writes", () => {
  const [, { secrets = {} }] = parsed[0] ?? ["", { services: {}, networks: {} }];
  const written = readFileSync(
    join(import.meta.dirname, "../../packages/server/src/operator/commands/run-create-secrets.ts"),
    "utf8",
  );
  expect(Object.keys(secrets).length).toBeGreaterThanOrEqual(10);
  for (const [name, { file }] of Object.entries(secrets)) {
    expect(file).toBe(`\${SECRETS_DIR:-./secrets}/${name}`);
    expect(written).toContain(`file: "${name}"`);
  }
  for (const [, service] of services)
    for (const name of service.secrets ?? []) expect(Object.keys(secrets)).toContain(name);
});

test("the image of the server is that of this release", () => {
  const commands = read("README.md").matchAll(/^ {2}perch-server:([\w.-]+) create-secrets/gm);
  const defaults = Object.values(files).flatMap((text) => [...text.matchAll(/:-perch-server:([\w.-]+)\}/g)]);
  const tags = [...commands, ...defaults];
  expect(tags.length).toBeGreaterThanOrEqual(5);
  for (const [, tag] of tags) expect(tag).toBe(server.version);
});
