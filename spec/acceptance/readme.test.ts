import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { createScratchDatabase } from "../../scripts/testbed/scratch-database.ts";
import { freePort, scratchSettings, waitUntilReady } from "../../scripts/testbed/server-process.ts";
import { commandBlocks, withoutVariables } from "./markdown-commands.ts";

const root = join(import.meta.dirname, "../..");
const separator = "=== end of block ===";

test("the commands of the README work as printed, from an empty database, and answer as printed", async () => {
  const [install, ...rest] = commandBlocks(readFileSync(join(root, "README.md"), "utf8"));
  expect(install?.commands).toContain("pnpm start");
  expect(rest.length).toBeGreaterThan(8);

  const database = await createScratchDatabase();
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  // A reader's shell has none of our settings, so that `pnpm services up` starts what it starts for them.
  const bare = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !name.startsWith("PERCH_") || name.startsWith("PERCH_SERVICES_")),
  );
  const env = { ...bare, ...scratchSettings(database, port) };
  const firstTerminal = spawn("bash", ["-ec", install?.commands ?? ""], {
    cwd: root,
    env,
    stdio: "ignore",
    detached: true,
  });
  try {
    await waitUntilReady(url, firstTerminal, 60);
    const script = rest.map(({ commands }) => `${commands}\necho; echo '${separator}'`).join("\n");
    const secondTerminal = script.replaceAll("http://127.0.0.1:7400", url);
    const { stdout } = await promisify(execFile)("bash", ["-euo", "pipefail", "-c", secondTerminal], {
      cwd: root,
      env,
    });
    const outputs = stdout.split(separator).slice(0, -1);
    expect(outputs).toHaveLength(rest.length);
    for (const [index, { commands, answer }] of rest.entries()) {
      const output = outputs[index]?.trim() ?? "";
      if (commands.includes("curl")) expect(output, commands).toMatch(/^\{/);
      if (answer !== undefined)
        expect(withoutVariables(JSON.parse(output)), commands).toEqual(withoutVariables(answer));
      else expect(output, commands).not.toContain('"success":false');
    }
  } finally {
    if (firstTerminal.pid && firstTerminal.exitCode === null) {
      process.kill(-firstTerminal.pid, "SIGTERM");
      await once(firstTerminal, "exit");
    }
    await database.drop();
  }
});
