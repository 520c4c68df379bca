import { expect, test } from "vitest";
import { securityHeaders } from "../../../src/api/security-headers.ts";
import type { Organisation } from "../../support/harness.ts";
import { findProblems } from "./find-problems.ts";
import type { RequestTemplate } from "./request-template.ts";
import { secretMarker } from "./schema-arbitrary.ts";
import { serializeRequest } from "./serialize-request.ts";
import { IdOwners, type Tenant } from "./tenants.ts";
import type { WireResponse } from "./wire-client.ts";

const token = `perch_00${"a".repeat(44)}`;
const foreignAgentId = "agent_01h455vb4pex5vsknk084sn02q";
const time = "2026-01-31T12:00:00.000Z";
const createTenant = (): Tenant => ({
  organisation: {} as Organisation,
  keys: { admin: token } as Tenant["keys"],
  known: new Map(),
  agentOf: new Map(),
  pinned: new Set(),
  mentionedIds: new Set(),
});
const [me, other] = [createTenant(), createTenant()];
const owners = new IdOwners();
owners.recordIds(other, "GET /v1/agents/{agent_id}", undefined, { data: { id: foreignAgentId } });

const operation = "GET /v1/agents";
const template: RequestTemplate = {
  kind: "valid",
  operation,
  organisationIndex: 0,
  caller: "admin",
  params: {},
  query: {},
  headers: [],
};
const validBody = { data: [], pagination: { limit: 10, offset: 0, total: 0, has_more: false } };
const headers = { ...securityHeaders, "x-correlation-id": "r", "content-type": "application/json; charset=utf-8" };
const errorBody = (code: string, message = "m") => ({ success: false, error: { code, message } });
const summary = (id: string) => ({ ...validBody, data: [{ id, name: "bot", status: "running", created_at: time }] });

function problemsWith(
  status: number,
  body: unknown,
  change: Record<string, string> = {},
  overrides: Partial<RequestTemplate> = {},
) {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const answer: WireResponse = {
    status,
    headers: new Map(Object.entries({ ...headers, ...change })),
    body: text,
    truncated: false,
  };
  const whole = { ...template, ...overrides };
  return findProblems(
    { template: whole, me, request: serializeRequest(whole, me, other), answer },
    owners,
    new Set([token]),
  );
}

test("a response that the contract declares passes", () => {
  expect(problemsWith(200, validBody)).toEqual([]);
  expect(problemsWith(200, summary("agent_01h455vb4pex5vsknk084sn02r"))).toEqual([]);
  expect(problemsWith(403, errorBody("forbidden"))).toEqual([]);
  expect(problemsWith(200, validBody, { "x-ratelimit-limit": "100", date: "now" })).toEqual([]);
  expect(problemsWith(404, errorBody("not_found", "There is nothing at so long a path."))).toEqual([]);
  expect(problemsWith(429, errorBody("rate_limited"), { "retry-after": "1" })).toEqual([]);
});

test("an event passes whichever of the operation's events it is", () => {
  const request_id = "req_01h455vb4pex5vsknk084sn02q";
  const following: Partial<RequestTemplate> = {
    operation: "GET /v1/agents/{agent_id}/invocations/{request_id}",
    params: { agent_id: "bot", request_id },
    headers: [["Accept", "text/event-stream"]],
  };
  const problemsOf = (event: object) =>
    problemsWith(200, `data: ${JSON.stringify(event)}\n\n`, { "content-type": "text/event-stream" }, following);
  expect(problemsOf({ message: "Events are missing." })).toEqual([]);
  expect(problemsOf({ request_id, message: "The run waits.", approvals: [] })).toEqual([]);
  expect(problemsOf({ request_id, message: "The run waits.", approvals: [], more: 1 })).not.toEqual([]);
});

test("only the front page may be cached", () => {
  const frontPage = { attack: { name: "no path", target: () => "http://other.example", mayReachOtherOperation: true } };
  const cached = { "cache-control": "public, max-age=60" };
  expect(problemsWith(200, {}, cached, frontPage)).toEqual([]);
  expect(problemsWith(404, errorBody("not_found"), cached, frontPage)).not.toEqual([]);
  expect(problemsWith(200, validBody, cached)).not.toEqual([]);
});

test.each<[string, () => string[]]>([
  ["a 500", () => problemsWith(500, errorBody("server_error"))],
  ["a 503", () => problemsWith(503, errorBody("unavailable"))],
  ["a code with another status", () => problemsWith(400, errorBody("forbidden"))],
  ["a code that the operation does not declare", () => problemsWith(409, errorBody("conflict"))],
  ["a success of another status", () => problemsWith(201, validBody)],
  ["a header that the document does not declare", () => problemsWith(200, validBody, { "x-new": "1" })],
  ["a header that is declared for other answers", () => problemsWith(200, validBody, { location: "/v1/agents/a" })],
  [
    "a header that is declared for other errors",
    () => problemsWith(403, errorBody("forbidden"), { "retry-after": "1" }),
  ],
  ["a field that is not declared", () => problemsWith(200, { ...validBody, extra: 1 })],
  ["a missing field", () => problemsWith(200, { data: [] })],
  ["something that is not JSON", () => problemsWith(200, "<html>")],
  ["another content type", () => problemsWith(200, validBody, { "content-type": "text/html" })],
  ["a missing security header", () => problemsWith(200, validBody, { "x-content-type-options": "" })],
  ["a missing correlation id", () => problemsWith(200, validBody, { "x-correlation-id": "" })],
  ["a refusal of a directed request", () => problemsWith(403, errorBody("forbidden"), {}, { kind: "directed" })],
  ["a 401 without a challenge", () => problemsWith(401, errorBody("unauthorized"))],
  ["an id of another organisation", () => problemsWith(200, summary(foreignAgentId))],
  ["a secret", () => problemsWith(400, errorBody("invalid_request", `${secretMarker}1`))],
  ["an API key", () => problemsWith(400, errorBody("invalid_request", token))],
  ["a stack trace", () => problemsWith(400, errorBody("invalid_request", "Error\n    at x (a.ts:1:2)"))],
  ["events that were not requested", () => problemsWith(200, "data: {}\n\n", { "content-type": "text/event-stream" })],
  ["a request that the contract refuses, accepted", () => problemsWith(200, validBody, {}, { query: { limit: "0" } })],
])("%s is found", (_, find) => {
  expect(find()).not.toEqual([]);
});
