import { array, equal, hasExactly, holds, integer, isA, refuses, text } from "../expectations.ts";
import type { Answer } from "../http-client.ts";
import { onOwnServer, type Section, type Statement, statement } from "../statement.ts";
import { agent, newAgent, newKey, newName, type World } from "../world.ts";

const noSuchAgent = (world: World) => world.call("GET", "/v1/agents/nobody-of-this-name");
const invalid = (world: World) => world.call("POST", "/v1/agents", { body: { name: "UPPER CASE", model: 7 } });

/** The refusal of an agent that takes one request a minute. */
const limited = (world: World): Promise<Answer> =>
  world.once("rate limited", async () => {
    const rateLimit = { enabled: true, requests: 1, window: "1m" };
    const { path } = await newAgent(world, { security: { rateLimit } });
    await world.call("GET", path);
    return world.call("GET", path);
  });

/** A database that refuses one name, which the server does not expect. */
async function breakDatabase(world: World): Promise<Answer> {
  const { sql } = world.own();
  const name = newName();
  await sql(`create function walk_refusal() returns trigger language plpgsql as
    $$ begin if new.name = '${name}' then raise exception 'refused by the walk'; end if; return new; end $$`);
  await sql("create trigger walk_refusal before insert on agents for each row execute function walk_refusal()");
  try {
    return await world.call("POST", "/v1/agents", { body: { name, model: "perch/echo" } });
  } finally {
    await sql("drop trigger walk_refusal on agents");
    await sql("drop function walk_refusal");
  }
}

const bodyFields: readonly Statement[] = [
  statement("error.success", "success: boolean, always false", async (world) => {
    for (const { body } of [await noSuchAgent(world), await invalid(world), await limited(world)]) {
      equal(Object.keys(body).sort(), ["error", "success"], "fields of the error body");
      equal(body.success, false, "success");
    }
  }),
  statement("error.code", "error.code: string, one of the codes below", async (world) => {
    const codes = [await noSuchAgent(world), await invalid(world), await limited(world)].map(
      ({ body }) => body.error.code,
    );
    equal(codes, ["not_found", "invalid_request", "rate_limited"], "codes");
  }),
  statement("error.message", "error.message: string, human-readable", async (world) => {
    const { message } = (await noSuchAgent(world)).body.error;
    isA(message, text, "message");
    holds(/\w+ \w+ \w+/.test(message), `no sentence: ${message}`);
  }),
  statement("error.retry-after", "error.retry_after: integer, present with rate_limited", async (world) => {
    const { error } = (await limited(world)).body;
    isA(error.retry_after, integer, "retry_after");
    equal((await noSuchAgent(world)).body.error.retry_after, undefined, "retry_after of another error");
  }),
  statement("error.details", "error.details: array, present with validation failures", async (world) => {
    const { details } = (await invalid(world)).body.error;
    isA(details, array, "details");
    equal(details.map(({ field }: { field: string }) => field).sort(), ["model", "name"], "fields");
  }),
  ...["field", "error"].map((name) =>
    statement(`error.detail-${name}`, `items of error.details: ${name} (string)`, async (world) => {
      for (const detail of (await invalid(world)).body.error.details) {
        hasExactly(detail, { field: text, error: text }, "a detail");
        holds(detail[name].length > 0, `${name} is empty`);
      }
    }),
  ),
];

const codes: readonly Statement[] = [
  statement("code.invalid-request", "invalid_request: 400, invalid request parameters", async (world) => {
    refuses(await invalid(world), 400, "invalid_request");
    refuses(await world.call("GET", "/v1/agents?limit=none"), 400, "invalid_request");
  }),
  statement("code.validation-failed", "message Validation failed with details", async (world) => {
    const { message, details } = refuses(await invalid(world), 400, "invalid_request");
    equal(message, "Validation failed", "message");
    holds(details.length > 0, "no details");
  }),
  statement("code.missing-parameter", "or a message naming the missing parameter", async (world) => {
    const { path } = await agent(world);
    const error = refuses(await world.call("POST", `${path}/memory/search`, { body: {} }), 400, "invalid_request");
    holds(/\bquery\b/.test(error.message), `the message names no parameter: ${error.message}`);
  }),
  statement("code.unauthorized", "unauthorized: 401, invalid or missing API key", async (world) => {
    refuses(await world.call("GET", "/v1/agents", { key: "nonsense" }), 401, "unauthorized");
    refuses(await world.call("GET", "/v1/agents", { key: null }), 401, "unauthorized");
  }),
  statement("code.forbidden", "forbidden: 403, insufficient permissions", async (world) => {
    const { key } = await newKey(world, { permissions: ["write"] });
    refuses(await world.call("GET", (await agent(world)).path, { key }), 403, "forbidden");
  }),
  statement("code.not-found", "not_found: 404, resource not found", async (world) => {
    refuses(await noSuchAgent(world), 404, "not_found");
    const { path } = await agent(world);
    const none = "dep_01h455vb4pex5vsknk084sn02q";
    refuses(await world.call("POST", `${path}/deployments/${none}/rollback`), 404, "not_found", "a deployment");
    refuses(await world.call("DELETE", "/v1/keys/key_01h455vb4pex5vsknk084sn02q"), 404, "not_found", "a key");
  }),
  statement("code.rate-limited", "rate_limited: 429, rate limit exceeded", async (world) => {
    refuses(await limited(world), 429, "rate_limited");
  }),
  onOwnServer("code.server-error", "server_error: 500, internal server error", async (world) => {
    refuses(await breakDatabase(world), 500, "server_error");
  }),
];

export const errors: Section = { title: "Errors", statements: [...bodyFields, ...codes] };
