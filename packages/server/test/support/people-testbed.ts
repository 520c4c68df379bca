import type { Me, Role } from "@perch/contract";
import { type BrowserJar, createBrowserJar, signInAtIssuer } from "@perch/testkit/browsers/browser-jar.ts";
import {
  type Account,
  type PeopleIssuer,
  type PeopleIssuerOptions,
  startPeopleIssuer,
} from "@perch/testkit/identity/people-issuer.ts";
import { freePort } from "@perch/testkit/installation/server-process.ts";
import type { z } from "zod";
import { closeCore, composeCore, depsOf } from "../../src/compose/core.ts";
import type { Config } from "../../src/config/config.ts";
import { createLogger, type Logger } from "../../src/platform/logger.ts";
import { shutDown } from "../../src/platform/shutdown.ts";
import { createOrganisation } from "../../src/resources/organisations/create-organisation.ts";
import { startApi, testConfig } from "./harness.ts";
import { createTestDatabase, type TestDatabase } from "./test-database.ts";

const silent = createLogger("silent");

export interface PeopleTestbed {
  readonly urls: readonly string[];
  readonly database: TestDatabase;
  readonly issuer: PeopleIssuer;
  readonly accounts: Map<string, Account>;
  /** Public ids: `acme`, `globex` and `unmapped`, which no group leads to. */
  readonly organisations: { readonly acme: string; readonly globex: string; readonly unmapped: string };
  readonly adminKey: string;
  readonly config: Config;
  /** Another node, on the same database, with other settings. Calls it as the browser that has this session. */
  readonly callOther: (change: Partial<Config>, browser: SignedInBrowser, path: string) => Promise<Answer>;
  /** Moves the clock of all nodes forward. */
  readonly passMinutes: (minutes: number) => void;
  readonly signIn: (login: string, query?: string) => Promise<SignedInBrowser>;
  readonly stop: () => Promise<void>;
}

export interface SignedInBrowser {
  readonly jar: BrowserJar;
  /** The address at which the sign-in ended. */
  readonly landed: string;
  /** Calls a node as the console does: 0 is the one at the public address. */
  readonly get: (path: string, node?: number) => Promise<Answer>;
  readonly cookie: () => string;
}

/** The body of `GET /v1/me`, or of a refusal. */
interface Answer {
  readonly status: number;
  readonly body: { readonly data: z.infer<typeof Me>; readonly error?: unknown };
}

async function readAnswer(url: string, cookie: string): Promise<Answer> {
  const response = await fetch(url, { headers: { cookie } });
  return { status: response.status, body: (await response.json()) as Answer["body"] };
}

interface TestbedOptions extends Partial<Omit<PeopleIssuerOptions, "origins" | "accounts">> {
  readonly nodes?: number;
  /** The host of the public address. For a browser, `localhost` is another site than the issuer's 127.0.0.1. */
  readonly host?: "127.0.0.1" | "localhost";
  readonly logger?: Logger;
  readonly overrides?: Partial<Config>;
}

export const defaultAccounts = (): [string, Account][] => [
  ["ada", { name: "Ada Lovelace", email: "ada@acme.example", groups: ["perch-admins", "perch-viewers"] }],
  ["vic", { name: "Vic", email: "vic@acme.example", groups: ["perch-viewers", "something-else"] }],
  ["both", { name: "Both", email: "both@acme.example", groups: ["perch-viewers", "globex-developers"] }],
  ["eve", { name: "Eve", email: "eve@evil.example", groups: ["something-else"] }],
];

/** Nodes of Perch with a real issuer of people, one database and, unless it is overridden, no Valkey. */
export async function startPeopleTestbed(options: TestbedOptions = {}): Promise<PeopleTestbed> {
  const { nodes = 1, host = "127.0.0.1", logger = silent, overrides = {}, ...issuerOptions } = options;
  const database = await createTestDatabase();
  const ports = await Promise.all(Array.from({ length: nodes }, () => freePort()));
  const urls = ports.map((port) => `http://${host}:${port}`);
  const [publicUrl = ""] = urls;
  const accounts = new Map(defaultAccounts());
  const issuer = await startPeopleIssuer({ origins: [publicUrl], accounts, ...issuerOptions });

  const plain = testConfig(database);
  const core = composeCore(plain, silent);
  await core.dataKeys.load();
  const acme = await createOrganisation(depsOf(core), { name: "Acme", tier: "enterprise" });
  const globex = await createOrganisation(depsOf(core), { name: "Globex", tier: "free" });
  const unmapped = await createOrganisation(depsOf(core), { name: "Unmapped", tier: "free" });
  await closeCore(core);

  const toMapping = (group: string, organisation: string, role: Role) => ({ group, organisation, role });
  const config: Config = {
    ...plain,
    publicUrl,
    oidc: {
      issuer: issuer.issuer,
      client_id: issuer.clientId,
      client_secret: issuer.clientSecret,
      name: "Acme sign-on",
      scopes: ["openid", "profile", "email", "groups"],
      groups_claim: "groups",
      groups: [
        toMapping("perch-viewers", acme.id, "viewer"),
        toMapping("perch-admins", acme.id, "admin"),
        toMapping("globex-developers", globex.id, "developer"),
        { ...toMapping("perch-approvers", acme.id, "viewer"), approve: true },
      ],
    },
    ...overrides,
  };
  let aheadMs = 0;
  const nowMs = () => Date.now() + aheadMs;
  const servers = await Promise.all(
    ports.map(async (port) => {
      const server = await startApi(config, logger, nowMs);
      await server.app.listen({ host: "127.0.0.1", port });
      return server;
    }),
  );

  return {
    ...{ urls, database, issuer, accounts },
    organisations: { acme: acme.id, globex: globex.id, unmapped: unmapped.id },
    adminKey: acme.key,
    config,
    callOther: async (change, { cookie }, path) => {
      const server = await startApi({ ...config, ...change }, logger, nowMs);
      try {
        return await readAnswer((await server.app.listen({ host: "127.0.0.1", port: 0 })) + path, cookie());
      } finally {
        await shutDown(server.shutdownSteps, silent);
      }
    },
    passMinutes: (minutes) => {
      aheadMs += minutes * 60_000;
    },
    signIn: async (login, query = "") => {
      const jar = createBrowserJar();
      const callback = await signInAtIssuer(jar, `${publicUrl}/console/oidc/start${query}`, { login });
      const landed = (await jar.request(callback)).headers.get("location") ?? "";
      // Cookies are shared between ports.
      const cookie = () => [...jar.cookies(publicUrl)].map(([name, value]) => `${name}=${value}`).join("; ");
      return { jar, landed, cookie, get: (path, node = 0) => readAnswer(`${urls[node]}${path}`, cookie()) };
    },
    stop: async () => {
      for (const server of servers) await shutDown(server.shutdownSteps, silent);
      await issuer.stop().catch(() => undefined);
      await database.drop();
    },
  };
}
