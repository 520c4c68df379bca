import { createHmac, randomBytes } from "node:crypto";
import type { PerchEvent } from "@perch/sdk";
import { command, type Session } from "../command.ts";
import { omitUndefined } from "../omit-undefined.ts";
import { parseWhole } from "../output/duration.ts";
import { jsonText } from "../output/safe-text.ts";
import { UsageError } from "../problem.ts";
import { eventNames } from "./webhooks.ts";

/** The headers of a real delivery, so that a receiver sees no difference. */
export function signedHeaders(secret: string, id: string, body: string, nowSeconds: number): Record<string, string> {
  const raw = Buffer.from(secret.replace(/^whsec_/, ""), "base64");
  const standard = createHmac("sha256", raw).update(`${id}.${nowSeconds}.${body}`).digest("base64");
  return {
    "content-type": "application/json",
    "x-service-signature": createHmac("sha256", secret).update(body).digest("hex"),
    "webhook-id": id,
    "webhook-timestamp": String(nowSeconds),
    "webhook-signature": `v1,${standard}`,
  };
}

async function forward(event: PerchEvent, url: string, secret: string, signal: AbortSignal): Promise<string> {
  const body = JSON.stringify(event);
  const headers = signedHeaders(secret, event.id, body, Math.floor(Date.now() / 1000));
  const limit = AbortSignal.any([signal, AbortSignal.timeout(10_000)]);
  try {
    const answer = await fetch(url, { method: "POST", headers, body, signal: limit });
    await answer.body?.cancel();
    return String(answer.status);
  } catch (error) {
    if (signal.aborted) throw error;
    return `no answer: ${error instanceof Error ? error.message : error}`;
  }
}

function targetOf(port: string | undefined, path: string, url: string | undefined): string | undefined {
  if (url !== undefined && port !== undefined)
    throw new UsageError("perch webhooks listen: either --port or --forward.");
  if (url !== undefined && !URL.canParse(url)) throw new UsageError("perch webhooks listen: --forward is an address.");
  return url ?? (port === undefined ? undefined : `http://127.0.0.1:${parseWhole("port", port)}${path}`);
}

function printEvent({ terminal, isJson, time }: Session, event: PerchEvent, answer: string | undefined): void {
  if (isJson) {
    terminal.line(jsonText({ event, ...omitUndefined({ answer }) }));
    return;
  }
  const outcome = answer === undefined ? "" : ` -> ${terminal.style(/^2/.test(answer) ? "green" : "red", answer)}`;
  terminal.line(`${time(event.created_at)} ${event.type} ${event.id}${outcome}`);
}

export const listen = command({
  name: "webhooks listen",
  summary: "Receive events on this machine: print them, or forward them to a port.",
  details:
    "For development: polls the API for events, so your machine need not be reachable. What it forwards is signed as deliveries are. Only events after the start; failed forwards are not retried.",
  options: {
    port: { type: "string", short: "p", value: "PORT", help: "Forward each event to this local port." },
    path: { type: "string", value: "PATH", help: "Path for --port. Default: /." },
    forward: { type: "string", value: "URL", help: "Forward each event to this URL instead." },
    event: {
      type: "string",
      multiple: true,
      choices: [...eventNames, "webhook.test"],
      help: "Only events of this type. Can be repeated.",
    },
    agent: { type: "string", value: "AGENT", help: "Only events of this agent." },
    secret: { type: "string", value: "WHSEC", help: "Secret for the signatures. Default: a random one." },
  },
  examples: ["perch webhooks listen --port 3000 --path /hooks"],
  run: async (session, _, { port, path = "/", forward: url, event: wanted, agent, secret: chosen }) => {
    const { perch, terminal, signal } = session;
    const target = targetOf(port, path, url);
    const secret = chosen ?? `whsec_${randomBytes(24).toString("base64")}`;
    terminal.note(target === undefined ? "Listening for events." : `Events go to ${target}, signed with ${secret}`);
    const filter = { intervalSeconds: 1, ...omitUndefined({ agent_id: agent }) };
    for await (const event of perch().events.follow(filter, { signal })) {
      if (wanted && !wanted.includes(event.type)) continue;
      printEvent(session, event, target === undefined ? undefined : await forward(event, target, secret, signal));
    }
  },
});
