import { isDeepStrictEqual } from "node:util";
import { ErrorBody, errorStatus, type Operation, operations, refusalCodes } from "@perch/contract";
import { z } from "zod";
import { securityHeaders } from "../../../src/api/security-headers.ts";
import { undeclaredHeaders } from "./declared-headers.ts";
import type { RequestTemplate } from "./request-template.ts";
import { secretMarker } from "./schema-arbitrary.ts";
import type { SerializedRequest } from "./serialize-request.ts";
import type { IdOwners, Tenant } from "./tenants.ts";
import type { WireResponse } from "./wire-client.ts";

const ownCookie = /^perch_session=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict; Max-Age=43200$/;

export interface Exchange {
  readonly template: RequestTemplate;
  readonly me: Tenant;
  readonly request: SerializedRequest;
  readonly answer: WireResponse | undefined;
}

/** Errors that the HTTP layer may answer before an operation is chosen. */
const frameworkCodes: readonly string[] = ["invalid_request", "not_found", "payload_too_large"];

/** Internal details that no response may show. A check may report that an agent's own server refuses connections. */
const internalDetails =
  /node_modules|\.ts:\d+|\n\s+at |postgres(ql)?:\/\/|relation "|duplicate key value|(?<!it refuses connections \()ECONNREFUSED|FST_ERR|pg_catalog/;

class Problems {
  readonly found: string[] = [];

