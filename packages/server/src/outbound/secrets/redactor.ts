import type { Share } from "../../fairness/shares.ts";
import { createWorkThread, type WorkMeter } from "../../fairness/work-thread.ts";
import { UnreadAnswerError } from "../outbound-share.ts";
import type { RedactionRequest, RedactionResponse } from "./redaction-thread.ts";
import { createValueSearch, type LabelledValues, type SearchedStream, type ValueSearch } from "./value-search.ts";

/** Text that arrives in pieces. All that `write` and `end` return together is the text without the values. */
export interface RedactedStream {
  /** Holds back only text that may still become a value. */
  readonly write: (piece: string) => Promise<string>;
  readonly end: () => Promise<string>;
  /** Nothing more is written, and the end is not wanted. */
  readonly close: () => void;
}

/** Removes the values that a call carries from all that comes back. Throws an `UnreadAnswerError`. */
export interface Redactor {
  readonly text: (text: string) => Promise<string>;
  /** The beginning of a longer text: a value that is cut off at its end is left out. */
  readonly beginning: (text: string) => Promise<string>;
  /** Texts and names in a value from JSON. */
  readonly json: (value: unknown) => Promise<unknown>;
  readonly stream: () => RedactedStream;
  /** Bytes, each as the character of its number. Those in UTF-16 are left to `text`: replaced here, the rest could not be decoded. */
  readonly byteStream: () => RedactedStream;
}

export type CreateRedactor = (organisationId: string, values: LabelledValues) => Redactor;

/**
 * What the main thread searches itself: at most about 1 ms, for a text made for it. All else is searched in a thread, in
 * the share of processor time of the organisation.
 */
const maxLocalCharacters = 2048;
const maxLocalValues = 256;
/** At most some 50 ms of the thread, then other organisations have their turn. */
const maxCharactersAtOnce = 65_536;

type Ask = (request: RedactionRequest) => Promise<readonly string[]>;

const sum = (texts: readonly string[]): number => texts.reduce((total, { length }) => total + length, 0);

/** Texts in groups of limited size. */
function* inGroups(texts: readonly string[]): Generator<readonly string[]> {
  let group: string[] = [];
  let characters = 0;
  for (const text of texts) {
    if (group.length > 0 && characters + text.length > maxCharactersAtOnce) {
      yield group;
      group = [];
      characters = 0;
    }
    group.push(text);
    characters += text.length;
  }
  if (group.length > 0) yield group;
}

function* inSlices(text: string): Generator<string> {
  for (let at = 0; at < text.length; at += maxCharactersAtOnce) yield text.slice(at, at + maxCharactersAtOnce);
}

/** The texts and names of a value from JSON, in the order in which `replaceTexts` asks for them. */
function collectTexts(value: unknown, texts: string[] = []): string[] {
  if (typeof value === "string") texts.push(value);
  else if (Array.isArray(value)) for (const inner of value) collectTexts(inner, texts);
  else if (value !== null && typeof value === "object")
    for (const [name, inner] of Object.entries(value)) {
      texts.push(name);
      collectTexts(inner, texts);
    }
  return texts;
}

function replaceTexts(value: unknown, next: () => string): unknown {
  if (typeof value === "string") return next();
  if (value === null || typeof value !== "object") return value;
  if (Array.isArray(value)) return value.map((inner) => replaceTexts(inner, next));
  return Object.fromEntries(Object.entries(value).map(([, inner]) => [next(), replaceTexts(inner, next)]));
}

let streams = 0;

/** A stream that is searched here while it is short, and from then on in the thread, which gets its beginning again. */
function createStream(
  ask: Ask,
  values: LabelledValues,
  ofBytes: boolean,
  openLocal: () => SearchedStream | undefined,
): RedactedStream {
  let local = openLocal();
  let written = "";
  let opened: string | undefined;
  const open = async (): Promise<string> => {
    const stream = `${++streams}`;
    await ask({ do: "open", stream, values, ofBytes, written });
    written = "";
    return stream;
  };
  const writeInThread = async (piece: string): Promise<string> => {
    opened ??= await open();
    let redacted = "";
    for (const slice of inSlices(piece))
      redacted += (await ask({ do: "write", stream: opened, piece: slice })).join("");
    return redacted;
  };
  return {
    write: async (piece) => {
      if (!local || written.length + piece.length > maxLocalCharacters) {
        local = undefined;
        return writeInThread(piece);
      }
      written += piece;
      return local.write(piece);
    },
    end: async () => {
      if (local) return local.end();
      // Nothing was written.
      if (opened === undefined) return "";
      return (await ask({ do: "end", stream: opened })).join("");
    },
    close: () => {
      if (opened !== undefined) void ask({ do: "close", stream: opened }).catch(() => undefined);
    },
  };
}

