import { once } from "node:events";
import { createServer } from "node:http";
import { json } from "node:stream/consumers";

/** A call of `perch/script`, as its server sees it. */
export interface ModelCall {
  readonly request_id: string;
  readonly step: number;
  readonly messages: readonly { readonly role: string; readonly content: string }[];
}

export interface ScriptServer {
  readonly url: string;
  /** Every call, in the order they came. */
  readonly calls: readonly ModelCall[];
  readonly close: () => Promise<void>;
}

/** The last user message, by which tests distinguish their runs. */
export const lastUserMessage = ({ messages }: ModelCall): string =>
  messages.findLast(({ role }) => role === "user")?.content ?? "";

/** Starts the server behind `perch/script`: records every model call and answers it with `answer`. */
export async function startScriptServer(answer: (call: ModelCall) => object | Promise<object>): Promise<ScriptServer> {
  const calls: ModelCall[] = [];
  const server = createServer((request, response) => {
    void json(request).then(async (body) => {
      const call = body as ModelCall;
      calls.push(call);
      response.setHeader("content-type", "application/json").end(JSON.stringify(await answer(call)));
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  return {
    url: `http://127.0.0.1:${typeof address === "object" && address ? address.port : 0}`,
    calls,
    close: async () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
