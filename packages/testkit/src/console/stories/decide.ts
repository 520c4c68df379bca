import { ActionRequiredError, Perch } from "../../../../sdk/src/index.ts";
import { generateTotpCode } from "../../identity/one-time-code.ts";
import type { Pages, Told } from "./told.ts";

const script = (...steps: object[]): string => JSON.stringify({ steps });

/** Starts a run that must wait for a person, and returns the approval that it waits for. */
export async function askFor(perch: Perch, agent: string, message: string, user_id?: string): Promise<string> {
  try {
    await perch.agents.invoke(agent, { message, context: { user_id } });
  } catch (error) {
    if (error instanceof ActionRequiredError && error.approvalIds[0]) return error.approvalIds[0];
    throw error;
  }
  throw new Error(`The run of ${agent} did not wait for a person`);
}

const refund = {
  order: "4217",
  amount: 250,
  currency: "EUR",
  reason: "damaged",
  note: "The teapot arrived broken; the photos show it.",
  notify_customer: true,
};

const refundParameters = {
  type: "object" as const,
  properties: {
    order: { type: "string", description: "Number of the order.", pattern: "^[0-9]+$" },
    amount: { type: "number", description: "How much is paid back.", minimum: 0.01, maximum: 1000 },
    currency: { type: "string", enum: ["EUR", "GBP", "USD"] },
    reason: { type: "string", enum: ["damaged", "late", "returned", "goodwill"] },
    note: { type: "string", description: "What the customer reads.", maxLength: 500 },
    notify_customer: { type: "boolean" },
  },
  required: ["order", "amount", "currency", "reason"],
};

/** Refunds money after it has looked up the order. Above 100, a person decides. */
export const createRefunds = (perch: Perch, toolUrl: string) =>
  perch.agents.create({
    name: "refunds",
    model: "perch/script",
    logs: "full",
    instructions: script(
      { reply: "I look the order up first.", tool_calls: [{ name: "lookup_order", arguments: { order: "4217" } }] },
      {
        reply: "The order was delivered, and the photos show a broken teapot. I will pay the price of it back.",
        tool_calls: [{ name: "refund_order", arguments: refund }],
      },
      { reply: "I have taken care of it." },
    ),
    tools: [
      {
        ...{ type: "http", name: "lookup_order", description: "State of an order.", method: "POST" },
        url: `${toolUrl}/orders`,
        parameters: { type: "object", properties: { order: { type: "string" } }, required: ["order"] },
      },
      {
        ...{ type: "http", name: "refund_order", description: "Pays money back.", method: "POST" },
        url: `${toolUrl}/orders`,
        parameters: refundParameters,
        approval: { when: [{ argument: "amount", op: "gt", value: 100 }] },
      },
    ],
  });

/** Asks a colleague how a present is wrapped. */
export const createGifts = (perch: Perch) =>
  perch.agents.create({
    name: "gifts",
    model: "perch/script",
    instructions: script(
      {
        reply: "A present. I ask the shop how to wrap it.",
        tool_calls: [
          { name: "ask_shop", arguments: { question: "How is the present for Ada wrapped, and when does it leave?" } },
        ],
      },
      { reply: "It is wrapped." },
    ),
    tools: [
      {
        type: "ask_person",
        name: "ask_shop",
        description: "Asks a colleague in the shop about a present.",
        answer: {
          type: "object",
          properties: {
            ribbon: { type: "string", enum: ["red", "blue", "none"], description: "Colour of the ribbon." },
            leaves_on: { type: "string", format: "date", description: "When the parcel leaves." },
            boxes: { type: "integer", minimum: 1, maximum: 5 },
            card: { type: "boolean", description: "Whether a card goes with it." },
            words: { type: "array", items: { type: "string" }, maxItems: 3, description: "What the card says." },
          },
          required: ["ribbon", "leaves_on"],
        },
      },
    ],
  });

