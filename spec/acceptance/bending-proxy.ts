import { once } from "node:events";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { sendRequest } from "../walk/http-client.ts";

interface Reply {
  status: number;
  headers: IncomingHttpHeaders;
  // biome-ignore lint/suspicious/noExplicitAny: a bend changes whatever the answer is.
  body: any;
}

type Bend = (reply: Reply, route: string) => void;

export interface BendingProxy {
  readonly url: string;
  /** Changes every answer from now on; undefined leaves them unchanged. */
  readonly use: (bend: Bend | undefined) => void;
  /** Each is one small deviation, with the statement that must notice it. */
  readonly bends: readonly { readonly breaks: string; readonly bend: Bend }[];
  readonly close: () => Promise<void>;
}

const isAgent = (route: string): boolean => /^GET \/v1\/agents\/[^/]+$/.test(route);
const isList = (route: string): boolean => route.startsWith("GET /v1/agents?") || route === "GET /v1/agents";

const bends: BendingProxy["bends"] = [
  {
    breaks: "agent.created-at",
    bend: ({ body }, route) => {
      if (isAgent(route)) body.data.created_at = String(body.data.created_at).replace("Z", "+00:00");
    },
  },
  {
    breaks: "agent.list-item",
    bend: ({ body }, route) => {
      if (isList(route)) for (const item of body.data) item.colour = "red";
    },
  },
  {
    breaks: "pagination.has-more",
    bend: ({ body }, route) => {
      if (isList(route)) body.pagination.has_more = String(body.pagination.has_more);
    },
  },
  {
    breaks: "invocation.tokens-used",
    bend: ({ body }, route) => {
      if (route.endsWith("/invoke")) body.data.tokens_used += 0.5;
    },
  },
  {
    breaks: "invoke.response",
    bend: (reply, route) => {
      if (route.endsWith("/invoke")) reply.status = 202;
    },
  },
  {
    breaks: "code.not-found",
    bend: ({ body }) => {
      if (body.error?.code === "not_found") body.error.code = "missing";
    },
  },
  {
    breaks: "auth.missing",
    bend: (reply) => {
      if (reply.status === 401) reply.status = 403;
    },
  },
  {
    breaks: "list.limit-default",
    bend: ({ body }, route) => {
      if (isList(route)) body.data.pop();
    },
  },
  {
    breaks: "limits.header-reset",
    bend: ({ headers }) => {
      headers["x-ratelimit-reset"] = new Date().toISOString();
    },
  },
];

/** Forwards requests to a server, and changes the JSON of its answers. */
export async function startBendingProxy(target: string): Promise<BendingProxy> {
  let bend: Bend | undefined;
  const server = createServer((request, response) => {
    void (async () => {
      const { host: _, "content-length": __, connection: ___, ...headers } = request.headers;
      const sent = (await buffer(request)).toString("utf8");
      const answer = await sendRequest(request.method ?? "", target + request.url, {
        headers: headers as Record<string, string>,
        ...(sent !== "" && { rawBody: sent }),
      });
      const reply: Reply = { status: answer.status, headers: { ...answer.headers }, body: answer.body };
      bend?.(reply, `${request.method} ${request.url}`);
      delete reply.headers["content-length"];
      delete reply.headers["transfer-encoding"];
      response.writeHead(reply.status, reply.headers).end(JSON.stringify(reply.body));
    })().catch(() => response.destroy());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    use: (next) => {
      bend = next;
    },
    bends,
    close: async () => {
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
