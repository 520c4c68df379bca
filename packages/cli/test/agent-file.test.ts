import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { agentDefaults, agentOperations } from "@perch/contract";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { sourceOf } from "../src/agent-file/agent-sources.ts";
import { changesBetween, hideSecrets } from "../src/agent-file/difference.ts";
import { desiredDefinition, requireAgents } from "../src/agent-file/read-agent-file.ts";
import { templates } from "../src/commands/init.ts";
import { createShell } from "./shell.ts";

const { body: CreateAgent } = agentOperations["POST /v1/agents"];
const templatesFolder = join(import.meta.dirname, "../templates");

/** Ten aliases of ten aliases, and so on. */
const aliasBomb = ["x", ...Array.from({ length: 9 }, (_, i) => Array(10).fill(`*a${i}`).join(","))]
  .map((items, i) => `a${i}: &a${i} [${items}]`)
  .join("\n");

const fileWith = (text: string): string => {
  const file = join(mkdtempSync(join(tmpdir(), "perch-file-")), "agent.yaml");
  writeFileSync(file, text);
  return file;
};

describe("templates", () => {
  test("each is offered, and is an agent that the API takes", () => {
    expect(readdirSync(templatesFolder).sort()).toEqual([...templates].sort());
    for (const template of templates) {
      const text = readFileSync(join(templatesFolder, template, "agent.yaml"), "utf8");
      expect(CreateAgent.safeParse(parse(text)).error).toBeUndefined();
    }
  });
});

describe("perch init", () => {
  test("writes the template under the folder's name and the schema, and excludes data from git", async () => {
    const cwd = mkdtempSync(join(tmpdir(), "perch-init-"));
    const perch = createShell({ cwd });
    const { code, stdout } = await perch(["init", "Support Bot", "--template", "remote"]);
    expect(code).toBe(0);
    expect(stdout).toMatchSnapshot();
    const folder = join(cwd, "Support Bot");
    expect(readdirSync(folder).sort()).toEqual([".gitignore", "agent.schema.json", "agent.yaml", "server.mjs"]);
    expect(readFileSync(join(folder, "agent.yaml"), "utf8")).toContain("name: support-bot");
    expect(readFileSync(join(folder, ".gitignore"), "utf8")).toBe(".perch/\n.env\n");
  });

  test("writes over nothing", async () => {
    const cwd = mkdtempSync(join(tmpdir(), "perch-init-"));
    writeFileSync(join(cwd, "agent.yaml"), "name: mine\n");
    const { code, stderr } = await createShell({ cwd })(["init"]);
    expect(code).toBe(1);
    expect(stderr).toContain("agent.yaml is there already");
    expect(readFileSync(join(cwd, "agent.yaml"), "utf8")).toBe("name: mine\n");
  });
});

describe("reading agent.yaml", () => {
  test("fields that are left out have their default; memory and limits merge; security stays unchanged", () => {
    const { security: _, ...defaults } = agentDefaults;
    const given = { name: "bot", model: "perch/echo", limits: { max_steps: 3 } };
    expect(desiredDefinition(given)).toEqual({
      ...defaults,
      model: "perch/echo",
      limits: { ...agentDefaults.limits, max_steps: 3 },
    });
  });

  test("several agents, with the line of each field", () => {
    const file = fileWith("name: a\nmodel: perch/echo\n---\nname: b\nlimits:\n  max_steps: 3\n");
    const [a, b] = requireAgents([sourceOf(file)]);
    expect([a?.name, b?.name]).toEqual(["a", "b"]);
    expect(a?.locationOf("model")).toBe("agent.yaml:2");
    expect(b?.locationOf("limits.max_steps")).toBe("agent.yaml:6");
    expect(b?.locationOf("tools.0.url")).toBe("agent.yaml");
  });

  test.each([
    ["model: perch/echo\n", "agent.yaml:1: an agent needs a name."],
    ["name: a\nmodel: [\n", "agent.yaml:"],
    ["", "is empty"],
    ["name: a\nmodel: b\n---\nname: c\nmodel: *nothing\n", "agent.yaml:"],
    [`name: a\n${aliasBomb}`, "agent.yaml:1: Excessive alias count"],
  ])("%j is refused with its place", (text, reason) => {
    expect(() => requireAgents([sourceOf(fileWith(text))])).toThrow(reason);
  });

  test("changes are named down to the field", () => {
    const changes = changesBetween({ a: 1, b: { c: 1, d: 2 }, t: [1] }, { a: 1, b: { c: 2, d: 2 }, t: [2] });
    expect(changes).toEqual([
      { path: ["b", "c"], from: 1, to: 2 },
      { path: ["t"], from: [1], to: [2] },
    ]);
  });
});

