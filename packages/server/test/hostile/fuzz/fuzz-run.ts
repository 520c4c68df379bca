import { type OperationKey, operationKeys } from "@perch/contract";
import { startConsentingProvider } from "@perch/testkit/identity/consenting-provider.ts";
import fc from "fast-check";
import type { Perch } from "../../support/harness.ts";
import { consentTo } from "../../support/sample-connections.ts";
import { insertWaitingRun } from "../../support/stored-approvals.ts";
import { threadMs } from "../../support/thread-time.ts";
import { anyAttack } from "./attacks.ts";
import { type Accounts, callEveryOperation, type SendValid } from "./every-operation.ts";
import { findProblems } from "./find-problems.ts";
import { mutated } from "./mutated-template.ts";
import { type RequestTemplate, validTemplate } from "./request-template.ts";
import { type SerializedRequest, serializeRequest } from "./serialize-request.ts";
import { createTenant, IdOwners, type Tenant } from "./tenants.ts";
import { WireClient, type WireResponse } from "./wire-client.ts";

const concurrency = 64;
const batchSize = 500;
/** Organisations lock themselves out and exhaust their limits, so new ones are created after this many requests. */
const requestsPerGeneration = 2000;
const tenantCount = 3;

const templatesFor = (key: OperationKey) => {
  const valid = validTemplate(key);
  const hostile = fc
    .tuple(valid, anyAttack)
    .map(([template, attack]): RequestTemplate => ({ ...template, kind: "hostile", attack: attack }));
  return fc.oneof(
    { weight: 5, arbitrary: valid },
    { weight: 5, arbitrary: mutated(valid) },
    { weight: 4, arbitrary: hostile },
  );
};
const anyTemplate = fc.oneof(...operationKeys.map(templatesFor));

const kindOf = ({ status, body }: WireResponse): string => {
  const code = body.match(/"code":"(\w+)"/)?.[1] ?? "";
  return `${status} ${body.includes("Send the body as JSON") ? "media type" : code}`.trim();
};

/** Counts responses by kind, and stores the first example of each problem. */
export class Tally {
  readonly answers = new Map<string, number>();
  /** Operations that answered a request without an attack with success. */
  readonly succeeded = { directed: new Set<OperationKey>(), random: new Set<OperationKey>() };
  readonly problems = new Map<string, string>();
  readonly sent = { directed: 0, random: 0 };
  /** The processor time of the longest turn of the event loop, which server and client share. */
  longestTurnMs = 0;

  countResponse({ kind, operation, attack }: RequestTemplate, answer: WireResponse | undefined): void {
    const source = kind === "directed" ? "directed" : "random";
    this.sent[source]++;
    const answerKind = answer ? kindOf(answer) : "connection closed";
    this.answers.set(answerKind, (this.answers.get(answerKind) ?? 0) + 1);
    if (answer && answer.status < 300 && !attack) this.succeeded[source].add(operation);
  }

  recordProblem(
    template: RequestTemplate,
    { bytes }: SerializedRequest,
    answer: WireResponse | undefined,
    problem: string,
  ): void {
    const title = `${problem}: ${template.attack?.name ?? template.operation}`;
    if (this.problems.has(title)) return;
    const sent = bytes
      .subarray(0, 1500)
      .toString("latin1")
      .replaceAll(/perch_\w+/g, "perch_…");
    const shown = answer ? `${answer.status} ${answer.body.slice(0, 600)}` : "nothing";
    this.problems.set(title, `${title}, as ${template.caller}\n${sent}\n-> ${shown}`);
  }
}

/** Sends requests of tenants over the wire, and checks every response. */
class FuzzClient {
  readonly tally = new Tally();
  readonly #perch: Perch;
  readonly #wire: WireClient;
  readonly #owners = new IdOwners();
  readonly #tokens = new Set<string>();
  readonly #accounts: Accounts;

  constructor(perch: Perch, issuer: string) {
    this.#perch = perch;
    this.#accounts = { issuer, consent: (link) => consentTo(perch, link) };
    this.#wire = new WireClient(perch.url);
  }

