import { Agent, request as startRequest } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { type Attack, type AttackRequest, attacks } from "./neighbour-attacks.ts";
import { startBadServers } from "./neighbour-servers.ts";

/**
 * The process of the bad neighbours, with their servers and their clients. It is separate, so that it takes no time
 * from the clients that measure.
 */

export interface AttackOrder {
  readonly apiUrls: readonly string[];
  readonly tokens: Readonly<Record<"free" | "pro", string>>;
  readonly names: readonly string[];
  readonly seconds: number;
}

/** How many requests of an attack got which status. `open`: not answered at the end; `failed`: the connection broke. */
export type AttackReport = Record<string, Record<string, number>>;

export type AttackerMessage =
  | { readonly servers: { readonly url: string; readonly hookUrls: readonly string[] } }
  | { readonly report: AttackReport };

const agent = new Agent({ keepAlive: true });
const send = (message: AttackerMessage) => process.send?.(message);

function sendRequest(apiUrl: string, token: string, asked: AttackRequest, onStatus: (status: string) => void): void {
  const { method = "GET", path, headers, body } = asked;
  const text = typeof body === "object" ? JSON.stringify(body) : body;
  const outgoing = startRequest(`${apiUrl}${path.startsWith("/") ? "" : "/v1/agents/"}${path}`, {
    agent,
    method,
    headers: {
      authorization: `Bearer ${token}`,
      ...(text && { "content-type": "application/json", "content-length": Buffer.byteLength(text) }),
      ...headers,
    },
  });
  outgoing.on("response", (response) => {
    onStatus(String(response.statusCode));
    response.on("error", () => undefined);
    response.resume();
  });
  outgoing.on("error", () => onStatus("failed"));
  outgoing.end(text);
}

async function run({ apiUrls, tokens, names, seconds }: AttackOrder): Promise<AttackReport> {
  const report: AttackReport = {};
  const endMs = performance.now() + seconds * 1000;

  const attack = async (name: string, { request, ...paces }: Attack, tenant: "free" | "pro"): Promise<void> => {
    const [count, everySeconds, max = Number.POSITIVE_INFINITY] = paces[tenant];
    const startedMs = performance.now();
    const statuses = report[name] ?? {};
    report[name] = statuses;
    const add = (status: string, by: number) => {
      statuses[status] = (statuses[status] ?? 0) + by;
    };
    for (let n = 0; performance.now() < endMs && n < max; ) {
      for (let i = 0; i < count; i++, n++) {
        const asked = request(n);
        add("open", 1);
        let isOpen = true;
        const onStatus = (status: string) => {
          if (!isOpen || performance.now() >= endMs) return;
          isOpen = false;
          add("open", -1);
          add(status, 1);
        };
        sendRequest(apiUrls[(asked.node ?? n) % apiUrls.length] ?? "", tokens[tenant], asked, onStatus);
      }
      const nextMs = Math.min(startedMs + (n / count) * everySeconds * 1000, endMs);
      await sleep(Math.max(0, nextMs - performance.now()));
    }
  };

  const chosen = names.flatMap((name) => {
    const found = attacks[name];
    return found ? [attack(name, found, "free"), attack(name, found, "pro")] : [];
  });
  await Promise.all(chosen);
  await sleep(Math.max(0, endMs - performance.now()));
  return report;
}

const { url, hookUrls, close } = await startBadServers();
process.on("message", (order: AttackOrder) => {
  run(order)
    .then((report) => send({ report }))
    .catch((error: unknown) => {
      console.error(error);
      process.exit(1);
    });
});
process.on("disconnect", () => {
  close();
  process.exit(0);
});
send({ servers: { url, hookUrls } });
