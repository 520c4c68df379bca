import { once } from "node:events";
import { connect } from "node:net";

const empty: Buffer = Buffer.alloc(0);

/** Finds the end of each response, with a length or in chunks, and drops its bytes: parsing more would cost the load's CPU. */
export function createResponseReader(onEnd: (status: number) => void): (bytes: Buffer) => void {
  let incomplete = empty;
  let inBody = false;
  let isChunked = false;
  let isLastPart = false;
  let bytesToSkip = 0;
  let status = 0;

  const startBody = (head: string): void => {
    status = Number(head.slice(9, 12));
    isChunked = /\r\ntransfer-encoding: *chunked/i.test(head);
    isLastPart = !isChunked;
    bytesToSkip = isChunked ? 0 : Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1] ?? 0);
    inBody = true;
  };
  const startChunk = (line: string): void => {
    const size = Number.parseInt(line, 16);
    isLastPart = size === 0;
    bytesToSkip = size + 2;
  };

  return (bytes) => {
    let rest = incomplete.length > 0 ? Buffer.concat([incomplete, bytes]) : bytes;
    incomplete = empty;
    for (;;) {
      const skipped = Math.min(bytesToSkip, rest.length);
      bytesToSkip -= skipped;
      rest = rest.subarray(skipped);
      if (bytesToSkip > 0) return;
      if (inBody && isLastPart) {
        inBody = false;
        onEnd(status);
      }
      if (rest.length === 0) return;
      const separator = inBody ? "\r\n" : "\r\n\r\n";
      const end = rest.indexOf(separator);
      if (end < 0) {
        incomplete = rest;
        return;
      }
      const text = rest.toString("latin1", 0, end);
      rest = rest.subarray(end + separator.length);
      if (inBody) startChunk(text);
      else startBody(text);
    }
  };
}

export interface HttpConnection {
  /**
   * Sends a whole request and resolves with the status once the response has been read to its end. Requests do not
   * overlap.
   */
  readonly send: (request: string) => Promise<number>;
  readonly close: () => void;
}

/** One keep-alive connection without a client library, which would cost more CPU than the server under load can spare. */
export async function openHttpConnection({ hostname, port }: URL): Promise<HttpConnection> {
  const socket = connect(Number(port), hostname).setNoDelay(true);
  let waiting: PromiseWithResolvers<number> | undefined;
  const closed = new Error(`${hostname}:${port} closed the connection`);
  socket.on(
    "data",
    createResponseReader((status) => waiting?.resolve(status)),
  );
  socket.on("error", (error) => waiting?.reject(error));
  socket.on("close", () => waiting?.reject(closed));
  await once(socket, "connect");
  return {
    send: (request) => {
      if (socket.destroyed) return Promise.reject(closed);
      waiting = Promise.withResolvers<number>();
      socket.write(request);
      return waiting.promise;
    },
    close: () => socket.destroy(),
  };
}
