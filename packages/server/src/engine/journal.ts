import { AsyncLocalStorage } from "node:async_hooks";
import type { Http2ServerRequest } from "node:http2";
import { bytesOf, fieldOf, fields, frameTypes, headerBytes } from "./protocol.ts";

/** The engine's journal of an invocation when this attempt of it began. */
export interface Journal {
  readonly hasStep: (name: string) => boolean;
  readonly hasSteps: () => boolean;
  /**
   * Called when a step begins to do its work, and says whether it does so again: an earlier attempt journaled the step without a
   * result, or ended without a further entry, which only the first step of this attempt can have been.
   */
  readonly isRepeat: (name: string) => boolean;
  /** The output that an earlier attempt wrote, if the engine did not learn that the invocation was over. */
  readonly output: unknown;
  /** How this step went if it was made before the engine's SDK was asked. Only once: a retry makes it again. */
  readonly takeResult: (name: string) => StepResult | undefined;
}

/** How a step went that is not journaled yet. */
export type StepResult = PromiseSettledResult<object>;

/** A step that was made before the engine's SDK was asked. */
export interface MadeStep {
  readonly name: string;
  readonly result: StepResult;
}

/**
 * Reads the journal from the beginning of the engine's request: a start message with the number of entries, then the
 * entries.
 */
export class JournalReader implements Journal {
  readonly #steps = new Set<string>();
  #unread: Buffer = Buffer.alloc(0);
  #entriesLeft: number | undefined;
  /** Attempts that failed since the last entry was stored. */
  #retries = 0;
  #pendingSleeps = 0;
  #hasBegun = false;
  #made: MadeStep | undefined;
  output: unknown;

  constructor(made?: MadeStep) {
    this.#made = made;
  }

  hasStep(name: string): boolean {
    return this.#steps.has(name);
  }

  hasSteps(): boolean {
    return this.#steps.size > 0;
  }

  isRepeat(name: string): boolean {
    const isFirst = !this.#hasBegun;
    this.#hasBegun = true;
    // A worker that was lost while the run slept had no step to finish.
    return this.hasStep(name) || (isFirst && this.#retries > 0 && this.#pendingSleeps === 0);
  }

  takeResult(name: string): StepResult | undefined {
    if (this.#made?.name !== name) return undefined;
    const { result } = this.#made;
    this.#made = undefined;
    return result;
  }

  get isComplete(): boolean {
    return this.#entriesLeft === 0;
  }

  read(bytes: Buffer): void {
    this.#unread = this.#unread.length === 0 ? bytes : Buffer.concat([this.#unread, bytes]);
    while (!this.isComplete && this.#unread.length >= headerBytes) {
      const end = headerBytes + this.#unread.readUInt32BE(4);
      if (this.#unread.length < end) return;
      this.#readFrame(this.#unread.readUInt16BE(0), this.#unread.subarray(headerBytes, end));
      this.#unread = this.#unread.subarray(end);
    }
  }

  #readFrame(type: number, message: Buffer): void {
    if (this.#entriesLeft === undefined) {
      const entries = type === frameTypes.start ? fieldOf(message, fields.startKnownEntries) : undefined;
      if (typeof entries !== "number") throw new Error("The engine did not begin with the number of journal entries");
      // The first entry is the input, and usually the only one.
      this.#entriesLeft = entries === 1 ? 0 : entries;
      this.#retries = Number(fieldOf(message, fields.startRetries) ?? 0);
      return;
    }
    this.#entriesLeft--;
    if (type === frameTypes.run) this.#steps.add(bytesOf(message, fields.runName).toString("utf8"));
    if (type === frameTypes.sleep) this.#pendingSleeps++;
    if (type === frameTypes.sleepCompleted) this.#pendingSleeps--;
    if (type === frameTypes.output) {
      const content = bytesOf(bytesOf(message, fields.outputValue), fields.valueContent);
      this.output = JSON.parse(content.toString("utf8"));
    }
  }
}

const journals = new AsyncLocalStorage<Journal>();

/** The journal of the invocation that this code runs for. */
export function currentJournal(): Journal {
  const journal = journals.getStore();
  if (!journal) throw new Error("No invocation is under way here");
  return journal;
}

/** Handles a request of the engine, and reads its journal on the way. */
export function withJournal(request: Http2ServerRequest, handle: () => void, made?: MadeStep): void {
  const reader = new JournalReader(made);
  const chunks = request[Symbol.asyncIterator]() as AsyncIterableIterator<Buffer>;
  const next = async (): Promise<IteratorResult<Buffer>> => {
    const result = await chunks.next();
    if (!result.done && !reader.isComplete) reader.read(result.value);
    return result;
  };
  Object.defineProperty(request, Symbol.asyncIterator, { value: () => ({ next, return: () => chunks.return?.() }) });
  journals.run(reader, handle);
}
