import { idPrefixes } from "../../packages/contract/src/index.ts";

/** When the story begins, in examples. Each of its requests is a second later than the one before. */
const storyStartMs = Date.parse("2026-01-31T12:00:00.000Z");
const dayMs = 86_400_000;

/** Values that differ between recordings and that can only be recognised by the name of their field. */
const fixedFields: Readonly<Record<string, unknown>> = {
  duration_ms: 40,
  address: "203.0.113.7",
  last_used_at: null, // written a little later
  user_agent: "Mozilla/5.0 (X11; Linux x86_64; rv:146.0) Gecko/20100101 Firefox/146.0",
  csrf_token: "ExampleExampleExampleExampleExampleExampleE",
  next_cursor: "WzE3Njk4NjA4MDAwMDAsIjEiXQ",
};

const example = "Example";
const pad = (count: number, length: number) => String(count).padStart(length, "0");

/** A pattern of random values, and the made-up text of the same form that replaces the first, second … of them. */
const randomTexts: readonly { readonly pattern: RegExp; readonly fake: (count: number, found: string) => string }[] = [
  {
    pattern: new RegExp(`\\b(${Object.values(idPrefixes).join("|")})_[0-7][0-9a-hjkmnp-tv-z]{25}\\b`, "g"),
    fake: (count, found) => `${found.slice(0, found.indexOf("_"))}_01kg${pad(count, 22)}`,
  },
  { pattern: /\bperch_[0-9A-Za-z]{46}\b/g, fake: (count) => `perch_${example.repeat(6)}${pad(count, 4)}` },
  { pattern: /\bperch_[0-9A-Za-z]{8}$/g, fake: () => `perch_${example}E` },
  { pattern: /\bwhsec_[A-Za-z0-9+/]{32}/g, fake: (count) => `whsec_${example.repeat(4)}${pad(count, 4)}` },
  { pattern: /\b(mfa|enrol)_[\w.-]{40,}/g, fake: (_, found) => `${found.slice(0, found.indexOf("_"))}_${example}` },
  { pattern: /(?<=#link=)[\w-]{43}/g, fake: () => `${example.repeat(6)}E` },
  { pattern: /(?<=\/connect\/)[\w.-]{40,}/g, fake: () => example.repeat(6) },
  { pattern: /\bpcc_[\w-]{43}/g, fake: () => `pcc_${example.repeat(6)}E` },
  // The id of a log entry, which is a cursor: time and number.
  {
    pattern: /^WzE[\w-]{16,}$/g,
    fake: (count) => Buffer.from(JSON.stringify([storyStartMs, String(count)])).toString("base64url"),
  },
  { pattern: /^[\w-]{43}$/g, fake: (count) => `${example.repeat(5)}${pad(count, 8)}` },
  // The digest of a call.
  { pattern: /^[0-9a-f]{64}$/g, fake: (count) => pad(count, 64) },
  { pattern: /^\d{6}$/g, fake: () => "123456" },
  { pattern: /\b[A-Z2-7]{32}\b/g, fake: () => "JBSWY3DPEHPK3PXP".repeat(2) },
  { pattern: /\b[a-z0-9]{4}-[a-z0-9]{4}-[a-z0-9]{4}\b/g, fake: (count) => `exam-ple0-${pad(count, 4)}` },
];

const isTime = (text: string): boolean => /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/.test(text);

/**
 * Replaces random values and times by values of the same form that are plainly made up and the same in every recording.
 */
export class StableValues {
  readonly #stepStartsMs: number[] = [];
  readonly #fakes = new Map<string, string>();
  readonly #counts = new Map<string, number>();
  readonly #origins: readonly (readonly [string, string])[];

  /** `origins` are pairs of an address of this recording, and the one that examples show for it. */
  constructor(origins: readonly (readonly [string, string])[]) {
    this.#origins = origins;
  }

  /** The next request of the story begins now. */
  beginStep(): void {
    this.#stepStartsMs.push(Date.now());
  }

  stable(value: unknown, field = ""): unknown {
    if (Array.isArray(value)) return value.map((item) => this.stable(item, field));
    if (typeof value === "object" && value !== null) {
      return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, this.stable(inner, name)]));
    }
    if (value !== null && field in fixedFields) return fixedFields[field];
    if (typeof value === "number") return Number(value.toFixed(3));
    if (typeof value !== "string") return value;
    return isTime(value) ? this.#stableTime(value) : this.#stableText(value);
  }

  #stableText(text: string): string {
    const replaced = this.#origins.reduce((all, [origin, shown]) => all.replaceAll(origin, shown), text);
    return randomTexts.reduce(
      (all, { pattern, fake }) =>
        all.replace(pattern, (found) => {
          const kind = `${pattern.source} ${found.slice(0, found.indexOf("_") + 1)}`;
          return this.#fakeOf(found, kind, fake);
        }),
      replaced,
    );
  }

  #fakeOf(found: string, kind: string, fake: (count: number, found: string) => string): string {
    const known = this.#fakes.get(found);
    if (known !== undefined) return known;
    const count = (this.#counts.get(kind) ?? 0) + 1;
    this.#counts.set(kind, count);
    const made = fake(count, found);
    this.#fakes.set(found, made);
    // A fake is recognised again if an answer repeats a value of a request.
    this.#fakes.set(made, made);
    return made;
  }

  /** A time during the story becomes that of its request, a later one is as much later, and midnight stays midnight. */
  #stableTime(text: string): string {
    const [beginMs = 0, ...others] = this.#stepStartsMs;
    const timeMs = Date.parse(text);
    if (timeMs % dayMs === 0) {
      const days = Math.round(timeMs / dayMs) - Math.floor(beginMs / dayMs);
      return new Date((Math.floor(storyStartMs / dayMs) + days) * dayMs).toISOString();
    }
    if (timeMs < beginMs - dayMs) return text;
    const step = others.filter((startMs) => startMs <= timeMs).length;
    const startMs = this.#stepStartsMs[step] ?? beginMs;
    const laterMs = Math.round((timeMs - startMs) / 60_000) * 60_000;
    return new Date(storyStartMs + step * 1000 + laterMs).toISOString();
  }
}