function createRedactor(ask: Ask, values: LabelledValues): Redactor {
  const isShort = sum(values.map(([, value]) => value)) <= maxLocalValues;
  let search: ValueSearch | undefined;
  const local = (): ValueSearch => {
    search ??= createValueSearch(values);
    return search;
  };
  const isLocal = (characters: number): boolean => isShort && characters <= maxLocalCharacters;
  const stream = (): RedactedStream => createStream(ask, values, false, () => (isShort ? local().stream() : undefined));
  const searchLong = async (whole: string): Promise<string> => {
    const { write, end } = stream();
    return (await write(whole)) + (await end());
  };
  const text = async (whole: string): Promise<string> =>
    isLocal(whole.length) ? local().text(whole) : searchLong(whole);

  const searchTexts = async (texts: readonly string[]): Promise<readonly string[]> => {
    if (isLocal(sum(texts))) return texts.map(local().text);
    const searched: string[] = [];
    for (const group of inGroups(texts))
      if (sum(group) > maxCharactersAtOnce) searched.push(await text(group.join("")));
      else searched.push(...(await ask({ do: "texts", values, texts: group })));
    return searched;
  };

  return {
    text,
    beginning: async (start) => {
      if (isLocal(start.length)) return local().beginning(start);
      const { write, close } = stream();
      try {
        return await write(start);
      } finally {
        close();
      }
    },
    json: async (value) => {
      const searched = (await searchTexts(collectTexts(value))).values();
      return replaceTexts(value, () => searched.next().value ?? "");
    },
    stream,
    byteStream: () => createStream(ask, values, true, () => (isShort ? local().byteStream() : undefined)),
  };
}

interface RedactorDeps {
  readonly processorTime: Pick<Share, "acquire">;
  readonly onWorked: WorkMeter;
}

export function createRedactors({ processorTime, onWorked }: RedactorDeps): CreateRedactor {
  const thread = createWorkThread<RedactionRequest, RedactionResponse>({
    url: new URL("./redaction-thread.ts", import.meta.url),
    processorTime,
    onWorked: (ms) => onWorked("redaction", ms),
  });
  return (organisationId, values) => {
    const ask: Ask = async (request) => {
      const answer = await thread.ask(organisationId, request).catch((error: unknown) => {
        throw UnreadAnswerError.from(error);
      });
      if (!Array.isArray(answer))
        throw new UnreadAnswerError("the search for secrets in it was interrupted. Try again");
      return answer;
    };
    return createRedactor(ask, values);
  };
}

const chainStreams = (first: RedactedStream, second: RedactedStream): RedactedStream => ({
  write: async (piece) => second.write(await first.write(piece)),
  end: async () => (await second.write(await first.end())) + (await second.end()),
  close: () => {
    first.close();
    second.close();
  },
});

/** For calls whose secrets have two sources. */
export const chainRedactors = (first: Redactor, second: Redactor): Redactor => ({
  text: async (text) => second.text(await first.text(text)),
  beginning: async (text) => second.beginning(await first.beginning(text)),
  json: async (value) => second.json(await first.json(value)),
  stream: () => chainStreams(first.stream(), second.stream()),
  byteStream: () => chainStreams(first.byteStream(), second.byteStream()),
});

/** A stream without anything to redact. */
const passOn = (): RedactedStream => ({ write: async (piece) => piece, end: async () => "", close: () => undefined });

/** For calls without secrets. */
export const noRedaction: Redactor = {
  text: async (text) => text,
  beginning: async (text) => text,
  json: async (value) => value,
  stream: passOn,
  byteStream: passOn,
};
