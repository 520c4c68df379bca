import { expect, test } from "vitest";
import { limitValues } from "./limit-values.ts";

const read = (text: string, type = "application/json", pieces = 1) => {
  const bytes = Buffer.from(text);
  const size = Math.ceil(bytes.length / pieces);
  const chunks = Array.from({ length: pieces }, (_, i) => new Uint8Array(bytes.subarray(i * size, (i + 1) * size)));
  const response = new Response(ReadableStream.from(chunks), { headers: { "content-type": type } });
  return limitValues(response, 10).text();
};
const tooMany = "The response is larger than the limit of 10 values of JSON.";
const list = (count: number) => `[${Array(count).fill("0").join(",")}]`;
const events = "text/event-stream";

test.each([
  ["a list", list(10), "application/json"],
  ["commas and brackets in texts", `["${"[{,".repeat(20)}\\"${",".repeat(20)}\\\\"]`, "application/json"],
  ["events, each of a few values", `data: ${list(9)}\n\n`.repeat(5), events],
  ["events whose lines end with two characters", `data: ${list(9)}\r\n\r\n`.repeat(5), events],
])("%s: passes unchanged, whole and in pieces", async (_, text, type) => {
  expect(await read(text, type)).toBe(text);
  expect(await read(text, type, text.length)).toBe(text);
});

test.each([
  ["a list", list(11), "application/json"],
  ["a nested list", "[".repeat(11), "application/json"],
  ["behind a text that ends with a backslash", `["a\\\\",${list(10)}]`, "application/json"],
  ["over lines, empty ones among them", list(11).replaceAll(",", ",\n\n"), "application/json"],
  ["one event of many lines", `data: ${list(11).replaceAll(",", ",\ndata: ")}\n\n`, events],
  ["behind a comment with a quote", `: "\ndata: ${list(11)}\n\n`, events],
])("%s: fails, whole and in pieces", async (_, text, type) => {
  await expect(read(text, type)).rejects.toThrow(tooMany);
  await expect(read(text, type, text.length)).rejects.toThrow(tooMany);
});
