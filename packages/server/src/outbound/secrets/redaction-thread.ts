/**
 * The thread behind `redactor.ts`. Answers come from servers that organisations chose, and a text can be made that takes
 * a second for each MiB to search.
 */
import { serveWork } from "../../fairness/serve-work.ts";
import { createLruCache } from "../../platform/lru-cache.ts";
import { createValueSearch, type LabelledValues, type SearchedStream, type ValueSearch } from "./value-search.ts";

export type RedactionRequest =
  | { readonly do: "texts"; readonly values: LabelledValues; readonly texts: readonly string[] }
  | {
      readonly do: "open";
      readonly stream: string;
      readonly values: LabelledValues;
      readonly ofBytes: boolean;
      /** The beginning, which was searched already. */
      readonly written: string;
    }
  | { readonly do: "write"; readonly stream: string; readonly piece: string }
  | { readonly do: "end" | "close"; readonly stream: string };

/** "unknown": the stream is not open here. */
export type RedactionResponse = readonly string[] | "unknown";

interface OpenStream {
  readonly stream: SearchedStream;
  readonly openedMs: number;
}

/** No answer of another server lasts longer. */
const maxOpenMs = 16 * 60 * 1000;

/** Preparing a search takes up to 30 ms, and an answer is searched in several pieces. */
const searches = createLruCache<string, ValueSearch>(32, { ttl: 10_000 });
const streams = new Map<string, OpenStream>();

function searchFor(values: LabelledValues): ValueSearch {
  const key = JSON.stringify(values);
  const search = searches.get(key) ?? createValueSearch(values);
  searches.set(key, search);
  return search;
}

/** Streams that were neither ended nor closed. */
function dropAbandoned(nowMs: number): void {
  for (const [id, { openedMs }] of streams) {
    if (nowMs - openedMs < maxOpenMs) return;
    streams.delete(id);
  }
}

function open({ stream: id, values, ofBytes, written }: Extract<RedactionRequest, { do: "open" }>): void {
  const openedMs = performance.now();
  dropAbandoned(openedMs);
  const search = searchFor(values);
  const stream = ofBytes ? search.byteStream() : search.stream();
  stream.write(written);
  streams.set(id, { stream, openedMs });
}

function answer(request: RedactionRequest): RedactionResponse {
  if (request.do === "texts") return request.texts.map(searchFor(request.values).text);
  if (request.do === "open") {
    open(request);
    return [];
  }
  const stream = streams.get(request.stream)?.stream;
  if (request.do === "write") return stream ? [stream.write(request.piece)] : "unknown";
  streams.delete(request.stream);
  if (request.do === "close") return [];
  return stream ? [stream.end()] : "unknown";
}

serveWork(answer);
