import { causesOf } from "../outbound-errors.ts";
import { noRedaction, type Redactor } from "./redactor.ts";

/** The body without the values, byte by byte: they are ASCII, whatever the rest is. */
function redactBody(source: ReadableStream<Uint8Array>, redactor: Redactor): ReadableStream<Uint8Array> {
  let reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
  const { write, end } = redactor.byteStream();
  const toBytes = (text: string) => new Uint8Array(Buffer.from(text, "latin1"));
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        reader ??= source.getReader();
        for (;;) {
          const { done, value } = await reader.read();
          const text = done ? end() : write(Buffer.from(value).toString("latin1"));
          if (text !== "") controller.enqueue(toBytes(text));
          if (done) controller.close();
          if (done || text !== "") return;
        }
      },
      cancel: (reason) => (reader ?? source).cancel(reason),
    },
    { highWaterMark: 0 },
  );
}

/** The server needs it back as it is. Nothing shows it. */
const sessionHeader = "mcp-session-id";

/** The same fetch, whose answers do not contain the values that the request carried. */
export function redactResponses(fetch: typeof globalThis.fetch, redactor: Redactor): typeof globalThis.fetch {
  if (redactor === noRedaction) return fetch;
  return async (input, init) => {
    const response = await fetch(input, init);
    const headers = [...response.headers].map(([name, value]): [string, string] => [
      name,
      name === sessionHeader ? value : redactor.text(value),
    ]);
    const { status, body } = response;
    const statusText = redactor.text(response.statusText);
    const redacted = new Response(body && redactBody(body, redactor), { status, statusText, headers });
    return Object.defineProperty(redacted, "url", { value: redactor.text(response.url) });
  };
}

/** An error and its causes as far as logs show them, without the values. */
export function redactError(error: unknown, redactor: Redactor): unknown {
  if (redactor === noRedaction) return error;
  return [...causesOf(error)].reduceRight<Error | undefined>((cause, { name, message, code }) => {
    const copy = new Error(redactor.text(message), { cause });
    return Object.assign(copy, { name }, typeof code === "string" && { code });
  }, undefined);
}
