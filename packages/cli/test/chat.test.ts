import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createShell } from "./shell.ts";

let server: Server;
let perch: ReturnType<typeof createShell>;
const sent: string[] = [];

/** An agent that answers every message with `ok`. */
beforeAll(async () => {
  server = createServer((request, response) => {
    if (request.method === "GET") {
      response.writeHead(200, { "content-type": "application/json" }).end('{"success":true,"data":{}}');
      return;
    }
    const done = { response: "ok", request_id: "req_1", tokens_used: 1, duration_ms: 1 };
    void text(request).then((body) => {
      sent.push((JSON.parse(body) as { message: string }).message);
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.end(`id: 1-0\nevent: done\ndata: ${JSON.stringify(done)}\n\n`);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  perch = createShell({ cwd: tmpdir(), env: { PERCH_URL: url, PERCH_API_KEY: "k" } });
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});
beforeEach(() => {
  sent.length = 0;
});

describe("perch chat", () => {
  test("shows at its start how to end and how to get help; the end of the input ends it", async () => {
    const { code, stdout, stderr } = await perch(["chat", "bot", "--session", "s-1"], { input: "Hello\n" });
    expect({ code, stdout }).toEqual({ code: 0, stdout: "ok\n" });
    expect(stderr).toContain("session s-1; /help shows what you can type, /exit or ctrl-d ends it");
  });

  test("/exit ends it: nothing after it is sent", async () => {
    const { code } = await perch(["chat", "bot"], { input: "One\n/exit\nTwo\n" });
    expect(code).toBe(0);
    expect(sent).toEqual(["One"]);
  });

  test("/session shows how to continue later, /help lists the commands, and neither is sent", async () => {
    const { stderr } = await perch(["chat", "bot", "--session", "s-1"], { input: "/session\n/help\n" });
    expect(stderr).toContain("To continue it later:\n  perch chat bot --session s-1");
    for (const word of ["/exit", "/session", "/help"]) expect(stderr).toContain(`  ${word} `);
    expect(sent).toEqual([]);
  });

  test("an unknown /word is named and not sent; a path, and a word after a space, are messages", async () => {
    const { stderr } = await perch(["chat", "bot"], { input: "/sesion now\n/\n/etc/hosts is what?\n /quit\n" });
    expect(stderr).toContain(
      "There is no /sesion, so nothing was sent. Did you mean /session? /help shows what there is.",
    );
    expect(stderr).toContain("There is no /, so nothing was sent.");
    expect(sent).toEqual(["/etc/hosts is what?", " /quit"]);
  });
});
