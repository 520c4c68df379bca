import type { CreateWebhook, UpdateWebhook, Webhook } from "@perch/sdk";
import { type SubscribableEvent, subscribableNames } from "../event-types.ts";

export interface HeaderDraft {
  /** Identifies a row while its name is typed. */
  readonly key: number;
  readonly name: string;
  readonly value: string;
}

/** The fields of a webhook in the form. */
export interface WebhookDraft {
  readonly url: string;
  /** Id or name; empty: all agents. Cannot be changed later. */
  readonly agent: string;
  readonly events: readonly SubscribableEvent[];
  readonly headers: readonly HeaderDraft[];
  readonly approvalLinks: boolean;
}

export const newDraft = (agent: string): WebhookDraft => ({
  url: "",
  agent,
  events: ["agent.completed", "agent.failed"],
  headers: [],
  approvalLinks: false,
});

export const draftOf = (webhook: Webhook): WebhookDraft => ({
  url: webhook.url,
  agent: webhook.agent_id ?? "",
  events: subscribableNames.filter((name) => webhook.events.includes(name)),
  headers: Object.entries(webhook.headers).map(([name, value], key) => ({ key, name, value })),
  approvalLinks: webhook.approval_links,
});

const headersOf = ({ headers }: WebhookDraft): Record<string, string> =>
  Object.fromEntries(headers.filter(({ name }) => name.trim() !== "").map(({ name, value }) => [name.trim(), value]));

/** Omits unset fields: `approval_links` needs a permission that the caller may not have. */
export const toCreate = (draft: WebhookDraft): CreateWebhook =>
  ({
    url: draft.url,
    events: [...draft.events],
    headers: headersOf(draft),
    ...(draft.agent !== "" && { agent_id: draft.agent }),
    ...(draft.approvalLinks && { approval_links: true }),
  }) as CreateWebhook;

const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

/** Only the changes since the form was opened. */
export function toUpdate(before: WebhookDraft, now: WebhookDraft): UpdateWebhook {
  return {
    ...(now.url !== before.url && { url: now.url }),
    ...(!isSame(now.events.toSorted(), before.events.toSorted()) && { events: [...now.events] }),
    ...(!isSame(headersOf(now), headersOf(before)) && { headers: headersOf(now) }),
    ...(now.approvalLinks !== before.approvalLinks && { approval_links: now.approvalLinks }),
  };
}

/** Untouched fields take another user's changes, because saving again must not revert them. */
export function follow(before: WebhookDraft, now: WebhookDraft, current: WebhookDraft): WebhookDraft {
  const changed = toUpdate(before, now);
  return {
    ...current,
    ...("url" in changed && { url: now.url }),
    ...("events" in changed && { events: now.events }),
    ...("headers" in changed && { headers: now.headers }),
    ...("approval_links" in changed && { approvalLinks: now.approvalLinks }),
  };
}
