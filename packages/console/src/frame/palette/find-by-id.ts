import { isNotFound } from "../../api/is-not-found.ts";
import { perch } from "../../api/perch.ts";
import type { PastedId } from "./id-kind.ts";

/** A record is stored a little later than its id is created. */
const around = ({ createdAt }: PastedId) => {
  const isoAt = (seconds: number) => new Date(createdAt.getTime() + seconds * 1000).toISOString();
  return { start_time: isoAt(-5), end_time: isoAt(60), limit: 100 };
};

/** The agent's name, which a run's address needs and a pasted id does not contain. */
export async function findAgentOfRun({ id }: PastedId): Promise<string | undefined> {
  const { data } = await perch.request("GET /v1/invocations", { query: { request_id: id } });
  return data[0]?.agent_name;
}

export async function findAgentOfDeployment(pasted: PastedId): Promise<string | undefined> {
  const { data } = await perch.request("GET /v1/deployments", { query: around(pasted) });
  return data.find(({ id }) => id === pasted.id)?.agent_name;
}

export async function findAgent({ id }: PastedId): Promise<string | undefined> {
  const found = await perch.agents.get(id).catch((error: unknown) => {
    if (isNotFound(error)) return undefined;
    throw error;
  });
  return found?.name;
}
