import type { Http2ServerRequest, Http2ServerResponse } from "node:http2";
import { version } from "../platform/version.ts";
import type { IsSigned } from "./engine-signature.ts";
import { type MadeStep, withJournal } from "./journal.ts";
import { bytesOf, fieldOf, fields, frameTypes, headerBytes, outputAndEnd } from "./protocol.ts";

/** How a run of one step went. `output`: it is over and recorded, and nothing follows. `made`: the SDK goes on from this step. */
export type OneStepResult = { readonly output: unknown } | { readonly made: MadeStep };

/** Runs the message's run if it may be one step. Undefined: it is not, and nothing was done. */
export type RunOneStep = (message: unknown) => Promise<OneStepResult | undefined>;

type Handle = (request: Http2ServerRequest, response: Http2ServerResponse) => void;

interface OneStepOptions {
  readonly runOneStep: RunOneStep;
  readonly isSigned: IsSigned;
  /** The engine's SDK. */
  readonly handle: Handle;
}

/** The version of the protocol that this code knows. Every other is left to the SDK. */
const contentType = "application/vnd.restate.invocation.v6";
/** More than a start and the largest message of a run have. */
const maxFrameBytes = 16 * 1024 * 1024;

/** Either the input, or how many bytes are needed to go on. */
type Beginning = { readonly input: Buffer } | { readonly needsBytes: number };

/** Reads start and input. Undefined: not the first attempt of a run with nothing but its input. */
function readBeginning(bytes: Buffer): Beginning | undefined {
  if (bytes.length < headerBytes) return { needsBytes: headerBytes };
  const startEnd = headerBytes + bytes.readUInt32BE(4);
  if (bytes.readUInt16BE(0) !== frameTypes.start || startEnd > maxFrameBytes) return undefined;
  const inputAt = startEnd + headerBytes;
  if (bytes.length < inputAt) return { needsBytes: inputAt };
  const start = bytes.subarray(headerBytes, startEnd);
  const isFirst = fieldOf(start, fields.startKnownEntries) === 1 && (fieldOf(start, fields.startRetries) ?? 0) === 0;
  const inputEnd = inputAt + bytes.readUInt32BE(startEnd + 4);
  if (!isFirst || bytes.readUInt16BE(startEnd) !== frameTypes.input || inputEnd > maxFrameBytes) return undefined;
  if (bytes.length < inputEnd) return { needsBytes: inputEnd };
  const value = bytesOf(bytes.subarray(inputAt, inputEnd), fields.inputValue);
  return { input: bytesOf(value, fields.valueContent) };
}

/** What was read already, and then the rest. */
async function* replay(chunks: readonly Buffer[], rest: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  yield* chunks;
  yield* rest;
}

/**
 * Answers runs of one step without the SDK: most runs are one, and the SDK's state machine, loggers and streams are half of what
 * they cost. The order stays: the record is committed, then the engine gets the output, then the end. Whatever is not exactly such
 * a run goes to the SDK, with the bytes that were read and the step that was made.
 */
export function createOneStepHandler({ runOneStep, isSigned, handle }: OneStepOptions): Handle {
  return (request, response) => {
    const { stream } = request;
    if (request.headers["content-type"] !== contentType || !isSigned(request.url, request.headers))
      return withJournal(request, () => handle(request, response));

    const chunks: Buffer[] = [];
    let length = 0;
    let needsBytes = headerBytes;
    let isBegun = false;

    const handOver = (made?: MadeStep): void => {
      // The engine gave up this attempt, and will make another.
      if (stream.destroyed) return;
      stream.off("data", onData).off("end", handOver).pause();
      Object.defineProperty(request, Symbol.asyncIterator, {
        value: () => replay(chunks, stream),
        configurable: true,
      });
      withJournal(request, () => handle(request, response), made);
    };

    const begin = async (input: Buffer): Promise<void> => {
      isBegun = true;
      // The engine says nothing more before it has an answer.
      stream.off("end", handOver).pause();
      const message: unknown = JSON.parse(input.toString("utf8"));
      response.writeHead(200, { "content-type": contentType, "x-restate-server": `perch/${version}` });
      // The SDK would send it again.
      response.writeHead = () => response;
      const result = await runOneStep(message);
      if (!result || "made" in result) return handOver(result?.made);
      if (stream.destroyed) return;
      stream.end(outputAndEnd(result.output));
      stream.off("data", onData).resume();
    };

    const onData = (chunk: Buffer): void => {
      chunks.push(chunk);
      length += chunk.length;
      if (isBegun || length < needsBytes) return;
      try {
        const beginning = readBeginning(Buffer.concat(chunks));
        if (!beginning) handOver();
        else if ("needsBytes" in beginning) needsBytes = beginning.needsBytes;
        else begin(beginning.input).catch(() => handOver());
      } catch {
        handOver();
      }
    };

    // Cut off before its input was complete: the SDK says so.
    stream.on("data", onData).on("end", handOver);
  };
}
