import { causesOf } from "../outbound-errors.ts";
import { noRedaction, type Redactor } from "./redactor.ts";

/** The body without the values, byte by byte: they are ASCII, whatever the rest is. */
function redactBody(source: ReadableStream<Uint8Array>, redactor: Redactor): ReadableStream<Uint8Array> {
  let reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
  const { write, end, close } = redactor.byteStream();
  const toBytes = (text: string) => new Uint8Array(Buffer.from(text, "latin1"));
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        reader ??= source.getReader();
        for (;;) {
          const { done, value } = await reader.read().catch((error: unknown) => {
            close();
            throw error;
          });
          const text = await (done ? end() : write(Buffer.from(value).toString("latin1"))).catch((error: unknown) => {
            // The rest is not wanted.
            void reader?.cancel(error).catch(() => undefined);
            throw error;
          });
          if (text !== "") controller.enqueue(toBytes(text));
          if (done) controller.close();
          if (done || text !== "") return;
        }
      },
      cancel: (reason) => {
        close();
        return (reader ?? source).cancel(reason);
      },
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
    const { status, body } = response;
    const head = {
      statusText: response.statusText,
      url: response.url,
      headers: [...response.headers].map(([name, value]) => (name === sessionHeader ? "" : value)),
    };
    const searched = (await redactor.json(head)) as typeof head;
    const headers = [...response.headers].map(([name, value], at): [string, string] => [
      name,
      name === sessionHeader ? value : (searched.headers[at] ?? ""),
    ]);
    const { statusText } = searched;
    const redacted = new Response(body && redactBody(body, redactor), { status, statusText, headers });
    return Object.defineProperty(redacted, "url", { value: searched.url });
  };
}

/** An error and its causes as far as logs show them, without the values. */
export async function redactError(error: unknown, redactor: Redactor): Promise<unknown> {
  if (redactor === noRedaction) return error;
  let copied: Error | undefined;
  for (const { name, message, code } of [...causesOf(error)].toReversed())
    copied = Object.assign(
      new Error(await redactor.text(message), { cause: copied }),
      { name },
      typeof code === "string" && { code },
    );
  return copied;
}
