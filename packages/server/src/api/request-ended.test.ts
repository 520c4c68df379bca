import { once } from "node:events";
import { request as httpRequest } from "node:http";
import type { AddressInfo } from "node:net";
import { PassThrough } from "node:stream";
import fastify, { type FastifyInstance } from "fastify";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type RequestEnd, watchRequests } from "./request-ended.ts";

let app: FastifyInstance;
let ends: [route: string | undefined, end: RequestEnd][];
beforeEach(async () => {
  ends = [];
  app = fastify();
  watchRequests(app, [(request, end) => void ends.push([request.routeOptions.url, end])]);
  app.get("/plain", async () => "here");
  app.get("/broken", async () => Promise.reject(new Error("no")));
  app.post("/stream", async (_, reply) => {
    const body = new PassThrough();
    body.write(": here\n\n");
    return reply.type("text/event-stream").send(body);
  });
  await app.listen({ port: 0, host: "127.0.0.1" });
});
afterEach(() => app.close());

const origin = () => `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`;

test("every request is reported once, with its status, also if it failed or had no route", async () => {
  for (const path of ["/plain", "/broken", "/nowhere"]) await (await fetch(origin() + path)).text();
  await expect
    .poll(() => ends.map(([route, { status }]) => [route, status]))
    .toEqual([
      ["/plain", 200],
      ["/broken", 500],
      [undefined, 404],
    ]);
  expect(ends.every(([, { isStream, ms }]) => !isStream && ms >= 0 && ms < 5000)).toBe(true);
});

test("a client that closes a stream begun with a POST is reported without a status", async () => {
  const clientRequest = httpRequest(`${origin()}/stream`, {
    method: "POST",
    headers: { "content-type": "application/json" },
  });
  clientRequest.end("{}");
  const [response] = (await once(clientRequest, "response")) as [NodeJS.ReadableStream];
  await once(response, "data");
  expect(ends).toEqual([]);
  clientRequest.destroy();
  await expect
    .poll(() => ends.map(([route, { status, isStream }]) => [route, status, isStream]))
    .toEqual([["/stream", undefined, true]]);
});
