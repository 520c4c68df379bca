import { cpSync, mkdtempSync, rmSync, truncateSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { expectFailure } from "../../../test/support/model-requests.ts";
import { createLocalEmbedder } from "./local-embedder.ts";
import { PermanentModelError } from "./model.ts";

const folder = join(import.meta.dirname, "../../../../../.models/minilm");
const embedder = createLocalEmbedder(folder);
const signal = () => AbortSignal.timeout(10_000);
const request = (organisationId = "a") => ({ organisationId, isBackground: false });
const background = { organisationId: "a", isBackground: true };
const embed = (...texts: string[]) => embedder.embedFor(request(), texts, signal());
const embedOne = async (text: string) => (await embed(text))[0] ?? [];
const elapsedMs = async (work: () => Promise<unknown>): Promise<number> => {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
};
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

  test("the runtime is configured to report nothing to its makers", () => {
    expect(process.env.ORT_DISABLE_TELEMETRY).toBe("1");
  });

  test.each([
    ["Where is my parcel?", "The package has not arrived yet.", "She likes to paint with watercolours."],
    ["I cannot log in.", "My password does not work.", "The recipe needs two eggs."],
    ["Cancel my subscription.", "Please end the monthly plan.", "The train to Oslo leaves at nine."],
  ])("%s is closer to a text with the same meaning than to an unrelated one", async (text, same, other) => {
    const [a = [], b = [], c = []] = await embed(text, same, other);
    expect(cosineSimilarity(a, b)).toBeGreaterThan(cosineSimilarity(a, c) + 0.2);
  });

  test("the same text has the same vector, by itself and in a batch", async () => {
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

  const longText = "a rather long text with words ".repeat(60);
  /** Starts to embed, and reports whether it has ended; `stop` ends it. */
  const start = (use: ReturnType<typeof request>, texts: readonly string[]) => {
    const controller = new AbortController();
    const started = { hasEnded: false, stop: () => controller.abort(new Error("no longer wanted")) };
    const ended = embedder.embedFor(use, texts, controller.signal).then(
      () => undefined,
      (error: unknown) => error,
    );
    void ended.then(() => {
      started.hasEnded = true;
    });
    return { ...started, started, ended };
  };

  test("organisations take turns: one text does not wait for hundreds of requests of another", async () => {
    await embedOne("warm");
    const many = Array.from({ length: 300 }, () => start(request("a"), [longText]));
    await embedder.embedFor(request("b"), ["quick"], signal());
    // The one under way, and one more at most.
    expect(many.filter(({ started }) => started.hasEnded).length).toBeLessThanOrEqual(2);
    for (const { stop } of many) stop();
    expect(await many.at(-1)?.ended).toEqual(new Error("no longer wanted"));
  });

  test("an abandoned text leaves the queue: the next text does not wait for abandoned ones", async () => {
    await embedOne("warm");
    const alone = await elapsedMs(() => embedOne(longText));
    const abandoned = Array.from({ length: 300 }, () => start(request(), [longText]));
    for (const { stop } of abandoned) stop();
    await Promise.all(abandoned.map(({ ended }) => ended));
    expect(await elapsedMs(() => embedOne(longText))).toBeLessThan(20 * alone + 200);
  });

  test("texts in the background wait for requests", async () => {
    await embedOne("warm");
    const batches = Array.from({ length: 20 }, () => start(background, [longText, longText]));
    await embedOne("quick");
    expect(batches.filter(({ started }) => started.hasEnded)).toEqual([]);
    for (const { stop } of batches) stop();
  });
});

describe("missing or broken weights", () => {
  test("without weights the error names the command to run, and weights installed later are used", async () => {
    const empty = join(scratch, "later");
    const absent = createLocalEmbedder(empty);
    const failure = await expectFailure(absent.embedFor(request(), ["x"], signal()));
    expect(failure).toBeInstanceOf(PermanentModelError);
    expect(failure.message).toContain("perch embedder install");
    expect(failure.message).not.toContain(scratch);
    cpSync(folder, empty, { recursive: true });
    expect(await absent.embedFor(request(), ["x"], signal())).toHaveLength(1);
  });

  test("truncated weights are a permanent failure, and the error contains no path", async () => {
    const broken = join(scratch, "broken");
    cpSync(folder, broken, { recursive: true });
    truncateSync(join(broken, "model.onnx"), 1000);
    const failure = await expectFailure(createLocalEmbedder(broken).embedFor(request(), ["x"], signal()));
    expect(failure).toBeInstanceOf(PermanentModelError);
    expect(failure.message).toContain("cannot be loaded");
    expect(failure.message).not.toContain(scratch);
  });
});