  /** Creates tenants, and calls every operation as one of them. */
  async createTenants(): Promise<Tenant[]> {
    const tenants = await Promise.all(Array.from({ length: tenantCount }, () => createTenant(this.#perch)));
    for (const { keys } of tenants) for (const key of Object.values(keys)) if (key) this.#tokens.add(key);
    for (const tenant of tenants.slice(0, 1))
      await callEveryOperation(this.#sendValidAs(tenant), () => this.#createApprovals(tenant), this.#accounts);
    return tenants;
  }

  async send(template: RequestTemplate, me: Tenant, other: Tenant): Promise<WireResponse | undefined> {
    const request = serializeRequest(template, me, other);
    try {
      const answer = await this.#wire.send({ ...request, ownConnection: template.attack !== undefined });
      this.tally.countResponse(template, answer);
      for (const problem of findProblems({ template, me, request, answer }, this.#owners, this.#tokens))
        this.tally.recordProblem(template, request, answer, problem);
      return answer;
    } catch (error) {
      this.tally.recordProblem(template, request, undefined, String(error));
      return undefined;
    }
  }

  close(): void {
    this.#wire.close();
  }

  /** One more approval stays open, because the run was never started and cannot be continued. */
  async #createApprovals({ organisation }: Tenant): Promise<readonly string[]> {
    const question = { kind: "question" as const, question: "Which?", parameters: {} };
    return (await insertWaitingRun(this.#perch, organisation, { calls: [{}, {}, question, {}] })).approvals;
  }

  #sendValidAs(me: Tenant): SendValid {
    const defaults = { kind: "directed", organisationIndex: 0, caller: "admin", params: {}, query: {}, headers: [] };
    return async (operation, request) => {
      const answer = await this.send({ ...defaults, ...request, operation } as RequestTemplate, me, me);
      if (!answer || answer.status >= 300) throw new Error(`${operation} answered ${answer?.status} ${answer?.body}`);
      return JSON.parse(answer.body);
    };
  }
}

/** The processor time of the longest turn of the event loop during this work. */
async function longestTurnOf(work: () => Promise<unknown>): Promise<number> {
  let longestMs = 0;
  let last: NodeJS.CpuUsage | undefined;
  let isOver = false;
  const look = (): void => {
    if (last) longestMs = Math.max(longestMs, threadMs(last));
    last = process.threadCpuUsage();
    if (!isOver) setImmediate(look);
  };
  setImmediate(look);
  await work().finally(() => {
    isOver = true;
  });
  return longestMs;
}

/** Sends this many random requests concurrently and checks every response. The same seed makes the same requests. */
export async function sendFuzzRequests(
  perch: Perch,
  { requests, seed, tolerableMs }: { requests: number; seed: number; tolerableMs: number },
): Promise<Tally> {
  const accounts = await startConsentingProvider();
  const client = new FuzzClient(perch, accounts.issuer);
  let tenants: readonly Tenant[] = [];
  const send = (template: RequestTemplate) => {
    const [me, other] = [
      tenants[template.organisationIndex % tenants.length],
      tenants[(template.organisationIndex + 1) % tenants.length],
    ];
    if (!me || !other) throw new Error("no tenants");
    return client.send(template, me, other);
  };

  for (let first = 0; first < requests; first += batchSize) {
    if (first % requestsPerGeneration === 0) tenants = await client.createTenants();
    const templates = fc.sample(anyTemplate, { seed: seed + first, numRuns: batchSize });
    const sendBatch = async () => {
      const waiting = templates.values();
      const sendNext = async () => {
        for (const template of waiting) await send(template);
      };
      await Promise.all(Array.from({ length: concurrency }, sendNext));
    };
    // A machine that is paused for a while charges a turn for it. What a request takes, it takes again.
    let turnMs = await longestTurnOf(sendBatch);
    for (let i = 0; i < 4 && turnMs > tolerableMs; i++) turnMs = Math.min(turnMs, await longestTurnOf(sendBatch));
    client.tally.longestTurnMs = Math.max(client.tally.longestTurnMs, turnMs);
  }
  client.close();
  accounts.stop();
  return client.tally;
}
