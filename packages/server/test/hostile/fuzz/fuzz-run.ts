import { type OperationKey, operationKeys } from "@perch/contract";
import fc from "fast-check";
import type { Perch } from "../../support/harness.ts";
import { anyAttack } from "./attacks.ts";
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

/** Counts responses by kind, and keeps the first example of each problem. */
export class Tally {
  readonly answers = new Map<string, number>();
  readonly succeeded = new Set<string>();
  readonly problems = new Map<string, string>();
  sent = 0;

  countResponse({ operation, attack }: RequestTemplate, answer: WireResponse | undefined): void {
    const kind = answer ? kindOf(answer) : "connection closed";
    this.answers.set(kind, (this.answers.get(kind) ?? 0) + 1);
    if (answer && answer.status < 300 && !attack) this.succeeded.add(operation);
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

/** Sends this many requests concurrently and checks every response. The same seed makes the same requests. */
export async function sendFuzzRequests(
  perch: Perch,
  { requests, seed }: { requests: number; seed: number },
): Promise<Tally> {
  const client = new WireClient(perch.url);
  const tally = new Tally();
  const owners = new IdOwners();
  const tokens = new Set<string>();
  let tenants: Tenant[] = [];

  const createTenants = async () => {
    tenants = await Promise.all(Array.from({ length: tenantCount }, () => createTenant(perch)));
    for (const { keys } of tenants) for (const key of Object.values(keys)) if (key) tokens.add(key);
  };

  const send = async (template: RequestTemplate) => {
    const [me, other] = [
      tenants[template.organisationIndex % tenants.length],
      tenants[(template.organisationIndex + 1) % tenants.length],
    ];
    if (!me || !other) throw new Error("no tenants");
    const request = serializeRequest(template, me, other);
    tally.sent++;
    try {
      const answer = await client.send({ ...request, ownConnection: template.attack !== undefined });
      tally.countResponse(template, answer);
      for (const problem of findProblems({ template, me, request, answer }, owners, tokens))
        tally.recordProblem(template, request, answer, problem);
    } catch (error) {
      tally.recordProblem(template, request, undefined, String(error));
    }
  };

  let generations = 0;
  const batches = fc.asyncProperty(
    fc.array(anyTemplate, { minLength: batchSize, maxLength: batchSize }),
    async (batch) => {
      if (tally.sent >= generations * requestsPerGeneration) {
        generations++;
        await createTenants();
      }
      const waiting = batch.values();
      const sendNext = async () => {
        for (const template of waiting) await send(template);
      };
      await Promise.all(Array.from({ length: concurrency }, sendNext));
    },
  );
  await fc.assert(batches, { seed, numRuns: Math.ceil(requests / batchSize), endOnFailure: true });
  client.close();
  return tally;
}
