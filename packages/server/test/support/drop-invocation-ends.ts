import type { Filter } from "@perch/testkit/installation/withholding-proxy.ts";

const frameHeaderBytes = 9;
const dataFrame = 0;
const endStreamFlag = 1;
/** The last message of an invocation in the engine's protocol, which follows its output. */
const endMessage = Buffer.from([0, 3, 0, 0, 0, 0, 0, 0]);

/**
 * Filters the messages of a worker to the engine, over HTTP/2: while `isDropping`, an invocation's output arrives, but
 * not its end. The engine stores the two one after the other, so it may have only the first when the worker or the
 * engine's node is lost.
 */
export function dropInvocationEnds(isDropping: () => boolean): Filter {
  let unread: Buffer = Buffer.alloc(0);
  const droppedStreams = new Set<number>();

  const filterFrame = (frame: Buffer): Buffer => {
    const stream = frame.readUInt32BE(5);
    if (droppedStreams.has(stream)) return Buffer.alloc(0);
    const isEnd =
      frame[3] === dataFrame && frame.subarray(frameHeaderBytes).subarray(-endMessage.length).equals(endMessage);
    if (!isEnd || !isDropping()) return frame;
    droppedStreams.add(stream);
    const kept = Buffer.from(frame.subarray(0, -endMessage.length));
    kept.writeUIntBE(kept.length - frameHeaderBytes, 0, 3);
    kept.writeUInt8(kept.readUInt8(4) & ~endStreamFlag, 4);
    return kept;
  };

  return (bytes) => {
    unread = Buffer.concat([unread, bytes]);
    const frames: Buffer[] = [];
    for (;;) {
      const length =
        unread.length < frameHeaderBytes ? Number.POSITIVE_INFINITY : frameHeaderBytes + unread.readUIntBE(0, 3);
      if (unread.length < length) return Buffer.concat(frames);
      frames.push(filterFrame(unread.subarray(0, length)));
      unread = unread.subarray(length);
    }
  };
}
