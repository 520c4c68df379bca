import { AsyncLocalStorage } from "node:async_hooks";
import type { Http2ServerRequest } from "node:http2";

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
}

// The engine's service protocol: frames with a header of eight bytes, which are type, flags and length, and protobuf in them.
const headerBytes = 8;
const frameTypes = { start: 0x0000, output: 0x0401, sleep: 0x040c, run: 0x0411, sleepCompleted: 0x800c };
const fields = { startKnownEntries: 3, startRetries: 7, runName: 12, outputValue: 14, valueContent: 1 };

/** The value of a protobuf field: a number, or the bytes of a string or message. Undefined if it is missing. */
function fieldOf(message: Buffer, wanted: number): number | Buffer | undefined {
  let at = 0;
  const readVarint = (): number => {
    let value = 0;
    for (let shift = 1; ; shift *= 128) {
      const byte = message.readUInt8(at++);
      value += (byte & 127) * shift;
      if (byte < 128) return value;
    }
  };
  while (at < message.length) {
    const tag = readVarint();
    const [field, wireType] = [Math.floor(tag / 8), tag % 8];
    const start = at;
    if (wireType === 0) {
      const value = readVarint();
      if (field === wanted) return value;
    } else if (wireType === 2) {
      const length = readVarint();
      at += length;
      if (field === wanted) return message.subarray(at - length, at);
    } else if (wireType === 1 || wireType === 5) at = start + (wireType === 1 ? 8 : 4);
    else throw new Error(`The engine sent a field of the unknown wire type ${wireType}`);
  }
  return undefined;
}

const bytesOf = (message: Buffer, field: number): Buffer => {
  const value = fieldOf(message, field);
  return Buffer.isBuffer(value) ? value : Buffer.alloc(0);
};

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
  output: unknown;

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
export function withJournal(request: Http2ServerRequest, handle: () => void): void {
  const reader = new JournalReader();
  const chunks = request[Symbol.asyncIterator]() as AsyncIterableIterator<Buffer>;
  const next = async (): Promise<IteratorResult<Buffer>> => {
    const result = await chunks.next();
    if (!result.done && !reader.isComplete) reader.read(result.value);
    return result;
  };
  Object.defineProperty(request, Symbol.asyncIterator, { value: () => ({ next, return: () => chunks.return?.() }) });
  journals.run(reader, handle);
}
