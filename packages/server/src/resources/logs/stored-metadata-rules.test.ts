import { expect, test } from "vitest";
import { fromStoredMetadata, toStoredMetadata } from "./stored-metadata.ts";
import { toLogEntry } from "./to-log-entry.ts";

const row = { at: new Date(0), id: "1", level: 1, message: "m", invocation_id: null, environment: null, version: null };

test.each([
  [
    { type: "model_call", step: 1, input: { message: "string(3)" }, output: { text: "string(2)" } },
    { type: "model_call", step: 1, asked: { message: "string(3)" }, said: { text: "string(2)" } },
  ],
  [{ type: "truncated" }, { type: "cut" }],
  [
    { type: "tool_call", input: null },
    { type: "tool_call", asked: null },
  ],
])("%o is stored as %o", (metadata, stored) => {
  expect(toStoredMetadata(metadata)).toEqual(stored);
  expect(fromStoredMetadata(stored)).toEqual(metadata);
});

test("an entry that a caller added has the names that the caller gave", () => {
  const metadata = { type: "cut", asked: "who", said: "me" };
  expect(toLogEntry({ ...row, metadata, line: null }).metadata).toEqual({ ...metadata, request_id: null });
  expect(toLogEntry({ ...row, metadata, line: 3 }).metadata).toMatchObject({ type: "truncated", input: "who" });
});
