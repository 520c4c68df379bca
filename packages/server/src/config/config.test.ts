import { randomBytes } from "node:crypto";
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { version } from "../platform/version.ts";
import { concerns, knownVariables, readConfig } from "./config.ts";
import { ConfigError } from "./config-error.ts";
import { configurationReference } from "./config-reference.ts";
import type { SettingTable } from "./setting.ts";
import { unknownVariables } from "./unknown-variables.ts";

const masterKey = randomBytes(32);
const complete = {
  PERCH_DATABASE_URL: "postgres://perch_server:pg-password@db.example/perch",
  PERCH_MASTER_KEY: masterKey.toString("base64"),
};

function configErrorMessage(environment: Record<string, string>): string {
  try {
    readConfig(environment);
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
  throw new Error("not refused");
}

/** The variables a message is about. */
const namedIn = (message: string) => message.match(/PERCH_\w+/g)?.sort();

describe("readConfig", () => {
  test("needs a database and a master key; the rest has a default", () => {
    expect(readConfig(complete)).toEqual({
      databaseUrl: complete.PERCH_DATABASE_URL,
      migrationDatabaseUrl: undefined,
      databaseMaxConnections: 10,
      masterKey,
      host: "127.0.0.1",
      port: 7400,
      publicUrl: undefined,
      securityContact: undefined,
      oidc: undefined,
      release: version,
      releaseName: undefined,
      startWaitSeconds: 0,
      oneStepRuns: true,
      processCount: undefined,
      processes: 1,
      drainSeconds: 960,
      reconcileSeconds: 300,
      console: true,
      draftByDefault: false,
      scriptModel: true,
      metricsHost: "127.0.0.1",
      metricsPort: undefined,
      logLevel: "info",
      valkeyUrl: undefined,
      valkeyTimeoutMs: 250,
      ingressUrls: ["http://127.0.0.1:8080"],
      adminUrls: ["http://127.0.0.1:9070"],
      engineNodePorts: [5122],
      identityKeys: [],
      workerHost: "127.0.0.1",
      workerNetworkClosed: false,
      workerPort: 7401,
      workerUrl: undefined,
      scriptModelUrl: undefined,
      otlpUrl: undefined,
      defaultLogs: "shapes",
      unauthenticatedRequestsPerMinute: 300,
      security: {},
      previousMasterKeys: [],
      tls: undefined,
      trustedProxies: [],
      corsOrigins: [],
      allowedHosts: [],
      providers: [],
      modelIdleTimeoutSeconds: 60,
      modelPrices: {},
      localEmbedderDir: join(import.meta.dirname, "../../../../.models/minilm"),
      outboundAllowedPrivateRanges: [],
      webhookRetryDelaySeconds: [5, 30, 120, 900, 3600, 10_800, 28_800, 86_400, 129_600],
      webhookTimeoutSeconds: 10,
      webhookSweepIntervalSeconds: 30,
      webhookAllowLoopback: false,
    });
  });

  test("a key is enough for the well-known providers; an entry in PERCH_PROVIDERS takes precedence", () => {
    const { providers } = readConfig({
      ...complete,
      PERCH_OPENAI_API_KEY: "sk-o",
      PERCH_GOOGLE_API_KEY: "g",
      PERCH_PROVIDERS: JSON.stringify({
        local: { type: "openai-compatible", base_url: "http://127.0.0.1:8000/v1", models: ["small"] },
        google: { type: "google", api_key: "other" },
      }),
    });
    const unset = { baseUrl: null, apiKey: null, models: [] };
    expect(providers).toEqual([
      { ...unset, name: "local", type: "openai-compatible", baseUrl: "http://127.0.0.1:8000/v1", models: ["small"] },
      { ...unset, name: "google", type: "google", apiKey: "other" },
      { ...unset, name: "openai", type: "openai", apiKey: "sk-o" },
    ]);
  });

  test.each([
    ["no JSON", "{", "PERCH_PROVIDERS must be JSON"],
    ["no address", '{"a":{"type":"openai-compatible","api_key":"sk-hidden"}}', "PERCH_PROVIDERS.a needs a base_url"],
    ["an unknown type", '{"a":{"type":"acme","api_key":"sk-hidden"}}', "PERCH_PROVIDERS.a.type"],
    ["an unknown field", '{"a":{"type":"openai","key":"sk-hidden"}}', "PERCH_PROVIDERS.a"],
  ])("providers with %s are refused, without printing their keys", (_, text, expected) => {
    const read = () => readConfig({ ...complete, PERCH_PROVIDERS: text });
    expect(read).toThrow(expected);
    expect(read).not.toThrow("sk-hidden");
  });

  test("reads every setting", () => {
    const config = readConfig({
      ...complete,
      PERCH_MIGRATION_DATABASE_URL: "postgresql://owner@db.example/perch",
      PERCH_HOST: "0.0.0.0",
      PERCH_PORT: "8080",
      PERCH_METRICS_HOST: "10.0.0.7",
      PERCH_METRICS_PORT: "9464",
      PERCH_LOG_LEVEL: "warn",
      PERCH_RESTATE_INGRESS_URL: "http://one:8080, http://two:8080",
      PERCH_RESTATE_ADMIN_URL: "http://one:9070",
      PERCH_RESTATE_NODE_PORTS: "5122, 5123",
      PERCH_RESTATE_IDENTITY_KEYS: "publickeyv1_a,publickeyv1_b",
      PERCH_WORKER_HOST: "0.0.0.0",
      PERCH_WORKER_NETWORK_CLOSED: "true",
      PERCH_WORKER_PORT: "9000",
      PERCH_WORKER_URL: "http://workers-2:9000",
      PERCH_SCRIPT_MODEL_URL: "http://script:1",
      PERCH_OTLP_URL: "http://collector:4318/",
      PERCH_MODEL_IDLE_TIMEOUT_SECONDS: "90",
      PERCH_MODEL_PRICES: '{"local/small": 0.5}',
      PERCH_LOCAL_EMBEDDER_DIR: "/srv/minilm",
      PERCH_OUTBOUND_ALLOWED_PRIVATE_RANGES: "10.0.0.0/8",
      PERCH_DATABASE_MAX_CONNECTIONS: "50",
      PERCH_TRUSTED_PROXIES: "192.0.2.1, 10.0.0.0/8,2001:db8::/32",
      PERCH_CORS_ORIGINS: " https://a.example ,,https://b.example",
      PERCH_ALLOWED_HOSTS: "Perch.example, 127.0.0.1,[::1]",
      PERCH_PUBLIC_URL: "https://perch.example/",
      PERCH_DRAFT_BY_DEFAULT: "true",
      PERCH_CONSOLE: "off",
    });
    expect(config).toMatchObject({
      migrationDatabaseUrl: "postgresql://owner@db.example/perch",
      publicUrl: "https://perch.example",
      draftByDefault: true,
      console: false,
      host: "0.0.0.0",
      port: 8080,
      metricsHost: "10.0.0.7",
      metricsPort: 9464,
      logLevel: "warn",
      ingressUrls: ["http://one:8080", "http://two:8080"],
      adminUrls: ["http://one:9070"],
      engineNodePorts: [5122, 5123],
      identityKeys: ["publickeyv1_a", "publickeyv1_b"],
      workerHost: "0.0.0.0",
      workerNetworkClosed: true,
      workerPort: 9000,
      workerUrl: "http://workers-2:9000",
      scriptModelUrl: "http://script:1",
      otlpUrl: "http://collector:4318",
      localEmbedderDir: "/srv/minilm",
      databaseMaxConnections: 50,
      trustedProxies: ["192.0.2.1", "10.0.0.0/8", "2001:db8::/32"],
      corsOrigins: ["https://a.example", "https://b.example"],
      allowedHosts: ["perch.example", "127.0.0.1", "[::1]"],
    });
  });

  test("an empty variable counts as one that is not set", () => {
    const empty = { PERCH_PORT: "", PERCH_HOST: "", PERCH_LOG_LEVEL: "", PERCH_MIGRATION_DATABASE_URL: "" };
    expect(readConfig({ ...complete, ...empty })).toEqual(readConfig(complete));
    expect(namedIn(configErrorMessage({ ...complete, PERCH_MASTER_KEY: "" }))).toEqual(["PERCH_MASTER_KEY"]);
  });

  test("other environment variables are ignored", () => {
    expect(readConfig({ ...complete, HOME: "/root", PERCHANCE: "x" })).toEqual(readConfig(complete));
  });

  test("names everything that is missing in one message, and the document to read", () => {
    const message = configErrorMessage({});
    expect(namedIn(message)).toEqual(["PERCH_DATABASE_URL", "PERCH_MASTER_KEY"]);
    expect(message).toContain("docs/operations/configuration.md");
  });

  test("names everything that is wrong in one message, and prints no value of a secret", () => {
    const wrong = {
      PERCH_DATABASE_URL: "mysql://root:my-password@db.example/perch",
      PERCH_MIGRATION_DATABASE_URL: "owner:my-password",
      PERCH_MASTER_KEY: randomBytes(31).toString("base64"),
      PERCH_PORT: "65536",
      PERCH_LOG_LEVEL: "loud",
      PERCH_DATABASE_MAX_CONNECTIONS: "0",
      PERCH_TRUSTED_PROXIES: "10.0.0.0/8, the-balancer",
    };
    const message = configErrorMessage(wrong);
    expect(namedIn(message)).toEqual(Object.keys(wrong).sort());
    expect(message).not.toContain("my-password");
    expect(message).not.toContain(wrong.PERCH_MASTER_KEY);
    expect(message).not.toContain(wrong.PERCH_MASTER_KEY.slice(0, 12));
  });

  test.each([
    ["PERCH_RESTATE_INGRESS_URL", "http://one:8080,http://user:my-password@engine:8080"],
    ["PERCH_RESTATE_ADMIN_URL", "http://my-password@engine:9070"],
    ["PERCH_OTLP_URL", "https://user:my-password@collector:4318"],
  ])("an address in %s that holds a user or a password is refused in one line without it", (name, value) => {
    const message = configErrorMessage({ ...complete, [name]: value });
    expect(namedIn(message)).toEqual([name]);
    expect(message).toContain("must not hold a user or a password");
    expect(message).not.toContain("my-password");
  });

  test.each(["http://perch.example", "https://perch.example/path", "perch.example", "https://user@perch.example"])(
    "a public address is an origin that others can trust, not %s",
    (address) => {
      expect(() => readConfig({ ...complete, PERCH_PUBLIC_URL: address })).toThrow("PERCH_PUBLIC_URL");
    },
  );

  test.each(["http://localhost:7400", "http://127.0.0.1:7400", "http://[::1]:7400", "https://perch.example:8443"])(
    "%s can be the public address",
    (address) => {
      expect(readConfig({ ...complete, PERCH_PUBLIC_URL: address }).publicUrl).toBe(address);
    },
  );

  test.each([
    ["PERCH_MASTER_KEY", Buffer.alloc(16, 1).toString("base64")],
    ["PERCH_MASTER_KEY", Buffer.alloc(33, 1).toString("base64")],
    ["PERCH_MASTER_KEY", Buffer.alloc(32, 1).toString("hex")],
    ["PERCH_PORT", "http"],
    ["PERCH_PORT", "80.5"],
    ["PERCH_PORT", "-1"],
    ["PERCH_DATABASE_MAX_CONNECTIONS", "501"],
    ["PERCH_TRUSTED_PROXIES", "10.0.0.0/33"],
    ["PERCH_TRUSTED_PROXIES", "*"],
    ["PERCH_ALLOWED_HOSTS", "perch.example:7400"],
    ["PERCH_ALLOWED_HOSTS", "https://perch.example"],
    ["PERCH_OTLP_URL", "collector:4318"],
  ])("refuses %s=%s, and reports no other variable", (name, value) => {
    const message = configErrorMessage({ ...complete, [name]: value });
    expect(namedIn(message)).toEqual([name]);
    if (name === "PERCH_MASTER_KEY") {
      expect(message).toContain("openssl rand -base64 32");
      expect(message).not.toContain(value);
    }
  });

  test.each([
    ["PERCH_DATABSE_URL", "postgres://db.example/perch", " Did you mean PERCH_DATABASE_URL?"],
    ["PERCH_MASTERKEY_FILE", "/run/secrets/key", " Did you mean PERCH_MASTER_KEY_FILE?"],
    ["PERCH_METRIC_PORT", "9464", " Did you mean PERCH_METRICS_PORT?"],
    ["PERCH_SOMETHING_ELSE", "x", ""],
    ["PERCH_PORT_FILE", "/run/port", ""],
  ])("refuses %s, which is not a setting, in one line", (name, value, hint) => {
    const [line, ...rest] = configErrorMessage({ ...complete, [name]: value }).split("\n");
    expect(line).toMatch(new RegExp(`^${name} is not a setting\\.${hint.replaceAll("?", "\\?")}$`));
    expect(rest).toEqual(["See docs/operations/configuration.md."]);
  });

  test("accepts variables of the CLI, the SDKs and the development script, and what Kubernetes sets for a service named perch", () => {
    const others = {
      PERCH_URL: "https://perch.example",
      PERCH_API_KEY: "perch_x",
      PERCH_PROFILE: "mine",
      PERCH_DATABASE_ADMIN_URL: "postgres://postgres@db.example/postgres",
      PERCH_SERVICE_HOST: "10.0.0.1",
      PERCH_SERVICE_PORT: "7400",
      PERCH_API_PORT: "tcp://10.0.0.1:7400",
      PERCH_PORT_7400_TCP_PORT: "7400",
      PERCH_ANYTHING: "",
    };
    expect(readConfig({ ...complete, ...others })).toEqual(readConfig(complete));
    expect(configErrorMessage({ ...complete, PERCH_PORT: "tcp://10.0.0.1:7400" })).toContain("enableServiceLinks");
  });

  test("every variable that the repository's own code, examples and documents name is known here", () => {
    const root = join(import.meta.dirname, "../../../..");
    const files = ["bench", "chaos", "docs", "examples", "packages", "scripts", "sdk-python", "site", "spec"].flatMap(
      (folder) =>
        globSync(`${folder}/**/*.{ts,mjs,py,md,yaml,svelte}`, {
          cwd: root,
          exclude: ["**/node_modules", "**/.venv", "**/dist", "**/config.test.ts"],
        }),
    );
    const named = new Set(
      files.flatMap((file) => readFileSync(join(root, file), "utf8").match(/\bPERCH_[A-Z0-9_]*[A-Z0-9]\b/g) ?? []),
    );
    // PERCH_AGENT stands for a variable of some other program.
    const notVariables = ["PERCH_DEPRECATED", "PERCH_SERVICES", "PERCH_AGENT"];
    expect(named.size).toBeGreaterThan(50);
    const variables = [...named].filter((name) => !notVariables.includes(name));
    expect(unknownVariables(Object.fromEntries(variables.map((name) => [name, "x"])), knownVariables)).toEqual([]);
  });

  test.each([
    ["PERCH_RESTATE_INGRESS_URL", "engine:8080", "http://engine.example:8080"],
    ["PERCH_RESTATE_ADMIN_URL", "http://one:9070,two:9070", "http://engine.example:9070"],
    ["PERCH_WORKER_URL", "workers:7401", "http://workers.example:7401"],
    ["PERCH_SCRIPT_MODEL_URL", "localhost:9000", "http://127.0.0.1:9000"],
    ["PERCH_OTLP_URL", "collector", "http://collector.example:4318"],
    ["PERCH_VALKEY_URL", "valkey:6379", "redis://valkey.example:6379"],
    ["PERCH_DATABASE_URL", "db.example/perch", "postgres://perch_server:PASSWORD@db.example:5432/perch"],
    ["PERCH_PUBLIC_URL", "perch.example:443", "https://perch.example"],
  ])("%s=%s is not an address, and the line shows one", (name, value, example) => {
    const lines = configErrorMessage({ ...complete, [name]: value }).split("\n");
    expect(lines).toHaveLength(2);
    expect(lines[0]).toMatch(new RegExp(`^${name} must be .*such as `));
    expect(lines[0]).toContain(example);
  });

  describe("a secret in a file", () => {
    const folder = mkdtempSync(join(tmpdir(), "perch-config-"));
    afterAll(() => rmSync(folder, { recursive: true }));
    const fileWith = (name: string, text: string) => {
      const file = join(folder, name);
      writeFileSync(file, text);
      return file;
    };
    const { PERCH_MASTER_KEY, ...withoutKey } = complete;

    test("is read, without the line break at its end", () => {
      for (const [index, end] of ["", "\n", "\r\n"].entries()) {
        const file = fileWith(`key-${index}`, `${PERCH_MASTER_KEY}${end}`);
        expect(readConfig({ ...withoutKey, PERCH_MASTER_KEY_FILE: file })).toEqual(readConfig(complete));
      }
      const url = fileWith("url", "postgres://perch_server:from-file@db.example/perch\n");
      const { PERCH_DATABASE_URL: _, ...withoutUrl } = complete;
      expect(readConfig({ ...withoutUrl, PERCH_DATABASE_URL_FILE: url }).databaseUrl).toContain("from-file");
    });

    test.each([
      [
        "a file that is missing",
        () => ({ PERCH_MASTER_KEY_FILE: "/nowhere" }),
        "/nowhere, which cannot be read (ENOENT).",
      ],
      ["an empty file", () => ({ PERCH_MASTER_KEY_FILE: fileWith("empty", "\n") }), "which is empty."],
      [
        "both names",
        () => ({ PERCH_MASTER_KEY, PERCH_MASTER_KEY_FILE: fileWith("both", PERCH_MASTER_KEY) }),
        "PERCH_MASTER_KEY and PERCH_MASTER_KEY_FILE are both set. Set one of them.",
      ],
      [
        "a wrong value",
        () => ({ PERCH_MASTER_KEY_FILE: fileWith("wrong", "short-secret") }),
        "PERCH_MASTER_KEY must be",
      ],
    ])("%s is refused in one line, without its content", (_, given, expected) => {
      const lines = configErrorMessage({ ...withoutKey, ...given() }).split("\n");
      expect(lines).toEqual([expect.stringContaining(expected), "See docs/operations/configuration.md."]);
      expect(lines[0]).not.toContain("short-secret");
      expect(lines[0]).not.toContain(PERCH_MASTER_KEY);
    });

    test("is possible for every setting whose value can hold a password or a key", () => {
      const secret = settings.filter(([, { isSecret }]) => isSecret).map(([, { variable }]) => variable);
      expect(secret).toEqual([
        ...["PERCH_DATABASE_URL", "PERCH_MIGRATION_DATABASE_URL", "PERCH_VALKEY_URL"],
        ...["PERCH_MASTER_KEY", "PERCH_PREVIOUS_MASTER_KEYS", "PERCH_SECURITY", "PERCH_OIDC"],
        "PERCH_RESTATE_IDENTITY_KEYS",
        ...["PERCH_OPENAI_API_KEY", "PERCH_ANTHROPIC_API_KEY", "PERCH_GOOGLE_API_KEY", "PERCH_PROVIDERS"],
      ]);
      for (const variable of secret) expect(configurationReference()).toContain(`\`${variable}_FILE\``);
    });
  });

  const settings = Object.values<SettingTable>(concerns).flatMap((table) => Object.entries(table));

  test("no two settings share a variable or a field", () => {
    expect(settings.length).toBeGreaterThan(5);
    expect(new Set(settings.map(([field]) => field)).size).toBe(settings.length);
    expect(new Set(settings.map(([, { variable }]) => variable)).size).toBe(settings.length);
  });

  test("every setting has a sentence for the reference page", () => {
    for (const [, { variable, schema }] of settings) expect(schema.description, variable).toMatch(/^[A-Z0-9].{10,}\.$/);
  });
});
