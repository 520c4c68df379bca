import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Client } from "../auth/client.ts";
import { storableText } from "../platform/storable-text.ts";
import { answerFieldOf, parseAnswer } from "../resources/approvals/answer-field.ts";
import type { DecideByLink, LinkHolder, ToDecision } from "../resources/approvals/decide-by-link.ts";
import { linkPath } from "../resources/approvals/delivered-link.ts";
import type { Admission } from "./admission.ts";
import { approvalPage, decidedPage, invalidLinkPage, isShownWhole, refusedPage } from "./approval-page.ts";
import { replyWithError } from "./error-reply.ts";
import type { Guard } from "./guard.ts";
import { ownFormPolicy, sendPage as sendAnyPage } from "./person-page.ts";

interface LinkRoutesOptions {
  readonly decideByLink: DecideByLink;
  readonly admission: Pick<Admission, "admitUnauthenticated">;
  readonly guard: Pick<Guard, "admitsLink">;
}

const maxFormBytes = 128 * 1024;
const maxReason = 2000;
const maxAnswer = 10_000;

const sendPage = (reply: FastifyReply, status: number, page: string): FastifyReply =>
  sendAnyPage(reply, { status, page, policy: ownFormPolicy });

const refuseLink = (reply: FastifyReply): FastifyReply => sendPage(reply, 404, invalidLinkPage);

interface LinkForm {
  readonly decision: string | undefined;
  readonly digest: string | undefined;
  readonly reason: string | undefined;
  readonly answer: string | undefined;
}

/** Undefined for anything that our own form does not send. */
function parseForm({ headers, body }: FastifyRequest): LinkForm | undefined {
  if (!/^application\/x-www-form-urlencoded\s*(;|$)/i.test(headers["content-type"] ?? "")) return undefined;
  const fields = new URLSearchParams(typeof body === "string" ? body : "");
  const textOf = (name: string): string | undefined => fields.get(name)?.replaceAll("\r\n", "\n");
  const names = [...fields.keys()];
  if (new Set(names).size !== names.length) return undefined;
  const form = {
    decision: textOf("decision"),
    digest: textOf("digest"),
    reason: textOf("reason"),
    answer: textOf("answer"),
  };
  return (form.reason ?? "").length > maxReason || (form.answer ?? "").length > maxAnswer ? undefined : form;
}

const unusableForm = {
  refused: "This form could not be read. Open the link again, and use the form on its page.",
};
const otherDigest = {
  refused: "What is asked for has changed since you looked. Open the link again, and decide on what it shows now.",
};
const otherAnswer = {
  refused: "This is not an answer to what was asked. Go back, and choose or write another one.",
};

const createToDecision =
  (form: LinkForm | undefined): ToDecision =>
  (linked) => {
    const { approval, call } = linked;
    if (form?.digest === undefined) return unusableForm;
    if (form.digest !== approval.digest.toString("hex")) return otherDigest;
    if (form.decision === "reject")
      return { verdict: "reject", ...(form.reason?.trim() && { reason: storableText(form.reason) }) };
    if (!isShownWhole(linked)) return unusableForm;
    if (form.decision === "approve" && approval.kind === "tool") return { verdict: "approve", digest: form.digest };
    if (form.decision !== "answer" || approval.kind !== "question") return unusableForm;
    const field = answerFieldOf(call.parameters);
    const answer = field && parseAnswer(field, storableText(form.answer ?? ""));
    return answer === undefined ? otherAnswer : { verdict: "answer", answer };
  };

const words: Readonly<Record<string, string>> = {
  approved: "You have approved this.",
  rejected: "You have rejected this.",
  answered: "Your answer was sent.",
};

/**
 * `/approve/{token}`: pages for people without a key or a session, who got a link by a delivery. GET only shows the
 * approval, because mail programs and chats open links by themselves; the form decides. An invalid link always gets the
 * same page.
 */
export function approvalLinkRoutes(
  app: FastifyInstance,
  { decideByLink, admission, guard }: LinkRoutesOptions,
  clientOf: (request: FastifyRequest) => Client,
): void {
  const holderOf = (request: FastifyRequest): LinkHolder => ({
    token: (request.params as { "*": string })["*"],
    isAdmittedTo: (agent) => guard.admitsLink(clientOf(request), agent),
    address: request.ip,
    correlationId: request.id,
  });

  const show = async (request: FastifyRequest, reply: FastifyReply) => {
    const linked = await decideByLink.find(holderOf(request));
    return linked ? sendPage(reply, 200, approvalPage(linked)) : refuseLink(reply);
  };

  const decide = async (request: FastifyRequest, reply: FastifyReply) => {
    const decided = await decideByLink.decide(holderOf(request), createToDecision(parseForm(request)));
    if (!decided) return refuseLink(reply);
    if ("refused" in decided) return sendPage(reply, 400, refusedPage(decided.refused));
    return sendPage(reply, 200, decidedPage(words[decided.approval.status] ?? ""));
  };

  void app.register(async (pages) => {
    pages.removeAllContentTypeParsers();
    pages.addContentTypeParser("*", { parseAs: "string", bodyLimit: maxFormBytes }, (_, body, done) =>
      done(null, body),
    );
    pages.setErrorHandler((error: FastifyError, request, reply) =>
      error.statusCode === 413
        ? sendPage(reply, 413, refusedPage(unusableForm.refused))
        : replyWithError(error, request, reply),
    );
    pages.all(`${linkPath}*`, async (request, reply) => {
      await admission.admitUnauthenticated(request.ip);
      if (request.method === "GET" || request.method === "HEAD") return show(request, reply);
      return request.method === "POST" ? decide(request, reply) : refuseLink(reply);
    });
  });
}
