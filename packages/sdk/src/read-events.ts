/** A server-sent event. */
export interface SentEvent {
  /** Undefined if this very event had none. */
  readonly id: string | undefined;
  readonly event: string;
  readonly data: string;
}

interface Block {
  id: string | undefined;
  event: string;
  readonly data: string[];
}

const emptyBlock = (): Block => ({ id: undefined, event: "message", data: [] });

function addLine(block: Block, line: string): void {
  const colon = line.indexOf(":");
  const field = colon < 0 ? line : line.slice(0, colon);
  const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
  if (field === "data") block.data.push(value);
  else if (field === "event") block.event = value || "message";
  else if (field === "id" && !value.includes("\0")) block.id = value;
}

/**
 * Parses events from chunks of text. Written by hand, since the client has no dependencies; a test compares it with `eventsource-parser`. A block
 * that is incomplete when the text ends is dropped.
 */
export function createEventParser(onEvent: (event: SentEvent) => void, onComment: (comment: string) => void) {
  let rest = "";
  let block = emptyBlock();
  const onLine = (line: string): void => {
    if (line === "") {
      if (block.data.length > 0) onEvent({ id: block.id, event: block.event, data: block.data.join("\n") });
      block = emptyBlock();
    } else if (line.startsWith(":")) onComment(line.slice(1).trim());
    else addLine(block, line);
  };
  return (text: string): void => {
    // A CR at the end of the chunk may be the first half of a CRLF.
    const lines = (rest + text).split(/\r\n|\n|\r(?!$)/);
    rest = lines.pop() ?? "";
    for (const line of lines) onLine(line);
  };
}

/** The events of a body as they arrive. `onBytes` is called for all data, `onComment` for heartbeats and other comments. */
export async function* readEvents(
  body: ReadableStream<Uint8Array>,
  { onBytes, onComment }: { readonly onBytes: () => void; readonly onComment: (comment: string) => void },
): AsyncGenerator<SentEvent, void> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  const ready: SentEvent[] = [];
  const parse = createEventParser((event) => ready.push(event), onComment);
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      onBytes();
      parse(decoder.decode(value, { stream: true }));
      yield* ready.splice(0);
    }
  } finally {
    // Leaving the loop closes the connection.
    reader.cancel().catch(() => undefined);
  }
}