  check(holds: boolean, problem: string): void {
    if (!holds) this.found.push(problem);
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const matchesExactly = (
  schema: { safeParse: (value: unknown) => { success: boolean; data?: unknown } },
  body: unknown,
) => {
  const { success, data } = schema.safeParse(body);
  return success && isDeepStrictEqual(data, body);
};

/** Whether the contract's schemas allow the request; handlers may still refuse it. */
function isAllowed({ params, query, body }: Operation, plain: NonNullable<SerializedRequest["plain"]>): boolean {
  const fits = (schema: Operation["params"], value: unknown) =>
    schema ? schema.safeParse(value ?? {}).success : Object.keys(value ?? {}).length === 0;
  return fits(params, plain.params) && fits(query, plain.query) && fits(body, plain.body);
}

/** Only the front page may be cached, because it is the same for every visitor. */
const frontPageHeaders = { ...securityHeaders, "cache-control": "public, max-age=60" };

function isFrontPage({ bytes }: SerializedRequest, { status }: WireResponse): boolean {
  const target = bytes.toString("latin1", 0, 20_000).trimStart().split(/\s+/, 2)[1];
  // The router takes an asterisk for it too.
  return status === 200 && !!target && /^(\*|(http:\/\/[^/?#]+)?\/?([?#].*)?)$/.test(target);
}

function checkHeaders({ template, request, answer }: Exchange & { answer: WireResponse }, problems: Problems): void {
  const { headers, status } = answer;
  const id = headers.get("x-correlation-id") ?? "";
  problems.check(/^[A-Za-z0-9._:-]{1,128}$/.test(id), "no X-Correlation-Id");
  const given = template.headers.find(([name]) => name === "X-Correlation-Id")?.[1];
  // A request that is too long is refused before its headers are parsed.
  if (given && !template.attack && request.bytes.length < 16_000)
    problems.check(id === given, "another X-Correlation-Id than the one given");
  const expected = isFrontPage(request, answer) ? frontPageHeaders : securityHeaders;
  for (const [name, value] of Object.entries(expected))
    problems.check(headers.get(name) === value, `${name} is ${headers.get(name)}`);
  if (status === 401)
    problems.check(headers.get("www-authenticate")?.startsWith("Bearer") === true, "401 without a challenge");
  if (status === 429) problems.check(Number(headers.get("retry-after")) > 0, "429 without Retry-After");
  for (const name of ["server", "x-powered-by"]) problems.check(!headers.has(name), `has ${name}`);
  const { setsCookie }: Operation = operations[template.operation];
  const cookie = headers.get("set-cookie");
  problems.check(cookie === undefined || (setsCookie === true && ownCookie.test(cookie)), "has set-cookie");
  if (template.attack?.mayReachOtherOperation) return;
  // Only pages without an origin, such as the sandboxed one at /docs, may read answers.
  const reader = headers.get("access-control-allow-origin") ?? "null";
  problems.check(reader === "null", `may be read by ${reader}`);
  for (const name of undeclaredHeaders(template.operation, status, headers.keys()) ?? [])
    problems.check(false, `${name} is not declared for ${status}`);
}

function checkSuccess(
  { template, request, answer }: Exchange & { answer: WireResponse },
  body: unknown,
  problems: Problems,
) {
  if (template.attack?.mayReachOtherOperation) return;
  const operation: Operation = operations[template.operation];
  const { status } = answer;
  const schema = status === operation.status ? operation.response : status === 202 ? operation.accepted : undefined;
  problems.check(schema !== undefined, `${status} is not a success that the operation declares`);
  if (schema) problems.check(matchesExactly(schema, body), "the body is not what the contract says");
  if (request.plain) problems.check(isAllowed(operation, request.plain), "accepted what the contract refuses");
}

function checkRefusal(
  { template, answer }: Exchange & { answer: WireResponse },
  body: unknown,
  problems: Problems,
): void {
  const result = ErrorBody.strict().safeParse(body);
  problems.check(result.success && matchesExactly(ErrorBody, body), "not our error body");
  if (!result.success) return;
  const { code, message } = result.data.error;
  problems.check(errorStatus[code] === answer.status, `${code} with status ${answer.status}`);
  const reachesNone = code === "not_found" && message === "There is nothing at so long a path.";
  const declared =
    template.attack?.mayReachOtherOperation || reachesNone || refusalCodes(template.operation).includes(code);
  problems.check(
    declared || (template.attack !== undefined && frameworkCodes.includes(code)),
    `${code} is not declared`,
  );
  // A run that outlasts its request is not our failure.
  problems.check(answer.status < 500 || code === "still_running", `${answer.status} ${code}`);
}

function checkEvents({ template, request, answer }: Exchange & { answer: WireResponse }, problems: Problems): void {
  const operation: Operation = operations[template.operation];
  const asked = /accept: .*text\/event-stream/i.test(request.bytes.subarray(0, 20_000).toString("latin1"));
  problems.check(
    asked && (operation.events !== undefined || template.attack?.mayReachOtherOperation === true),
    "events that were not requested",
  );
  // A union takes the first of its events that fits, and drops the fields that this one does not have.
  const events = operation.events instanceof z.ZodUnion ? operation.events.options : [operation.events];
  for (const [, data = ""] of answer.body.matchAll(/^data: (.*)\n\n/gm))
    if (operation.events)
      problems.check(
        events.some((event) => matchesExactly(event as z.ZodType, parsed(data))),
        "an event the contract does not know",
      );
}

/** Lists everything that is wrong with a response. */
export function findProblems(exchange: Exchange, owners: IdOwners, tokens: ReadonlySet<string>): string[] {
  const { template, me, request, answer } = exchange;
  const problems = new Problems();
  if (!answer) {
    problems.check(template.attack?.mayCloseWithoutResponse === true, "connection closed without a response");
    return problems.found;
  }
  const known = { ...exchange, answer };
  checkHeaders(known, problems);
  if (template.kind === "directed") problems.check(answer.status < 300, "a valid request was refused");
  const type = answer.headers.get("content-type") ?? "";
  const text = answer.body;
  if (type.startsWith("text/event-stream")) checkEvents(known, problems);
  else if (!request.isHead) {
    const body = parsed(text);
    problems.check(type === "application/json; charset=utf-8", `content type ${type}`);
    problems.check(body !== undefined, "not JSON");
    if (answer.status < 300) {
      checkSuccess(known, body, problems);
      if (
        body !== undefined &&
        !template.attack?.mayReachOtherOperation &&
        operations[template.operation].permission !== "public"
      )
        owners.recordIds(me, template.operation, request.agent, body);
    } else checkRefusal(known, body, problems);
  } else problems.check(answer.status < 500, `HEAD ${answer.status}`);
  const sent = request.bytes.toString("latin1");
  problems.check(!text.includes(secretMarker), "shows a secret");
  problems.check(!internalDetails.test(text) || internalDetails.test(sent), "shows internal details");
  for (const [token] of text.matchAll(/perch_[0-9A-Za-z]{46}/g)) problems.check(!tokens.has(token), "shows a key");
  const foreignIds = operations[template.operation].permission === "public" ? [] : owners.foreignIdsIn(text, me);
  problems.check(foreignIds.length === 0, "shows an id of another organisation");
  return problems.found;
}
