import { ResponseTooLargeError } from "./guarded-client.ts";

const [quote, backslash, comma, brace, bracket, lineFeed, carriageReturn] = ['"', "\\", ",", "{", "[", "\n", "\r"].map(
  (each) => each.charCodeAt(0),
);

/** To parse and check so many takes some 15 ms of the event loop, and nothing that a model or tool says needs them. */
const maxAnsweredValues = 50_000;

/**
 * Counts the values of JSON that arrives in pieces: in one event of an event stream, otherwise in all of it. A text ends
 * with its line, as it does in JSON.
 */
function createValueCounter(isEventStream: boolean): (chunk: Uint8Array) => number {
  let values = 0;
  let isText = false;
  let isEscaped = false;
  let isLineEmpty = true;
  const endLine = (code: number): void => {
    isText = false;
    isEscaped = false;
    if (code !== lineFeed) return;
    // An empty line ends an event.
    if (isEventStream && isLineEmpty) values = 0;
    isLineEmpty = true;
  };
  return (chunk) => {
    let most = 0;
    for (const code of chunk) {
      if (code === lineFeed || code === carriageReturn) {
        endLine(code);
        continue;
      }
      isLineEmpty = false;
      if (isEscaped) isEscaped = false;
      else if (isText && code === backslash) isEscaped = true;
      else if (code === quote) isText = !isText;
      else if (!isText && (code === comma || code === brace || code === bracket)) most = Math.max(most, ++values);
    }
    return most;
  };
}

/** The same response, whose body fails where it has more values than this: they cost more to parse than to receive. */
export function limitValues(response: Response, maxValues = maxAnsweredValues): Response {
  if (!response.body) return response;
  const count = createValueCounter(response.headers.get("content-type")?.includes("text/event-stream") ?? false);
  const counted = new TransformStream<Uint8Array, Uint8Array>({
    transform: (chunk, controller) => {
      if (count(chunk) > maxValues) controller.error(new ResponseTooLargeError(maxValues, { unit: "values of JSON" }));
      else controller.enqueue(chunk);
    },
  });
  const { status, statusText, headers } = response;
  const limited = new Response(response.body.pipeThrough(counted), { status, statusText, headers });
  return Object.defineProperty(limited, "url", { value: response.url });
}
