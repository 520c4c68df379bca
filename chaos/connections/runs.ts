import { type Person, patientAgent, server, type Tenant } from "./users.ts";

/** A run, its answer, and when it came. */
export interface Run {
  /** Unique, and also the argument of its tool call. */
  readonly note: string;
  readonly person: Person;
  readonly status: number;
  /** The final text of the model, which is the result of the tool call. If the run failed, the reason. */
  readonly answer: string;
  readonly answeredAtMs: number;
}

const whoami = `${server}_whoami`;
let count = 0;

/** Runs an agent for this user. `tool` is the tool that the model calls. */
export async function runFor(
  { api, key }: Tenant,
  person: Person,
  { tool = whoami, agent = patientAgent }: { readonly tool?: string; readonly agent?: string } = {},
): Promise<Run> {
  const note = `${person.userId} ${++count}`;
  const body = { message: JSON.stringify({ tool, note }), context: { user_id: person.userId } };
  const answered = await api.post(`/v1/agents/${agent}/invoke`, key, body, {
    node: count,
    key: `run-${process.pid}-${count}`,
    allowed: [409, 422, 504],
  });
  const { data, error } = answered.body as { data?: { response: string }; error?: { message: string } };
  return {
    note,
    person,
    status: answered.status,
    answer: data?.response ?? error?.message ?? "",
    answeredAtMs: performance.now(),
  };
}

/** So many at a time, until each was answered. */
export async function runAll(
  tenant: Tenant,
  people: readonly Person[],
  runs: number,
  concurrency: number,
): Promise<Run[]> {
  const done: Run[] = [];
  let next = 0;
  const work = async () => {
    for (let i = next++; i < runs; i = next++) {
      const person = people[i % people.length];
      if (person) done.push(await runFor(tenant, person));
    }
  };
  await Promise.all(Array.from({ length: concurrency }, work));
  return done;
}
