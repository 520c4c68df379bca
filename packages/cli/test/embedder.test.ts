import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { createShell } from "./shell.ts";

const real = join(import.meta.dirname, "../../../.models/minilm");
const cwd = mkdtempSync(join(tmpdir(), "perch-embedder-"));
afterAll(() => rmSync(cwd, { recursive: true }));
const perch = createShell({ cwd, env: { ...process.env, PERCH_LOCAL_EMBEDDER_DIR: join(cwd, "minilm") } });

describe("perch embedder install", () => {
  test("refuses files that are not the weights, in the server's words, and installs nothing", async () => {
    const refused = await perch(["embedder", "install", "--from", "nowhere.tgz"]);
    expect(refused).toMatchObject({ code: 1, stdout: "" });
    expect(refused.stderr).toBe(`There is no ${join(cwd, "nowhere.tgz")}.\n`);
    const files = readdirSync(cwd, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    expect(files).toEqual([]);
  });

  test("puts the weights into the folder in which the server looks for them, and prints the folder", async () => {
    const installed = await perch(["embedder", "install", "--from", real]);
    expect(installed).toMatchObject({ code: 0, stdout: `${join(cwd, "minilm")}\n` });
    expect(installed.stderr).toContain("perch/minilm is installed:");
    expect(readdirSync(join(cwd, "minilm")).sort()).toEqual(["model.onnx", "tokenizer.json", "tokenizer_config.json"]);
    const again = await perch(["embedder", "install", "--json"]);
    expect(again.json()).toEqual({ folder: join(cwd, "minilm") });
    const ignored = await perch(["embedder", "install", "--from", "nowhere.tgz"]);
    expect(ignored).toMatchObject({ code: 0, stdout: `${join(cwd, "minilm")}\n` });
    expect(ignored.stderr).toContain("perch/minilm is installed already, so --from was not used:\n");
  });
});
