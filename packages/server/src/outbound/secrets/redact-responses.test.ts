import { describe, expect, test } from "vitest";
import { createRedactor } from "../../../test/support/create-redactor.ts";
import { redactError, redactResponses } from "./redact-responses.ts";
import { noRedaction } from "./redactor.ts";

const value = "s3cret-value";
const redactor = createRedactor("0190a1b2-0000-7000-8000-000000000001", [["[secret key]", value]]);

const answering = (pieces: readonly string[], init: ResponseInit = {}): typeof fetch => {
  const chunks = pieces.map((piece) => new Uint8Array(Buffer.from(piece)));
  return async () => new Response(ReadableStream.from(chunks), init);
};

describe("the answers to calls with secrets", () => {
  test("have the value nowhere in their body, however it is divided", async () => {
    const response = await redactResponses(
      answering(["é ", "s3cret", "-val", "ue", " ü"]),
      redactor,
    )("https://x.example");
    expect(await response.text()).toBe("é [secret key] ü");
  });

  test("have it neither in a header nor in the text of the status, but keep a session's id", async () => {
    const headers = { "x-echo": value, "content-type": `text/plain; x=${value}`, "mcp-session-id": value };
    const given = answering(["ok"], { status: 418, statusText: value, headers });
    const response = await redactResponses(given, redactor)("https://x.example");
    expect(response.status).toBe(418);
    expect(response.statusText).toBe("[secret key]");
    expect(Object.fromEntries(response.headers)).toEqual({
      "x-echo": "[secret key]",
      "content-type": "text/plain; x=[secret key]",
      "mcp-session-id": value,
    });
  });

  test("end the connection when they are cancelled, read or unread", async () => {
    for (const isRead of [false, true]) {
      let cancelled: unknown;
      const source = new ReadableStream<Uint8Array>({
        pull: (controller) => controller.enqueue(new Uint8Array([65])),
        cancel: (reason) => {
          cancelled = reason;
        },
      });
      const { body } = await redactResponses(async () => new Response(source), redactor)("https://x.example");
      const reader = body?.getReader();
      if (isRead) await reader?.read();
      await reader?.cancel("enough");
      expect(cancelled).toBe("enough");
    }
  });

  test("are the answers themselves if there is nothing to redact", () => {
    expect(redactResponses(fetch, noRedaction)).toBe(fetch);
  });
});

test("errors keep their names, codes and causes, and lose the value and all else that they hold", async () => {
  const inner = Object.assign(new TypeError(`bad ${value}`), {
    code: "E_BAD",
    requestHeaders: { authorization: value },
  });
  const outer = Object.assign(new Error(`fetch of ${value} failed`, { cause: inner }), { responseBody: value });
  const redacted = (await redactError(outer, redactor)) as Error & { cause: Error & { code: string } };
  expect(redacted.message).toBe("fetch of [secret key] failed");
  expect(redacted.cause).toMatchObject({ name: "TypeError", message: "bad [secret key]", code: "E_BAD" });
  const all = [redacted, redacted.cause].map((error) => JSON.stringify(error, Object.getOwnPropertyNames(error)));
  expect(all.join()).not.toContain(value);
});
