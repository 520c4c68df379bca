import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { answers, equal, holds, refuses, single } from "../expectations.ts";
import { type Section, type Statement, statement } from "../statement.ts";
import { agent, newKey, newName, type World } from "../world.ts";
import { securitySettings } from "./security-settings.ts";
import { webhookSignatures } from "./webhook-signatures.ts";

const cli = join(import.meta.dirname, "../../../packages/cli/src/main.ts");

/** The command line as its own process, in an empty folder. */
async function perch({ url, key }: World, args: readonly string[]): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "perch-walk-"));
  try {
    const env = { PATH: process.env.PATH, PERCH_URL: url, PERCH_API_KEY: key, XDG_CONFIG_HOME: folder };
    return (await promisify(execFile)(process.execPath, [cli, ...args], { cwd: folder, env })).stdout.trim();
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const isAccepted = async (world: World, key: string): Promise<boolean> => {
  const { status } = await world.call("GET", "/v1/agents?limit=1", { key });
  return status === 200;
};

/** The key that the command line made, and its id. */
const commandLineKey = (world: World) =>
  world.once("key of the command line", async () => {
    const name = newName();
    const made = await perch(world, ["keys", "create", name, "--permission", "read"]);
    const listed = JSON.parse(await perch(world, ["keys", "list", "--limit", "100", "--json"])) as {
      data: { id: string; name: string }[];
    };
    return { key: made, name, listed: listed.data, id: listed.data.find((one) => one.name === name)?.id ?? "" };
  });

const commandLine: readonly Statement[] = [
  statement("cli.create", "A command-line tool offers create for keys", async (world) => {
    holds(await isAccepted(world, (await commandLineKey(world)).key), "the created key is refused");
  }),
  statement("cli.list", "A command-line tool offers list for keys", async (world) => {
    const { listed, name } = await commandLineKey(world);
    holds(
      listed.some((one) => one.name === name),
      "the key is not listed",
    );
  }),
  statement("cli.rotate", "A command-line tool offers rotate for keys", async (world) => {
    const { id, key } = await newKey(world, { permissions: ["read"] });
    const next = await perch(world, ["keys", "rotate", id, "--overlap", "0s"]);
    holds(await isAccepted(world, next), "the new key is refused");
    holds(!(await isAccepted(world, key)), "the old key still works");
  }),
  statement("cli.revoke", "A command-line tool offers revoke for keys", async (world) => {
    const { id, key } = await newKey(world, { permissions: ["read"] });
    await perch(world, ["keys", "revoke", id, "--yes"]);
    holds(!(await isAccepted(world, key)), "the key still works");
  }),
];

const rules: readonly Statement[] = [
  statement("auth.bearer", "Every request carries an API key in Authorization: Bearer <API_KEY>", async (world) => {
    answers(
      await world.call("GET", "/v1/agents", { key: null, headers: { authorization: `Bearer ${world.key}` } }),
      200,
    );
    const elsewhere: Record<string, string>[] = [
      { authorization: `Basic ${Buffer.from(`${world.key}:`).toString("base64")}` },
      { "x-api-key": world.key },
    ];
    for (const headers of elsewhere) {
      refuses(await world.call("GET", "/v1/agents", { key: null, headers }), 401, "unauthorized");
    }
  }),
  statement("auth.missing", "A missing key yields status 401 with code unauthorized", async (world) => {
    refuses(await world.call("GET", "/v1/agents", { key: null }), 401, "unauthorized");
  }),
  statement("auth.invalid", "An invalid key yields status 401 with code unauthorized", async (world) => {
    const last = world.key.at(-1) === "a" ? "b" : "a";
    for (const key of ["nonsense", `${world.key.slice(0, -1)}${last}`]) {
      refuses(await world.call("GET", "/v1/agents", { key }), 401, "unauthorized");
    }
  }),
  statement(
    "auth.insufficient",
    "A key without sufficient permission yields 403 with code forbidden",
    async (world) => {
      const { key } = await newKey(world, { permissions: ["read"] });
      const body = { name: newName(), model: "perch/echo" };
      refuses(await world.call("POST", "/v1/agents", { key, body }), 403, "forbidden");
    },
  ),
  statement("auth.create-key", "Keys are created with Create API Key (agent_id, name, permissions)", async (world) => {
    const { id } = await agent(world);
    const { key } = await newKey(world, { agent_id: id, name: newName(), permissions: ["read"] });
    answers(await world.call("GET", `/v1/agents/${id}`, { key }), 200);
  }),
  statement("auth.list-keys", "listed with List API Keys", async (world) => {
    const { id } = await newKey(world, { permissions: ["read"] });
    const { data } = answers(await world.call("GET", "/v1/keys?limit=100"), 200);
    holds(
      data.some((one: { id: string }) => one.id === id),
      "the key is not listed",
    );
  }),
  statement("auth.revoke-key", "revoked with Revoke API Key", async (world) => {
    const { id, key } = await newKey(world, { permissions: ["read"] });
    holds(await isAccepted(world, key), "the key is refused");
    single(await world.call("DELETE", `/v1/keys/${id}`), 200);
    refuses(await world.call("GET", "/v1/agents", { key }), 401, "unauthorized", "the revoked key");
  }),
  ...commandLine,
];

/** A request that each permission allows and no other does. */
const needs: Readonly<Record<string, readonly [method: string, path: string, body?: object]>> = {
  read: ["GET", ""],
  write: ["PATCH", "", { temperature: 1 }],
  delete: ["DELETE", "/memory"],
  manage: ["GET", "keys"],
};

const permissions: readonly Statement[] = [
  ...Object.entries(needs).map(([permission, [method, path, body]]) =>
    statement(`permission.${permission}`, `Permission names: ${permission}`, async (world) => {
      const made = await agent(world);
      const target = path === "keys" ? "/v1/keys" : made.path + path;
      for (const name of Object.keys(needs)) {
        const { key, permissions: held } = await newKey(world, { permissions: [name] });
        equal(held, [name], "permissions");
        const answer = await world.call(method, target, { key, ...(body && { body }) });
        if (name === permission) answers(answer, 200, `${method} with ${name}`);
        else refuses(answer, 403, "forbidden", `${method} with ${name}`);
      }
    }),
  ),
  ...Object.entries({
    admin: ["read", "write", "delete", "manage"],
    developer: ["read", "write"],
    viewer: ["read"],
  }).map(([role, expected]) =>
    statement(`role.${role}`, `Role definitions: ${role} = ${expected.join(", ")}`, async (world) => {
      equal((await newKey(world, { role })).permissions, expected, `permissions of ${role}`);
    }),
  ),
];

export const authentication: Section = {
  title: "Authentication",
  statements: [...rules, ...permissions, ...securitySettings, ...webhookSignatures],
};
