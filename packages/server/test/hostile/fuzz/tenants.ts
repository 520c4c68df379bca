import { idPrefixes, keyPattern, type OperationKey, permissions, routeOf } from "@perch/contract";
import { ok } from "../../support/contract-client.ts";
import type { Organisation, Perch } from "../../support/harness.ts";
import type { Caller } from "./request-template.ts";
import { KnownValue } from "./schema-arbitrary.ts";

const kindOfPrefix = new Map<string, string>(Object.entries(idPrefixes).map(([kind, prefix]) => [prefix, kind]));
export const publicIdPattern = new RegExp(
  `\\b(${[...kindOfPrefix.keys()].join("|")})_[0-7][0-9a-hjkmnp-tv-z]{25}\\b`,
  "g",
);
const maxValuesPerName = 60;

/** One organisation of the fuzz run: its keys, and the values that responses have shown of it. */
export interface Tenant {
  readonly organisation: Organisation;
  readonly keys: Readonly<Record<Caller, string | undefined>>;
  /** Values by the name of the path parameter or field that takes them. */
  readonly known: Map<string, string[]>;
  /** The agent that a value belongs to: through another agent it is not found. */
  readonly agentOf: Map<string, string>;
  /** Not to be changed or deleted, or later requests would find nothing. */
  readonly pinned: ReadonlySet<string>;
  /** Ids of other organisations that it sent itself, and that a response may therefore repeat. */
  readonly mentionedIds: Set<string>;
}

const typo = (key: string): string => key.slice(0, -8) + (key.at(-8) === "A" ? "B" : "A") + key.slice(-7);

export async function createTenant(perch: Perch): Promise<Tenant> {
  const organisation = await perch.createOrganisation("enterprise");
  const { call, createKey } = organisation;
  // Includes permissions that no role includes, because each operation must succeed for some key.
  const adminKey = await createKey({ permissions: permissions.filter((each) => each !== "approve") });
  const bot = ok(await call("POST /v1/agents", { body: { name: "bot", model: "perch/echo" } })).data;
  const revoked = await createKey({ role: "admin" });
  ok(await call("POST /v1/keys/revoke-leaked", { body: { key: revoked } }));
  const keys = {
    admin: adminKey,
    read: await createKey({ permissions: ["read"] }),
    write: await createKey({ permissions: ["write"] }),
    delete: await createKey({ permissions: ["delete"] }),
    manage: await createKey({ permissions: ["manage"] }),
    bound: await createKey({ role: "admin", agent_id: "bot" }),
    expired: await createKey({ role: "admin", expires_at: new Date(Date.now() + 5000).toISOString() }),
    revoked,
    unauthenticated: undefined,
    typo: typo(adminKey),
  };
  const { data } = ok(await call("GET /v1/keys", { query: { limit: 100 } }));
  const body = { environment: "production", version: "v1" };
  const params = { agent_id: "bot" };
  const live = ok(await call("POST /v1/agents/{agent_id}/deployments", { params, body })).data;
  const spare = ok(await call("POST /v1/keys", { body: { name: "spare", role: "viewer" } })).data;
  return {
    organisation,
    keys,
    known: new Map([
      ["agent_id", ["bot", bot.id]],
      ["deployment_id", [live.id]],
      ["version", ["v1"]],
      ["key_id", [spare.id]],
    ]),
    agentOf: new Map([[live.id, bot.id]]),
    pinned: new Set(["bot", bot.id, ...data.map(({ id }) => id)]),
    mentionedIds: new Set(),
  };
}

function addKnownValue({ known, agentOf }: Tenant, name: string, value: string, agent: string | undefined): void {
  if (agent !== undefined && name !== "agent_id") agentOf.set(value, agent);
  const values = known.get(name) ?? [];
  if (values.includes(value)) return;
  values.push(value);
  // Preserves the first ones, because some are pinned.
  if (values.length > maxValuesPerName) values.splice(5, 1);
  known.set(name, values);
}

interface ResponseContext {
  /** The resource name in the path, singular. */
  readonly collection: string;
  readonly agent: string | undefined;
}

function collectValues(tenant: Tenant, value: unknown, name: string, context: ResponseContext): void {
  const { collection, agent } = context;
  if (typeof value === "string") {
    const kind = kindOfPrefix.get(value.split("_")[0] ?? "") ?? "unknown";
    if (name === "id") addKnownValue(tenant, `${kind}_id`, value, agent);
    else if (name === "name") addKnownValue(tenant, `${collection}_name`, value, undefined);
    else if (name === "key" && keyPattern.test(value)) addKnownValue(tenant, "key", value, undefined);
    else if (/(_id|version|environment|cursor)$/.test(name)) addKnownValue(tenant, name, value, agent);
  } else if (Array.isArray(value)) for (const item of value.slice(0, 10)) collectValues(tenant, item, name, context);
  else if (value !== null && typeof value === "object") {
    const own = "agent_id" in value && typeof value.agent_id === "string" ? value.agent_id : agent;
    for (const [inner, item] of Object.entries(value)) collectValues(tenant, item, inner, { collection, agent: own });
  }
}

/** Which organisation owns each id: the first one that a response showed it to. */
export class IdOwners {
  readonly #owners = new Map<string, Tenant>();

  recordIds(tenant: Tenant, operation: OperationKey, agent: string | undefined, body: unknown): void {
    const collection = routeOf(operation).path.match(/\/(\w+?)s(?:\/\{\w+\})?(?:\/\w+)?$/)?.[1] ?? "";
    collectValues(tenant, (body as { data?: unknown }).data, "", { collection, agent });
    for (const [id] of JSON.stringify(body).matchAll(publicIdPattern))
      if (!this.#owners.has(id)) this.#owners.set(id, tenant);
  }

  /** Ids in a text that belong to another organisation and that the reader did not send itself. */
  foreignIdsIn(text: string, reader: Tenant): string[] {
    return [...text.matchAll(publicIdPattern)]
      .map(([id]) => id)
      .filter((id) => (this.#owners.get(id) ?? reader) !== reader && !reader.mentionedIds.has(id));
  }
}

/** Replaces each `KnownValue` in a template with a value that exists. */
export function resolveKnownValues(value: unknown, operation: OperationKey, me: Tenant, other: Tenant): unknown {
  if (value instanceof KnownValue) {
    const changes = /^(DELETE|PATCH) /.test(operation) || value.name === "key_id";
    const from = value.foreign ? other : me;
    const values = (from.known.get(value.name) ?? []).filter((known) => !changes || !me.pinned.has(known));
    const found = values[value.nth % values.length] ?? `no-${value.name}`;
    if (value.foreign) me.mentionedIds.add(found);
    return found;
  }
  if (Array.isArray(value)) return value.map((item) => resolveKnownValues(item, operation, me, other));
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [name, resolveKnownValues(item, operation, me, other)]),
  );
}
