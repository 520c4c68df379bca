import { once } from "node:events";
import { type IncomingMessage, type OutgoingHttpHeaders, request } from "node:http";
import { text } from "node:stream/consumers";
import type { Webhook } from "@perch/contract";
import { parsePublicId } from "../../src/platform/ids.ts";
import { type ApprovalLink, linkGeneration } from "../../src/resources/approvals/approval-link.ts";
import { ok } from "./contract-client.ts";
import type { ApiNode, Organisation } from "./harness.ts";

export const publicUrl = "https://perch.example";

/** A webhook whose deliveries have links. */
export const createLinkWebhook = async (
  { call }: Organisation,
  url = "https://hooks.example/perch",
  agent_id?: string,
): Promise<Webhook & { readonly secret: string }> =>
  ok(
    await call("POST /v1/webhooks", {
      body: { url, events: ["agent.action_required"], approval_links: true, ...(agent_id && { agent_id }) },
    }),
  ).data;

const uuidOf = (kind: "organisation" | "approval" | "webhook", id: string): string => parsePublicId(kind, id) ?? id;

/** The token of the link that a delivery of this webhook would have, except for the fields that the test changes. */
export async function createToken(
  { server: { core } }: ApiNode,
  organisation: Organisation,
  { approval, webhook }: { readonly approval: string; readonly webhook: string },
  changes: Partial<ApprovalLink> = {},
): Promise<string> {
  const organisationId = uuidOf("organisation", organisation.id);
  const [approvalId, webhookId] = [uuidOf("approval", approval), uuidOf("webhook", webhook)];
  const { expires_at, sealed_secret, url } = await core.db.inOrganisation(organisationId, (trx) =>
    trx
      .selectFrom("approvals")
      .innerJoin("webhooks", "webhooks.organisation_id", "approvals.organisation_id")
      .select(["approvals.expires_at", "webhooks.sealed_secret", "webhooks.url"])
      .where("approvals.id", "=", approvalId)
      .where("webhooks.id", "=", webhookId)
      .executeTakeFirstOrThrow(),
  );
  const generation = linkGeneration(sealed_secret, url);
  const link = { organisationId, approvalId, webhookId, expiresAt: expires_at, generation };
  return core.keys.approvalLinks.tokenOf({ ...link, ...changes });
}

export interface Page {
  readonly status: number;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

interface PageRequest {
  readonly method?: string;
  readonly headers?: OutgoingHttpHeaders;
  readonly body?: string;
  /** The client's address on loopback, such as 127.0.0.2. */
  readonly from?: string;
}

/** Asks for the page at this path exactly as it is written. */
export async function requestPage(
  { url }: { readonly url: string },
  path: string,
  { method = "GET", headers = {}, body, from }: PageRequest = {},
): Promise<Page> {
  const { hostname, port } = new URL(url);
  const address = from === undefined ? {} : { localAddress: from };
  const length = body === undefined ? {} : { "content-length": Buffer.byteLength(body) };
  const sent = request({ hostname, port, path, method, agent: false, headers: { ...length, ...headers }, ...address });
  sent.end(body);
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  return { status: response.statusCode ?? 0, headers: response.headers, body: await text(response) };
}

export const openLink = (node: { readonly url: string }, token: string, more: PageRequest = {}): Promise<Page> =>
  requestPage(node, `/approve/${token}`, more);

/** The form of a page as a browser sends it, with these fields in the place of its own. */
export const sendForm = (
  node: { readonly url: string },
  token: string,
  fields: Readonly<Record<string, string>>,
  more: PageRequest = {},
): Promise<Page> =>
  openLink(node, token, {
    method: "POST",
    body: new URLSearchParams(fields).toString(),
    ...more,
    headers: { "content-type": "application/x-www-form-urlencoded", ...more.headers },
  });

export const digestIn = ({ body }: Page): string => /name="digest" value="([0-9a-f]{64})"/.exec(body)?.[1] ?? "none";

/** The parts that differ between any two requests. */
export const contentsOf = ({ status, headers, body }: Page) => {
  const { date: _, "x-correlation-id": __, ...rest } = headers;
  return { status, headers: rest, body };
};
