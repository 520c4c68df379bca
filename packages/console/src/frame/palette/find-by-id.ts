import { perch } from "../../api/perch.ts";
import type { PastedId } from "./id-kind.ts";

/** What is stored for an id is stored a little after the id is made. */
const around = ({ createdAt }: PastedId) => {
  const isoAt = (seconds: number) => new Date(createdAt.getTime() + seconds * 1000).toISOString();
  return { start_time: isoAt(-5), end_time: isoAt(60), limit: 100 };
};

const maxPages = 10;

/** An address names a run with its agent. A pasted id has no agent, but it has its time, so few runs can be meant. */
export async function findAgentOfRun(pasted: PastedId): Promise<string | undefined> {
  let cursor: string | undefined;
  for (let page = 0; page < maxPages; page++) {
    const query = { ...around(pasted), ...(cursor !== undefined && { cursor }) };
    const { data, pagination } = await perch.request("GET /v1/invocations", { query });
    const run = data.find(({ request_id }) => request_id === pasted.id);
    if (run) return run.agent_id;
    if (pagination.next_cursor === null) return undefined;
    cursor = pagination.next_cursor;
  }
  return undefined;
}

export async function findAgentOfDeployment(pasted: PastedId): Promise<string | undefined> {
  const { data } = await perch.request("GET /v1/deployments", { query: around(pasted) });
  return data.find(({ id }) => id === pasted.id)?.agent_id;
}
