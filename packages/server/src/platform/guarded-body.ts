import { ReadableStream, type ReadableStreamDefaultReader } from "node:stream/web";

export class ResponseTooLargeError extends Error {
  override readonly name = "ResponseTooLargeError";

  constructor(maxBytes: number, options?: ErrorOptions) {
    super(`The response is larger than the limit of ${maxBytes} bytes.`, options);
  }
}

interface BodyLimits {
  readonly maxBytes: number;
  /** Called once, when nothing more will be read. */
  readonly onEnd: () => void;
  readonly toError: (error: unknown) => unknown;
}

/** Passes a decoded body through, chunk by chunk. It fails past the limit; cancelling it closes the connection. */
export function limitedBody(source: ReadableStream<Uint8Array>, limits: BodyLimits): ReadableStream<Uint8Array> {
  // Locked at the first read: undici closes the connection of an unread response only while its body is unlocked.
  let reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
  let received = 0;
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        reader ??= source.getReader();
        const { done, value } = await reader.read().catch((error: unknown) => {
          limits.onEnd();
          throw limits.toError(error);
        });
        if (done) {
          limits.onEnd();
          controller.close();
          return;
        }
        received += value.byteLength;
        if (received > limits.maxBytes) {
          const error = new ResponseTooLargeError(limits.maxBytes);
          limits.onEnd();
          await reader.cancel(error);
          throw error;
        }
        controller.enqueue(value);
      },
      cancel(reason) {
        limits.onEnd();
        return (reader ?? source).cancel(reason);
      },
    },
    // Nothing is read ahead, so a slow reader slows the sender down.
    { highWaterMark: 0 },
  );
}
