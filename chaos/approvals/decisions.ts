import { setTimeout as sleep } from "node:timers/promises";
import type { Api, ApiAnswer } from "../api-client.ts";
import type { Organisation } from "./organisations.ts";
import { actionOf, type Fate, needsPerson, type Way } from "./plan.ts";
import { kindOf, type Run } from "./runs.ts";

interface Asked {
  readonly id: string;
  readonly status: string;
  readonly step: number;
  readonly call: number;
  readonly digest: string;
}

/** One approver at one API node. */
interface Person {
  readonly approver: 0 | 1;
  readonly node: 0 | 1;
}
const first: Person = { approver: 0, node: 0 };
const second: Person = { approver: 1, node: 1 };

export const reason = "Not in this quarter.";
export const givenAnswer = "Yes, from the large account.";
export const editedAmount = 77;

export interface Decider {
  readonly decide: (run: Run) => Promise<void>;
  /** Decisions that were sent. */
  readonly sent: () => number;
}

const askedSeconds = 60;

export function createDecider(api: Api, organisations: readonly Organisation[]): Decider {
  let sent = 0;

  const untilAsked = async (run: Run, step: number, isDone: (asked: Asked) => boolean): Promise<Asked[]> => {
    const deadline = performance.now() + askedSeconds * 1000;
    const token = organisations[run.organisation]?.approvers[0] ?? "";
    while (performance.now() < deadline) {
      const { body } = await api.get(`/v1/approvals?request_id=${run.requestId}`, token);
      const asked = (body as { data: Asked[] }).data.filter((each) => each.step === step);
      if (asked.length > 0 && asked.every(isDone)) return asked.toSorted((a, b) => a.call - b.call);
      await sleep(250);
    }
    throw new Error(`${run.message}: after ${askedSeconds} s, its step ${step} asks for no decision`);
  };

  const send = async (run: Run, { id, step }: Asked, verb: string, body: object, by: Person): Promise<ApiAnswer> => {
    sent += 1;
    const token = organisations[run.organisation]?.approvers[by.approver] ?? "";
    const answer = await api.post(`/v1/approvals/${id}/${verb}`, token, body, { node: by.node, allowed: [409] });
    if (answer.status === 200) run.decidedAtMs.set(step, Math.max(answer.sentAtMs, run.decidedAtMs.get(step) ?? 0));
    return answer;
  };
  const approve = (run: Run, asked: Asked, by = first) => send(run, asked, "approve", { digest: asked.digest }, by);
  const reject = (run: Run, asked: Asked, by = first) => send(run, asked, "reject", { reason }, by);
  const edit = (run: Run, asked: Asked) => {
    const args = { action: actionOf(run.message, asked.step, asked.call), amount: editedAmount };
    return send(run, asked, "approve", { digest: asked.digest, arguments: args }, first);
  };

  const expect = (run: Run, answer: ApiAnswer, status: number, what: string) => {
    if (answer.status === status) return;
    run.problems.push(`${what}: ${answer.status} instead of ${status}, ${JSON.stringify(answer.body).slice(0, 200)}`);
  };

  /** Sends one decision that must be accepted. */
  const one = async (run: Run, asked: Asked, fate: Fate, answer: Promise<ApiAnswer>): Promise<void> => {
    expect(run, await answer, 200, fate);
    run.fates.set(`${asked.step}.${asked.call}`, fate);
  };

  /** An approver who decides too late is refused, and nothing is done. */
  const refuseLate = async (run: Run, asked: readonly Asked[], fate: Fate): Promise<void> => {
    for (const each of asked) {
      run.fates.set(`${each.step}.${each.call}`, fate);
      expect(run, await approve(run, each, second), 409, `approved though ${fate}`);
    }
  };

  const ways: Record<Way, (run: Run, asked: readonly Asked[]) => Promise<unknown>> = {
    approve: (run, asked) => Promise.all(asked.map((each) => one(run, each, "approved", approve(run, each)))),
    "approve twice at once": (run, asked) =>
      Promise.all(
        asked.flatMap((each) =>
          ([0, 1] as const).map((node) => one(run, each, "approved", approve(run, each, { approver: 0, node }))),
        ),
      ),
    "approve and reject at once": async (run, [asked]) => {
      if (!asked) return;
      const answers = await Promise.all([approve(run, asked, first), reject(run, asked, second)]);
      const [approved, rejected] = answers.map(({ status }) => status === 200);
      if (approved === rejected)
        run.problems.push(`contradicting decisions: ${answers.map(({ status }) => status).join(" and ")}`);
      run.fates.set(`${asked.step}.${asked.call}`, approved ? "approved" : "rejected");
    },
    reject: (run, asked) => Promise.all(asked.map((each) => one(run, each, "rejected", reject(run, each)))),
    edit: (run, asked) => Promise.all(asked.map((each) => one(run, each, "edited", edit(run, each)))),
    "approve, the last call first": async (run, asked) => {
      for (const each of asked.toReversed()) await one(run, each, "approved", approve(run, each, second));
    },
    "approve all at once": (run, asked) =>
      Promise.all(asked.map((each, i) => one(run, each, "approved", approve(run, each, i % 2 ? second : first)))),
    "reject the first call, after the others": async (run, [last, ...others]) => {
      for (const each of others) await one(run, each, "approved", approve(run, each));
      if (last) await one(run, last, "rejected", reject(run, last, second));
    },
    "two approve": async (run, [asked]) => {
      if (!asked) return;
      // The same person again does not count as another.
      for (const by of [first, { ...first, node: 1 } as const]) {
        const answer = await approve(run, asked, by);
        expect(run, answer, 200, "the first of two");
        const { status } = (answer.body as { data?: { status: string } }).data ?? {};
        if (status !== "open") run.problems.push(`one person made it ${status}, and two are needed`);
      }
      await one(run, asked, "approved", approve(run, asked, second));
    },
    answer: (run, asked) =>
      Promise.all(
        asked.map((each) => one(run, each, "answered", send(run, each, "answer", { answer: givenAnswer }, first))),
      ),
    "let it expire": async (run, asked) => {
      await untilAsked(run, asked[0]?.step ?? 1, ({ status }) => status !== "open");
      await refuseLate(run, asked, "expired");
    },
    "cancel the run": async (run, asked) => {
      const path = `/v1/agents/${run.agent}/invocations/${run.requestId}/cancel`;
      await api.post(path, organisations[run.organisation]?.invoker ?? "", {});
      await refuseLate(run, asked, "cancelled");
    },
  };

  return {
    sent: () => sent,
    decide: async (run) => {
      for (const [i, calls] of kindOf(run).replies.entries()) {
        for (const [n, call] of calls.entries()) if (!needsPerson(call)) run.fates.set(`${i + 1}.${n + 1}`, "free");
        if (calls.some(needsPerson)) await ways[kindOf(run).way](run, await untilAsked(run, i + 1, () => true));
      }
    },
  };
}
