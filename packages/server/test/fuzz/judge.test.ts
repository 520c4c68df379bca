import { expect, test } from "vitest";
import { securityHeaders } from "../../src/http/security-headers.ts";
import type { Organisation } from "../harness.ts";
import { judge } from "./judge.ts";
import { Owners, type Resident } from "./population.ts";
import { secretMark } from "./schema-arbitrary.ts";
import type { WireAnswer } from "./wire-client.ts";
import type { Wish } from "./wish.ts";
import { write } from "./written-request.ts";

const token = `perch_00${"a".repeat(44)}`;
const theirs = "agent_01h455vb4pex5vsknk084sn02q";
const time = "2026-01-31T12:00:00.000Z";
const resident = (): Resident => ({
  organisation: {} as Organisation,
  keys: { admin: token } as Resident["keys"],
  known: new Map(),
  agentOf: new Map(),
  pinned: new Set(),
  named: new Set(),
});
const [me, other] = [resident(), resident()];
const owners = new Owners();
owners.learn(other, "GET /v1/agents/{agent_id}", undefined, { data: { id: theirs } });

const operation = "GET /v1/agents";
const wish: Wish = {
  kind: "valid",
  operation,
  place: 0,
  asker: "admin",
  params: {},
  query: {},
  headers: [],
};
const good = { data: [], pagination: { limit: 10, offset: 0, total: 0, has_more: false } };
const headers = { ...securityHeaders, "x-request-id": "r", "content-type": "application/json; charset=utf-8" };
const refused = (code: string, message = "m") => ({ success: false, error: { code, message } });
const summary = (id: string) => ({ ...good, data: [{ id, name: "bot", status: "running", created_at: time }] });

function verdict(status: number, body: unknown, change: Record<string, string> = {}, asked: Partial<Wish> = {}) {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const answer: WireAnswer = {
    status,
    headers: new Map(Object.entries({ ...headers, ...change })),
    body: text,
    cut: false,
  };
  const whole = { ...wish, ...asked };
  return judge({ wish: whole, me, request: write(whole, me, other), answer }, owners, new Set([token]));
}

test("an answer that the contract knows passes", () => {
  expect(verdict(200, good)).toEqual([]);
  expect(verdict(200, summary("agent_01h455vb4pex5vsknk084sn02r"))).toEqual([]);
  expect(verdict(403, refused("forbidden"))).toEqual([]);
});

test.each<[string, () => string[]]>([
  ["a 500", () => verdict(500, refused("server_error"))],
  ["a 503", () => verdict(503, refused("unavailable"))],
  ["a code with another status", () => verdict(400, refused("forbidden"))],
  ["a code that the operation does not declare", () => verdict(409, refused("conflict"))],
  ["a success of another status", () => verdict(201, good)],
  ["a field that is not declared", () => verdict(200, { ...good, extra: 1 })],
  ["a missing field", () => verdict(200, { data: [] })],
  ["something that is not JSON", () => verdict(200, "<html>")],
  ["another content type", () => verdict(200, good, { "content-type": "text/html" })],
  ["a missing security header", () => verdict(200, good, { "x-content-type-options": "" })],
  ["a missing request id", () => verdict(200, good, { "x-request-id": "" })],
  ["a 401 without a challenge", () => verdict(401, refused("unauthorized"))],
  ["an id of another organisation", () => verdict(200, summary(theirs))],
  ["a secret", () => verdict(400, refused("invalid_request", `${secretMark}1`))],
  ["an API key", () => verdict(400, refused("invalid_request", token))],
  ["a stack trace", () => verdict(400, refused("invalid_request", "Error\n    at x (a.ts:1:2)"))],
  ["events nobody asked for", () => verdict(200, "data: {}\n\n", { "content-type": "text/event-stream" })],
  ["what the contract refuses, accepted", () => verdict(200, good, {}, { query: { limit: "0" } })],
])("%s is found", (_, find) => {
  expect(find()).not.toEqual([]);
});