/** Writes to all customers: two must approve, with a second factor. */
const createMailing = (perch: Perch, toolUrl: string) =>
  perch.agents.create({
    name: "mailing",
    model: "perch/script",
    instructions: script(
      {
        reply: "The mail is ready.",
        tool_calls: [
          {
            name: "send_mail",
            arguments: {
              to: ["all-customers@ghent-tea.example"],
              subject: "First flush is here",
              body: "Come and try.",
            },
          },
        ],
      },
      { reply: "Sent." },
    ),
    tools: [
      {
        ...{ type: "http", name: "send_mail", description: "Sends a mail.", method: "POST" },
        url: `${toolUrl}/orders`,
        parameters: {
          type: "object",
          properties: {
            to: { type: "array", items: { type: "string", format: "email" }, minItems: 1 },
            subject: { type: "string", minLength: 1 },
            body: { type: "string" },
          },
          required: ["to", "subject", "body"],
        },
        approval: { approvers: 2, second_factor: true, expires_after_seconds: 3600 },
      },
    ],
  });

/** A key that may read everything, and decide. No role has the permission `approve`. */
export async function createApprover(
  perch: Perch,
  baseUrl: string,
  name = "till",
): Promise<Perch & { readonly apiKey: string }> {
  const { key } = await perch.keys.create({ name, permissions: ["read", "write", "delete", "manage", "approve"] });
  return Object.assign(new Perch({ baseUrl, apiKey: key }), { apiKey: key });
}

/** A key that starts runs. The one that makes the approvers' keys leaves them nothing to decide. */
export async function createApp(perch: Perch, baseUrl: string): Promise<Perch> {
  const { key } = await perch.keys.create({ name: "shop", permissions: ["invoke"] });
  return new Perch({ baseUrl, apiKey: key });
}

export async function tellDecide({ perch, server, shop }: Told): Promise<Pages> {
  const approver = await createApprover(perch, server.url);
  const app = await createApp(perch, server.url);
  await Promise.all([createRefunds(perch, shop.toolUrl), createGifts(perch), createMailing(perch, shop.toolUrl)]);
  const broken = "Order 4217 arrived broken. I would like my money back.";
  const approved = await askFor(app, "refunds", broken, "customer-1007");
  const { digest } = await approver.approvals.get(approved);
  await approver.approvals.approve(approved, { digest, arguments: { ...refund, amount: 180 } });
  const rejected = await askFor(app, "refunds", "Pay order 4217 back, please.", "customer-1019");
  await approver.approvals.reject(rejected, { reason: "Ask for a photo first." });
  const answered = await askFor(app, "gifts", "A present for Grace.", "customer-1033");
  await approver.approvals.answer(answered, { answer: { ribbon: "red", leaves_on: "2026-12-01", boxes: 1 } });
  const mailing = await askFor(app, "mailing", "Tell our customers about the first flush.", "anna");
  const question = await askFor(app, "gifts", "A present for Ada, please.", "customer-1040");
  const call = await askFor(app, "refunds", broken, "customer-1041");
  const own = await askFor(approver, "refunds", "Pay back my own order.");
  const office = await createApprover(perch, server.url, "office");
  const { secret } = await office.mfa.enrol();
  await office.mfa.confirm({ code: generateTotpCode(secret) });
  const seen = (id: string, { apiKey } = approver) => ({ path: `/approvals/${id}`, apiKey });
  return {
    approvals: "/approvals",
    "approvals-decided": "/approvals?status=any",
    "approvals-none": "/approvals?status=expired",
    "approval-without-permission": `/approvals/${call}`,
    "approval-call": seen(call),
    "approval-question": seen(question),
    "approval-two-approvers": seen(mailing, office),
    "approval-without-factor": seen(mailing),
    "approval-left-to-others": seen(own),
    "approval-approved": seen(approved),
    "approval-rejected": seen(rejected),
    "approval-answered": seen(answered),
    "run-waiting": `/runs/refunds/${(await perch.approvals.get(call)).request_id}`,
  };
}
