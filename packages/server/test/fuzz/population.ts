import { idPrefixes, keyPattern, type OperationKey, routeOf } from "@perch/contract";
import { ok } from "../contract-client.ts";
import type { Organisation, Perch } from "../harness.ts";
import { Known } from "./schema-arbitrary.ts";
import type { Asker } from "./wish.ts";

const kindOfPrefix = new Map<string, string>(Object.entries(idPrefixes).map(([kind, prefix]) => [prefix, kind]));
export const publicIds = new RegExp(`\\b(${[...kindOfPrefix.keys()].join("|")})_[0-7][0-9a-hjkmnp-tv-z]{25}\\b`, "g");
const mostOfAName = 60;

/** One organisation in the storm: its keys, and what answers have shown of it. */
export interface Resident {
  readonly organisation: Organisation;
  readonly keys: Readonly<Record<Asker, string | undefined>>;
  /** By the name that a path or a body calls it. */
  readonly known: Map<string, string[]>;
  /** The agent that a thing was shown with: asked for through another one, it would not be found. */
  readonly agentOf: Map<string, string>;
  /** What must live on, or the storm would soon hit nothing: not to be changed or deleted. */
  readonly pinned: ReadonlySet<string>;
  /** Ids of others that it named itself, and may so hear again. */
  readonly named: Set<string>;
}

const typo = (key: string): string => key.slice(0, -8) + (key.at(-8) === "A" ? "B" : "A") + key.slice(-7);

export async function newResident(perch: Perch): Promise<Resident> {
  const organisation = await perch.newOrganisation("enterprise");
  const { call, newKey, adminKey } = organisation;
  const bot = ok(await call("POST /v1/agents", { body: { name: "bot", model: "perch/echo" } })).data;
  const revoked = await newKey({ role: "admin" });
  ok(await call("POST /v1/keys/revoke-leaked", { body: { key: revoked } }));
  const keys = {
    admin: adminKey,
    read: await newKey({ permissions: ["read"] }),
    write: await newKey({ permissions: ["write"] }),
    delete: await newKey({ permissions: ["delete"] }),
    manage: await newKey({ permissions: ["manage"] }),
    bound: await newKey({ role: "admin", agent_id: "bot" }),
    expired: await newKey({ role: "admin", expires_at: new Date(Date.now() + 5000).toISOString() }),
    revoked,
    nobody: undefined,
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
    named: new Set(),
  };
}

function remember({ known, agentOf }: Resident, name: string, value: string, agent: string | undefined): void {
  if (agent !== undefined && name !== "agent_id") agentOf.set(value, agent);
  const values = known.get(name) ?? [];
  if (values.includes(value)) return;
  values.push(value);
  // The first ones stay: they are pinned or as good as any.
  if (values.length > mostOfAName) values.splice(5, 1);
  known.set(name, values);
}

interface Shown {
  /** What the path calls the things that it lists. */
  readonly collection: string;
  readonly agent: string | undefined;
}

function learnFrom(resident: Resident, value: unknown, name: string, shown: Shown): void {
  const { collection, agent } = shown;
  if (typeof value === "string") {
    const kind = kindOfPrefix.get(value.split("_")[0] ?? "") ?? "unknown";
    if (name === "id") remember(resident, `${kind}_id`, value, agent);
    else if (name === "name") remember(resident, `${collection}_name`, value, undefined);
    else if (name === "key" && keyPattern.test(value)) remember(resident, "key", value, undefined);
    else if (/(_id|version|environment|cursor)$/.test(name)) remember(resident, name, value, agent);
  } else if (Array.isArray(value)) for (const item of value.slice(0, 10)) learnFrom(resident, item, name, shown);
  else if (value !== null && typeof value === "object") {
    const own = "agent_id" in value && typeof value.agent_id === "string" ? value.agent_id : agent;
    for (const [inner, item] of Object.entries(value)) learnFrom(resident, item, inner, { collection, agent: own });
  }
}

/** Whose each id is: the organisation that was the first to be shown it made it. */
export class Owners {
  readonly #owners = new Map<string, Resident>();

  learn(resident: Resident, operation: OperationKey, agent: string | undefined, body: unknown): void {
    const collection = routeOf(operation).path.match(/\/(\w+?)s(?:\/\{\w+\})?(?:\/\w+)?$/)?.[1] ?? "";
    learnFrom(resident, (body as { data?: unknown }).data, "", { collection, agent });
    for (const [id] of JSON.stringify(body).matchAll(publicIds))
      if (!this.#owners.has(id)) this.#owners.set(id, resident);
  }

  /** Ids in a text that belong to somebody else, who was not named by the reader. */
  strangersIn(text: string, reader: Resident): string[] {
    return [...text.matchAll(publicIds)]
      .map(([id]) => id)
      .filter((id) => (this.#owners.get(id) ?? reader) !== reader && !reader.named.has(id));
  }
}

/** Puts real things where a wish refers to them. */
export function resolve(value: unknown, operation: OperationKey, me: Resident, other: Resident): unknown {
  if (value instanceof Known) {
    const changes = /^(DELETE|PATCH) /.test(operation) || value.name === "key_id";
    const from = value.foreign ? other : me;
    const values = (from.known.get(value.name) ?? []).filter((known) => !changes || !me.pinned.has(known));
    const found = values[value.nth % values.length] ?? `no-${value.name}`;
    if (value.foreign) me.named.add(found);
    return found;
  }
  if (Array.isArray(value)) return value.map((item) => resolve(item, operation, me, other));
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, resolve(item, operation, me, other)]));
}