describe("changes of tools", () => {
  const search = { type: "mcp", name: "search", url: "https://a.example/mcp" };
  const issues = {
    type: "http",
    name: "issues",
    url: "https://b.example",
    headers: { Accept: "text/plain", Authorization: "Bearer {{secret.token}}" },
  };
  const changes = (from: unknown, to: unknown) => changesBetween({ tools: from }, { tools: to });

  test("are named by the tool and the field", () => {
    const moved = { ...search, url: "https://c.example/mcp" };
    const reworded = { ...issues, headers: { ...issues.headers, Accept: "application/json" } };
    expect(changes([search, issues], [moved, reworded])).toEqual([
      { path: ["tools", "search", "url"], from: "https://a.example/mcp", to: "https://c.example/mcp" },
      { path: ["tools", "issues", "headers", "Accept"], from: "text/plain", to: "application/json" },
    ]);
  });

  test("a tool that is new or gone is one change, and no change is lost", () => {
    expect(changes([search], [issues])).toEqual([
      { path: ["tools", "search"], from: search, to: undefined },
      { path: ["tools", "issues"], from: undefined, to: issues },
    ]);
    expect(changes([search, issues], [issues, search])).toEqual([
      { path: ["tools"], from: ["search", "issues"], to: ["issues", "search"] },
    ]);
    expect(changesBetween({}, { tools: [search] })).toEqual([
      { path: ["tools", "search"], from: undefined, to: search },
    ]);
    expect(changes([search], "wrong")).toEqual([{ path: ["tools"], from: [search], to: "wrong" }]);
  });

  test.each([
    ["a field", [{ ...issues, headers: { Authorization: "Bearer not-shown-1" } }], [issues]],
    ["a whole tool", [], [{ ...issues, query: { api_key: "not-shown-2" } }]],
    ["a block", [search], [{ ...search, headers: { "X-Api-Key": "not-shown-3" } }]],
    ["a header of any name", [search], [{ ...search, headers: { "X-Auth": "not-shown-4" } }]],
    [
      "a parameter whose name has dots",
      [{ ...issues, query: { "user.session": "a" } }],
      [{ ...issues, query: { "user.session": "not-shown-5" } }],
    ],
    ["a value beside a reference", [issues], [{ ...issues, headers: { Cookie: "a=not-shown-6; b={{secret.b}}" } }]],
  ])("a credential in %s is hidden, and a reference to a secret is not", (_, from, to) => {
    const text = JSON.stringify(hideSecrets(changes(from, to)));
    expect(text).toContain("[secret]");
    expect(text).not.toContain("not-shown");
    expect(JSON.stringify(hideSecrets(changes([], [issues])))).toContain("Bearer {{secret.token}}");
  });
});

describe("the changes that perch apply prints", () => {
  test.each([
    ["https://me:not-shown@a.example/mcp", "https://[secret]@a.example/mcp"],
    ["https://a.example/{id}/mcp?key=not-shown#not-shown", "https://a.example/{id}/mcp?[secret]"],
    ["https://a.example/mcp", "https://a.example/mcp"],
    ["me:not-shown@a.example", "[secret]"],
  ])("the address %s is shown as %s", (url, shown) => {
    const changes = changesBetween(
      { runtime: { type: "remote", url: "https://b.example" } },
      { runtime: { type: "remote", url } },
    );
    expect(hideSecrets(changes)).toEqual([{ path: "runtime.url", from: "https://b.example", to: shown }]);
  });

  test("the schema of a tool's parameters is shown, whatever their names", () => {
    const parameters = { type: "object", properties: { headers: { type: "string" }, query: { type: "string" } } };
    const tool = { type: "http", name: "t", parameters };
    expect(hideSecrets(changesBetween({}, { tools: [tool] }))).toEqual([{ path: "tools.t", to: tool }]);
  });

  test.each([
    [{}, { auth: { type: "jwt", secret: "not for the terminal" } }],
    [{ auth: null }, { auth: { type: "oauth2", clientSecret: "not for the terminal" } }],
    [{ auth: { type: "jwt" } }, { auth: { type: "jwt", secret: "x", previousSecret: "not for the terminal" } }],
  ])("%j to %j: no secret of `auth` is among them", (from, to) => {
    const text = JSON.stringify(hideSecrets(changesBetween(from, to)));
    expect(text).toContain("[secret]");
    expect(text).not.toContain("not for the terminal");
  });
});
