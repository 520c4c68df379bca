import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { usePerch } from "../../server/test/support/harness.ts";
import { newDesk, removeDesks } from "./using-perch.ts";

const server = usePerch();
removeDesks();

const agent = (name: string, more = "") => `name: ${name}\nmodel: perch/echo\n${more}`;

async function deskWith(files: Readonly<Record<string, string>>) {
  const desk = await newDesk(server());
  mkdirSync(join(desk.cwd, "agents"));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(desk.cwd, name), text);
  const names = async () =>
    (await desk.perch(["agents", "--json", "--sort", "name"]))
      .json<{ data: { name: string }[] }>()
      .data.map(({ name }) => name);
  return { ...desk, names };
}

describe("perch apply of several files", () => {
  test("a folder stands for all of its YAML files, and -f can be repeated", async () => {
    const { perch, names } = await deskWith({
      "agents/a.yaml": agent("a"),
      "agents/b.yml": `${agent("b1")}---\n${agent("b2")}`,
      "agents/.hidden.yaml": "not: an agent",
      "agents/notes.txt": "not YAML",
      "c.yaml": agent("c"),
    });
    const applied = await perch(["apply", "-f", "agents/", "-f", "c.yaml", "-f", "agents/a.yaml"]);
    expect(applied).toMatchObject({ code: 0, stderr: "" });
    expect(await names()).toEqual(["a", "b1", "b2", "c"]);
    expect((await perch(["apply", "-f", "agents", "--json"])).json()).toMatchObject({
      applied: false,
      agents: [{ name: "a" }, { name: "b1" }, { name: "b2" }],
    });
  });

  test("the problems of every file are named, with their lines, and nothing is applied", async () => {
    const { perch, names } = await deskWith({
      "agents/good.yaml": agent("good"),
      "agents/nameless.yaml": `${agent("x")}---\nmodel: perch/echo\n`,
      "agents/broken.yaml": "name: b\nmodel: [\n",
    });
    const refused = await perch(["apply", "-f", "agents", "-f", "missing.yaml"]);
    expect(refused).toMatchObject({ code: 1, stdout: "" });
    expect(refused.stderr).toMatch(/^agents\/broken\.yaml:\d+: /m);
    expect(refused.stderr).toContain("agents/nameless.yaml:3: an agent needs a name.\n");
    expect(refused.stderr).toContain("There is no missing.yaml.\n");
    expect(await names()).toEqual([]);
  });

  test("two agents of one name are refused, and both places are named", async () => {
    const { perch, names } = await deskWith({
      "agents/a.yaml": agent("bot"),
      "agents/b.yaml": `model: perch/echo\nname: bot\n`,
    });
    const refused = await perch(["apply", "-f", "agents"]);
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain("2 agents are called bot: agents/a.yaml:1 and agents/b.yaml:2.\n");
    expect(await names()).toEqual([]);
  });

  test("the refusals of the server are named for every file, and the others are applied", async () => {
    const wrong = "limits:\n  max_steps: 0\n";
    const { perch, names } = await deskWith({
      "agents/a.yaml": agent("a", wrong),
      "agents/b.yaml": agent("b"),
      "agents/c.yaml": agent("c", wrong),
    });
    const { code, stdout, stderr } = await perch(["apply", "-f", "agents"]);
    expect(code).toBe(1);
    expect(stdout).toContain("b created.");
    for (const file of ["agents/a.yaml", "agents/c.yaml"])
      expect(stderr).toContain(`${file}:4: limits.max_steps: Too small: expected number to be >=1\n`);
    expect(stderr).toContain("1 of 3 agents were applied.\n");
    expect(await names()).toEqual(["b"]);
  });

  test("one refusal also shows how many were applied", async () => {
    const { perch } = await deskWith({ "agents/a.yaml": agent("a"), "agents/b.yaml": agent("b", "nonsense: 1\n") });
    const { code, stderr } = await perch(["apply", "-f", "agents"]);
    expect(code).toBe(1);
    expect(stderr).toContain("agents/b.yaml:3: nonsense: ");
    expect(stderr).toMatch(/\n1 of 2 agents were applied\.\n$/);
    expect((await perch(["apply", "-f", "agents/b.yaml"])).stderr).toMatch(/\n0 of 1 agent was applied\.\n$/);
  });

  test("a folder without any files is reported", async () => {
    const { perch } = await deskWith({});
    const { code, stderr } = await perch(["apply", "-f", "agents"]);
    expect([code, stderr.split("\n")[0]]).toEqual([1, "agents has no *.yaml or *.yml."]);
  });
});
