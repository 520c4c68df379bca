import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { usePerch } from "../../server/test/support/harness.ts";
import { commands } from "../src/commands.ts";
import { type Desk, newDesk, removeDesks } from "./using-perch.ts";

const server = usePerch();
removeDesks();

/** Simulates a user who has no `perch` on the PATH. */
beforeEach(() => void vi.stubEnv("npm_command", "exec"));
afterEach(() => void vi.unstubAllEnvs());

const firstWords = [...new Set(commands.map(({ name }) => name.split(" ")[0]))].filter((word) => word !== "dev");
/** A command that this user's shell would not find. `perch deploy: …` names the command that fails, and is not to be typed. */
const bare = new RegExp(String.raw`(?<!npx )\bperch (?:${firstWords.join("|")})\b(?! ?[a-z-]*:)`);

async function deskWithAgent(): Promise<Desk> {
  const desk = await newDesk(server());
  writeFileSync(join(desk.cwd, "agent.yaml"), "name: bot\nmodel: perch/echo\n");
  expect((await desk.perch(["apply"])).code).toBe(0);
  return desk;
}

describe("a list without rows", () => {
  test("is reported on standard error, with the command that makes the first one", async () => {
    const { perch } = await deskWithAgent();
    const noted = async (...args: string[]) => {
      const { code, stdout, stderr } = await perch(args);
      expect([code, stdout]).toEqual([0, ""]);
      return stderr;
    };
    expect(await noted("providers")).toBe("No providers yet. Add one with `npx perch providers add`.\n");
    expect(await noted("webhooks")).toBe("No webhooks yet. Create one with `npx perch webhooks create`.\n");
    expect(await noted("secrets")).toBe("No secrets yet. Create one with `npx perch secrets set`.\n");
    expect(await noted("runs", "bot")).toBe('No runs yet. Start one with `npx perch invoke bot "Hello"`.\n');
    expect(await noted("memory", "bot")).toBe('No memories yet. Add one with `npx perch memory add bot "…"`.\n');
    expect(await noted("deployments", "bot")).toBe("No deployments yet. Create one with `npx perch deploy bot`.\n");
    expect(await noted("versions", "bot")).toBe("No versions yet. Create one with `npx perch deploy bot`.\n");
    expect(await noted("logs", "bot")).toBe("No entries in the last 24 hours.\n");
    expect(await noted("logs", "bot", "--since", "1h", "--level", "error")).toBe(
      "No entries with these options in that time.\n",
    );
  });

  test("names no command if options hide rows", async () => {
    const { perch } = await deskWithAgent();
    for (const args of [
      ["keys", "--status", "revoked"],
      ["agents", "--offset", "5"],
      ["runs", "bot", "--status", "failed"],
    ])
      expect((await perch(args)).stderr).toBe(`No ${args[0]} found with these options.\n`);
  });
});

test("no command names another that the shell would not find", async () => {
  const { perch } = await deskWithAgent();
  const calls = [
    ...["agents", "models", "secrets", "providers", "webhooks", "keys", "audit", "whoami", "doctor", "nonsense"].map(
      (word) => [word],
    ),
    ...["runs", "logs", "memory", "deployments", "versions", "metrics", "rollback"].map((word) => [word, "bot"]),
    ["apply"],
    ["invoke", "missing", "Hello"],
    ["init", "other"],
    ["agents", "get", "missing"],
    ["runs", "get", "bot", "req_01h455vb4pex5vsknk084sn02q"],
    ["providers", "update", "local"],
    ["secrets", "set"],
    ["logs", "bot", "--since", "yesterday"],
  ];
  for (const args of calls) {
    const { stdout, stderr } = await perch(args);
    expect
      .soft(
        `${stdout}${stderr}`.split("\n").filter((line) => bare.test(line)),
        args.join(" "),
      )
      .toEqual([]);
  }
});
