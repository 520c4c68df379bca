import { isDeepStrictEqual } from "node:util";
import { ErrorBody, errorStatus, type Operation, operations, refusalCodes } from "@perch/contract";
import { securityHeaders } from "../../src/http/security-headers.ts";
import type { Owners, Resident } from "./population.ts";
import { secretMark } from "./schema-arbitrary.ts";
import type { WireAnswer } from "./wire-client.ts";
import type { Wish } from "./wish.ts";
import type { WrittenRequest } from "./written-request.ts";

export interface Exchange {
  readonly wish: Wish;
  readonly me: Resident;
  readonly request: WrittenRequest;
  readonly answer: WireAnswer | undefined;
}

/** What HTTP itself may be refused with, before any operation is known: no such path, no such request, too large. */
const frameworkCodes: readonly string[] = ["invalid_request", "not_found", "payload_too_large"];

/** Words of the inside that no answer has a reason to say. */
const inside =
  /node_modules|\.ts:\d+|\n\s+at |postgres(ql)?:\/\/|relation "|duplicate key value|ECONNREFUSED|FST_ERR|pg_catalog/;

class Problems {
  readonly found: string[] = [];

  unless(holds: boolean, problem: string): void {
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

const exactly = (schema: { safeParse: (value: unknown) => { success: boolean; data?: unknown } }, body: unknown) => {
  const { success, data } = schema.safeParse(body);
  return success && isDeepStrictEqual(data, body);
};

/** What the contract says of it, as far as it can be told without the handler. */
function isAllowed({ params, query, body }: Operation, plain: NonNullable<WrittenRequest["plain"]>): boolean {
  const fits = (schema: Operation["params"], value: unknown) =>
    schema ? schema.safeParse(value ?? {}).success : Object.keys(value ?? {}).length === 0;
  return fits(params, plain.params) && fits(query, plain.query) && fits(body, plain.body);
}

function judgeHeaders({ wish, request, answer }: Exchange & { answer: WireAnswer }, problems: Problems): void {
  const { headers, status } = answer;
  const id = headers.get("x-request-id") ?? "";
  problems.unless(/^[A-Za-z0-9._:-]{1,128}$/.test(id), "no X-Request-Id");
  const given = wish.headers.find(([name]) => name === "X-Request-Id")?.[1];
  // What is too long for HTTP has no headers yet.
  if (given && !wish.trick && request.bytes.length < 16_000)
    problems.unless(id === given, "another X-Request-Id than the one given");
  for (const [name, value] of Object.entries(securityHeaders))
    problems.unless(headers.get(name) === value, `${name} is ${headers.get(name)}`);
  if (status === 401)
    problems.unless(headers.get("www-authenticate")?.startsWith("Bearer") === true, "401 without a challenge");
  if (status === 429) problems.unless(Number(headers.get("retry-after")) > 0, "429 without Retry-After");
  for (const name of ["set-cookie", "server", "x-powered-by"]) problems.unless(!headers.has(name), `has ${name}`);
}

function judgeSuccess({ wish, request, answer }: Exchange & { answer: WireAnswer }, body: unknown, problems: Problems) {
  if (wish.trick?.elsewhere) return;
  const operation: Operation = operations[wish.operation];
  const { status } = answer;
  const schema = status === operation.status ? operation.response : status === 202 ? operation.accepted : undefined;
  problems.unless(schema !== undefined, `${status} is not a success that the operation declares`);
  if (schema) problems.unless(exactly(schema, body), "the body is not what the contract says");
  if (request.plain) problems.unless(isAllowed(operation, request.plain), "accepted what the contract refuses");
}

function judgeRefusal({ wish, answer }: Exchange & { answer: WireAnswer }, body: unknown, problems: Problems): void {
  const result = ErrorBody.strict().safeParse(body);
  problems.unless(result.success && exactly(ErrorBody, body), "not our error body");
  if (!result.success) return;
  const { code, details } = result.data.error;
  problems.unless(errorStatus[code] === answer.status, `${code} with status ${answer.status}`);
  const operation: Operation = operations[wish.operation];
  const declared = wish.trick?.elsewhere ? true : refusalCodes(wish.operation).includes(code);
  problems.unless(declared || (wish.trick !== undefined && frameworkCodes.includes(code)), `${code} is not declared`);
  // A run that failed is answered 500 with its id; that is the answer, not our failure.
  const failedRun = operation.accepted !== undefined && details?.some(({ field }) => field === "request_id");
  if (answer.status >= 500) problems.unless(failedRun === true, `${answer.status} ${code}`);
}

function judgeEvents({ wish, request, answer }: Exchange & { answer: WireAnswer }, problems: Problems): void {
  const operation: Operation = operations[wish.operation];
  const asked = /accept: .*text\/event-stream/i.test(request.bytes.subarray(0, 20_000).toString("latin1"));
  problems.unless(
    asked && (operation.events !== undefined || wish.trick?.elsewhere === true),
    "events nobody asked for",
  );
  for (const [, data = ""] of answer.body.matchAll(/^data: (.*)\n\n/gm))
    if (operation.events)
      problems.unless(exactly(operation.events, parsed(data)), "an event the contract does not know");
}

/** All that is wrong with an answer. */
export function judge(exchange: Exchange, owners: Owners, tokens: ReadonlySet<string>): string[] {
  const { wish, me, request, answer } = exchange;
  const problems = new Problems();
  if (!answer) {
    problems.unless(wish.trick?.maySayNothing === true, "hung up without an answer");
    return problems.found;
  }
  const known = { ...exchange, answer };
  judgeHeaders(known, problems);
  const type = answer.headers.get("content-type") ?? "";
  const text = answer.body;
  if (type.startsWith("text/event-stream")) judgeEvents(known, problems);
  else if (!request.isHead) {
    const body = parsed(text);
    problems.unless(type === "application/json; charset=utf-8", `content type ${type}`);
    problems.unless(body !== undefined, "not JSON");
    if (answer.status < 300) {
      judgeSuccess(known, body, problems);
      if (body !== undefined && !wish.trick?.elsewhere && operations[wish.operation].permission !== "public")
        owners.learn(me, wish.operation, request.agent, body);
    } else judgeRefusal(known, body, problems);
  } else problems.unless(answer.status < 500, `HEAD ${answer.status}`);
  const sent = request.bytes.toString("latin1");
  problems.unless(!text.includes(secretMark), "shows a secret");
  problems.unless(!inside.test(text) || inside.test(sent), "shows the inside");
  for (const [token] of text.matchAll(/perch_[0-9A-Za-z]{46}/g)) problems.unless(!tokens.has(token), "shows a key");
  const strangers = operations[wish.operation].permission === "public" ? [] : owners.strangersIn(text, me);
  problems.unless(strangers.length === 0, "shows an id of another organisation");
  return problems.found;
}
