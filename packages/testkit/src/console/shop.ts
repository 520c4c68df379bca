import { setTimeout as sleep } from "node:timers/promises";
import { modelServerKey } from "../servers/models/model-server.ts";
import { lastUserMessage, startOpenAiServer } from "../servers/models/openai-server.ts";
import { startToolServer } from "../servers/tool-server.ts";

/** The services that the story's agents call: a model with OpenAI's protocol, the shop's tools, and the receivers of webhooks. */
export interface ShopAddresses {
  readonly modelUrl: string;
  readonly modelKey: string;
  readonly toolUrl: string;
  /** Receives webhooks: `/warehouse` accepts them, `/crm` fails, `/mailer` asks for a retry in an hour, `/old-shop` is gone. */
  readonly hookUrl: string;
}

export interface Shop extends ShopAddresses {
  readonly close: () => Promise<void>;
}

interface Message {
  readonly role: string;
  readonly content: unknown;
}

const answers: readonly (readonly [RegExp, string])[] = [
  [
    /order/i,
    "Order 4217 left our warehouse in Ghent on Tuesday and is with the carrier now. It should reach you on Thursday " +
      "before noon. You can follow it with the tracking number BE-99-4217-01.",
  ],
  [/jasmine|stock/i, "Yes, there are 12 packets of jasmine tea left. I cannot see the price at the moment."],
  [
    /return|refund/i,
    "You can send it back within 30 days, unopened. I have prepared a label; print it and hand the parcel in at any " +
      "post office. The refund arrives three to five days after we have it.",
  ],
  [
    /address/i,
    "I have changed the delivery address to 14 Canal Street, 9000 Ghent. The parcel that is under way still goes to " +
      "the old one.",
  ],
  [
    /compare|difference/i,
    "Sencha is steamed, so it tastes fresh and a little of grass. Gunpowder is pan-fired and rolled: rounder, with " +
      "some smoke.\n\n1. Sencha: 70 °C, one minute.\n2. Gunpowder: 80 °C, two minutes.",
  ],
  [/thank/i, "You are welcome. Write again whenever something is unclear."],
];
const defaultAnswer =
  "I can help with orders, stock, returns and brewing. Tell me the number of your order, or what you would like to drink.";

const toolCallsFor = (message: string) => {
  if (/order/i.test(message)) return [{ name: "lookup_order", arguments: { order: 4217 } }];
  if (/jasmine|stock/i.test(message))
    return [
      { name: "stock", arguments: { sku: "tea-jasmine-100" } },
      { name: "price", arguments: { sku: "tea-jasmine-100" } },
    ];
  return [];
};

const startModel = () =>
  startOpenAiServer((call) => {
    const messages = (call.body.messages ?? []) as readonly Message[];
    const asked = lastUserMessage(call);
    const hasTools = ((call.body.tools ?? []) as readonly unknown[]).length > 0;
    const toolCalls = messages.at(-1)?.role === "tool" || !hasTools ? [] : toolCallsFor(asked);
    const text = answers.find(([pattern]) => pattern.test(asked))?.[1] ?? defaultAnswer;
    const usage = { input: 180 + 40 * messages.length, output: Math.round(text.length / 4) };
    return toolCalls.length > 0 ? { toolCalls, usage } : { text, tokenDelayMs: 8, usage };
  });

/** `/stock` is busy at the first attempt of each call, and `/price` does not exist. */
const startTools = () => {
  const seen = new Set<string>();
  return startToolServer(async ({ path, headers }) => {
    await sleep(120);
    if (path === "/orders")
      return {
        body: { order: 4217, status: "shipped", carrier: "BPost", tracking: "BE-99-4217-01", expected: "Thursday" },
      };
    if (path !== "/stock") return { status: 404, body: "There is no price list." };
    const key = String(headers["idempotency-key"]);
    if (seen.has(key)) return { body: { sku: "tea-jasmine-100", packets: 12 } };
    seen.add(key);
    return { status: 503, body: "Busy." };
  });
};

const startHooks = () =>
  startToolServer(({ path }) => {
    if (path === "/crm") return { status: 500, body: "Cannot connect to the database crm-2." };
    if (path === "/mailer") return { status: 503, headers: { "retry-after": "3600" }, body: "Closed for maintenance." };
    if (path === "/old-shop") return { status: 410, body: "This shop has moved." };
    return { body: { received: true } };
  });

export async function openShop(): Promise<Shop> {
  const [model, tools, hooks] = await Promise.all([startModel(), startTools(), startHooks()]);
  return {
    modelUrl: model.url,
    modelKey: modelServerKey,
    toolUrl: tools.url,
    hookUrl: hooks.url,
    close: async () => void (await Promise.all([model.close(), tools.close(), hooks.close()])),
  };
}
