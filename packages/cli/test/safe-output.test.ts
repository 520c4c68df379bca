import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { PassThrough } from "node:stream";
import type { RunStream, RunStreamEvent } from "@perch/sdk";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { printRun } from "../src/output/print-run.ts";
import { createTerminal } from "../src/terminal.ts";
import { createShell } from "./shell.ts";

const esc = "\u001b";
/** Sequences that a terminal would obey, and the text around them that stays. */
const attacks: readonly (readonly [string, string, string])[] = [
  ["a colour", `${esc}[31mred${esc}[0m`, "red"],
  ["a cleared screen", `a${esc}[2J${esc}[Hb`, "ab"],
  ["a window title", `a${esc}]0;pwned\u0007b`, "ab"],
  ["the clipboard", `a${esc}]52;c;cm0gLXJm${esc}\\b`, "ab"],
  ["a link", `${esc}]8;;https://evil.example\u0007here${esc}]8;;\u0007`, "here"],
  ["a device control string", `a${esc}P$q"p${esc}\\b`, "ab"],
  ["a reset", `a${esc}cb${esc}(0c`, "abc"],
  ["a sequence of one C1 character", "a\u009b31mb\u009d0;pwned\u009cc\u0085d", "abcd"],
  ["a sequence inside a sequence", `${esc}${esc}[31m[32mx`, "[32mx"],
  ["text over other text", "safe\revil\b\b\u007f\u0000\u0007", "safeevil"],
  ["another direction", "a\u202egpj\u202c\u2066b\u2069.exe", "agpjb.exe"],
  ["a title without an end", `a${esc}]0;shown`, "a]0;shown"],
  ["a loss of plain text", "grüße\t🐦\nשלום", "grüße\t🐦\nשלום"],
];

function coloured() {
  const stdout = Object.assign(new PassThrough(), { isTTY: true });
  const streams = { stdin: new PassThrough(), stdout, stderr: new PassThrough() };
  return { terminal: createTerminal(streams, { FORCE_COLOR: "1" }), stdout, stderr: streams.stderr };
}

describe("text of others", () => {
  test.each(attacks)("reaches a terminal without %s", (_, hostile, safe) => {
    const { terminal, stdout, stderr } = coloured();
    terminal.line(hostile);
    terminal.note(hostile);
    terminal.line(terminal.style("red", hostile));
    expect(String(stdout.read())).toBe(`${safe}\n${esc}[31m${safe}${esc}[39m\n`);
    expect(String(stderr.read())).toBe(`${safe}\n`);
  });

  test.each(attacks)("stays without %s in a stream, wherever it is cut", async (_, hostile, safe) => {
    for (let size = 1; size <= hostile.length; size++) {
      const { terminal, stdout } = coloured();
      const events: RunStreamEvent[] = [];
      for (let end = size; end - size < hostile.length; end += size) {
        const token = { type: "token", step: 1, snapshot: hostile.slice(0, end) };
        events.push(token as unknown as RunStreamEvent);
      }
      events.push({ type: "done", response: hostile } as unknown as RunStreamEvent);
      const stream = (async function* () {
        yield* events;
      })();
      await printRun(terminal, stream as unknown as RunStream);
      expect(String(stdout.read())).toBe(`${safe}\n`);
    }
  });

  test("cannot hide the next cell of a table, and does not move its columns", async () => {
    const { terminal, stdout } = coloured();
    const { printTable } = await import("../src/output/table.ts");
    const red = terminal.style("red", "revoked");
    printTable(
      terminal,
      ["name", "status", "note"],
      [
        [`a${esc}]0;`, red, "x\u0007"],
        ["b", "ok", ""],
      ],
    );
    const lines = String(stdout.read()).split("\n");
    expect(lines.slice(1)).toEqual([`a]0;  ${esc}[31mrevoked${esc}[39m  x`, "b     ok", ""]);
  });

  test("costs linear time: a hundred thousand beginnings are printed at once", () => {
    const { terminal } = coloured();
    const startedAt = performance.now();
    for (const begin of ["\u009d", `${esc}]`, `${esc}[1;`, `${esc} `, `${esc}]a`]) {
      terminal.line(begin.repeat(100_000));
      terminal.write(begin.repeat(100_000));
      terminal.line();
    }
    expect(performance.now() - startedAt).toBeLessThan(3000);
  });
});

describe("a server that answers with control sequences", () => {
  const name = `a${esc}]52;c;cm0gLXJm\u0007b\u009b2J\u202ec`;
  let server: Server;
  let shell: ReturnType<typeof createShell>;
  beforeAll(async () => {
    server = createServer((request, response) => {
      const isList = request.url?.startsWith("/v1/agents?") || request.url === "/v1/agents";
      const pagination = { limit: 20, offset: 0, total: 1, has_more: false };
      const agent = { id: name, name, status: "running", created_at: "2026-01-31T12:00:00Z" };
      const error = { code: "not_found", message: name, details: [{ field: name, error: name }] };
      const body = isList ? { success: true, data: [agent], pagination } : { success: false, error };
      response.writeHead(isList ? 200 : 404, { "content-type": "application/json" }).end(JSON.stringify(body));
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    shell = createShell({ cwd: tmpdir(), env: { PERCH_URL: url, PERCH_API_KEY: "k" } });
  });
  afterAll(() => void server.close());

  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there.
  const obeyed = /[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/;

  test("has them removed from names and errors that people read", async () => {
    const { stdout } = await shell(["agents"]);
    expect(stdout).toContain("abc");
    expect(stdout).not.toMatch(obeyed);
    const { stderr } = await shell(["agents", "get", "missing"]);
    expect(stderr).toContain("abc");
    expect(stderr).not.toMatch(obeyed);
  });

  test("is quoted exactly in --json, with every one of them escaped", async () => {
    const { stdout, json } = await shell(["agents", "--json"]);
    expect(json<{ data: { name: string }[] }>().data[0]?.name).toBe(name);
    expect(stdout).not.toMatch(obeyed);
    const { stderr } = await shell(["agents", "get", "missing", "--json"]);
    expect(JSON.parse(stderr)).toMatchObject({ error: { message: name } });
    expect(stderr).not.toMatch(obeyed);
  });
});
