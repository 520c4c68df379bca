import { cpSync, mkdtempSync, rmSync, truncateSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { expectFailure } from "../../../test/support/model-servers/model-requests.ts";
import { createLocalEmbedder } from "./local-embedder.ts";
import { PermanentModelError } from "./model.ts";

const folder = join(import.meta.dirname, "../../../../../.models/minilm");
const embedder = createLocalEmbedder(folder);
const signal = () => AbortSignal.timeout(10_000);
const embed = (...texts: string[]) => embedder.embed(texts, signal());
const embedOne = async (text: string) => (await embed(text))[0] ?? [];
const cosineSimilarity = (a: readonly number[], b: readonly number[]) =>
  a.reduce((sum, value, at) => sum + value * (b[at] ?? 0), 0);

const scratch = mkdtempSync(join(tmpdir(), "perch-embedder-"));
afterAll(() => rmSync(scratch, { recursive: true }));

describe("perch/minilm", () => {
  test("returns unit vectors of 384 dimensions, in order", async () => {
    const [first, second] = await embed("A dog barks.", "The invoice is due on Friday.");
    expect(embedder.dimensions).toBe(384);
    for (const vector of [first, second]) {
      expect(vector).toHaveLength(384);
      expect(Math.hypot(...(vector ?? []))).toBeCloseTo(1, 6);
    }
    expect(second).toEqual(await embedOne("The invoice is due on Friday."));
  });

  test.each([
    ["Where is my parcel?", "The package has not arrived yet.", "She likes to paint with watercolours."],
    ["I cannot log in.", "My password does not work.", "The recipe needs two eggs."],
    ["Cancel my subscription.", "Please end the monthly plan.", "The train to Oslo leaves at nine."],
  ])("%s is closer to a text with the same meaning than to an unrelated one", async (text, same, other) => {
    const [a = [], b = [], c = []] = await embed(text, same, other);
    expect(cosineSimilarity(a, b)).toBeGreaterThan(cosineSimilarity(a, c) + 0.2);
  });

  test("the same text has the same vector, alone and in a batch", async () => {
    const texts = ["The printer in room four jams.", "word ".repeat(200), "Oui.", "Zażółć gęślą jaźń 🙂"];
    const together = await embed(...texts);
    for (const [index, text] of texts.entries()) {
      const alone = await embedOne(text);
      const maxDifference = Math.max(...alone.map((value, at) => Math.abs(value - (together[index]?.[at] ?? 9))));
      expect(maxDifference).toBeLessThan(1e-3);
    }
  });

  test("a long text is truncated at 256 tokens, and not earlier", async () => {
    const words = Array.from({ length: 300 }, (_, index) => (index % 2 ? "green" : "house")).join(" ");
    const cut = await embedOne(words);
    expect(await embedOne(`${words} and a war about oil prices in winter`)).toEqual(cut);
    const short = words.split(" ").slice(0, 200).join(" ");
    expect(await embedOne(`${short} and a war about oil prices in winter`)).not.toEqual(await embedOne(short));
  });

  test("an empty text and a text of a megabyte have vectors too", async () => {
    const vectors = await embed("", "lorem ipsum ".repeat(90_000));
    expect(vectors.map((vector) => vector.length)).toEqual([384, 384]);
  });

  test("runs in a thread of its own: timers keep firing", async () => {
    const texts = Array.from({ length: 20 }, () => "a rather long text with words ".repeat(60));
    let ticks = 0;
    const timer = setInterval(() => ticks++, 5);
    await embed(...texts);
    clearInterval(timer);
    expect(ticks).toBeGreaterThan(10);
  });

  test("callers take turns: one text does not wait for a thousand texts of another caller", async () => {
    const controller = new AbortController();
    const many = embedder.embed(new Array(1000).fill("a rather long text ".repeat(60)), controller.signal);
    let isManyDone = false;
    const ended = expectFailure(many).finally(() => {
      isManyDone = true;
    });
    await embedOne("quick");
    expect(isManyDone).toBe(false);
    controller.abort(new Error("no longer wanted"));
    expect(await ended).toEqual(new Error("no longer wanted"));
  });
});

describe("missing or broken weights", () => {
  test("without weights the error says what to run, and weights installed later are used", async () => {
    const empty = join(scratch, "later");
    const absent = createLocalEmbedder(empty);
    const failure = await expectFailure(absent.embed(["x"], signal()));
    expect(failure).toBeInstanceOf(PermanentModelError);
    expect(failure.message).toContain("node scripts/local-embedder/main.ts");
    expect(failure.message).not.toContain(scratch);
    cpSync(folder, empty, { recursive: true });
    expect(await absent.embed(["x"], signal())).toHaveLength(1);
  });

  test("truncated weights are a permanent failure, and the error contains no path", async () => {
    const broken = join(scratch, "broken");
    cpSync(folder, broken, { recursive: true });
    truncateSync(join(broken, "model.onnx"), 1000);
    const failure = await expectFailure(createLocalEmbedder(broken).embed(["x"], signal()));
    expect(failure).toBeInstanceOf(PermanentModelError);
    expect(failure.message).toContain("cannot be loaded");
    expect(failure.message).not.toContain(scratch);
  });
});
