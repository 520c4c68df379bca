import { eventually } from "../expectations.ts";
import type { Answer } from "../http-client.ts";
import { deploy, newAgent, newName, type World } from "../world.ts";

interface SpecifiedOperation {
  readonly number: number;
  readonly name: string;
  readonly method: "GET" | "POST" | "PATCH" | "DELETE";
  readonly path: string;
  readonly isList: boolean;
  /** Whether the table lists its query parameters, or notes that the specification does not show them (E2). */
  readonly takesQuery: boolean;
}

type Kind = Partial<Pick<SpecifiedOperation, "isList" | "takesQuery">>;

const operation = (number: number, name: string, route: string, kind: Kind = {}): SpecifiedOperation => {
  const [method, path = ""] = route.split(" ") as [SpecifiedOperation["method"], string];
  const { isList = false, takesQuery = isList } = kind;
  return { number, name, method, path, isList, takesQuery };
};

/** The table of the specification. */
export const specifiedOperations: readonly SpecifiedOperation[] = [
  operation(1, "Invoke Agent", "POST /v1/agents/{agent_id}/invoke"),
  operation(2, "List Agents", "GET /v1/agents", { isList: true }),
  operation(3, "Get Agent", "GET /v1/agents/{agent_id}"),
  operation(4, "Update Agent", "PATCH /v1/agents/{agent_id}"),
  operation(5, "Delete Agent", "DELETE /v1/agents/{agent_id}"),
  operation(6, "Create Deployment", "POST /v1/agents/{agent_id}/deployments"),
  operation(7, "List Deployments", "GET /v1/agents/{agent_id}/deployments", { isList: true }),
  operation(8, "Rollback Deployment", "POST /v1/agents/{agent_id}/deployments/{deployment_id}/rollback"),
  operation(9, "Get Logs", "GET /v1/agents/{agent_id}/logs", { isList: true }),
  operation(10, "Get Metrics", "GET /v1/agents/{agent_id}/metrics", { takesQuery: true }),
  operation(11, "Search Memory", "POST /v1/agents/{agent_id}/memory/search"),
  operation(12, "Clear Memory", "DELETE /v1/agents/{agent_id}/memory"),
  operation(13, "Create Webhook", "POST /v1/webhooks"),
  operation(14, "List Webhooks", "GET /v1/webhooks", { isList: true }),
  operation(15, "Delete Webhook", "DELETE /v1/webhooks/{webhook_id}"),
  operation(16, "Create API Key", "POST /v1/keys"),
  operation(17, "List API Keys", "GET /v1/keys", { isList: true }),
  operation(18, "Revoke API Key", "DELETE /v1/keys/{key_id}"),
];

export interface DoneOperation {
  readonly operation: SpecifiedOperation;
  readonly answer: Answer;
}

/** Every operation once, with exactly the parameters and the body that the table gives it. */
export const everyOperation = (world: World): Promise<readonly DoneOperation[]> =>
  world.once("every operation", async () => {
    const made = await newAgent(world);
    const done: DoneOperation[] = [];
    const ids: Record<string, string> = { agent_id: made.id };
    const act = async (number: number, body?: object, query = ""): Promise<Answer> => {
      const found = specifiedOperations[number - 1];
      if (!found) throw new Error(`There is no operation ${number}`);
      const path = found.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => ids[name] ?? "");
      const answer = await world.call(found.method, path + query, body ? { body } : {});
      done.push({ operation: found, answer });
      return answer;
    };
    await act(4, { model: "perch/echo", temperature: 0.2 });
    ids.deployment_id = (await deploy(world, made, "before")).id;
    await world.call("PATCH", made.path, { body: { temperature: 0.3 } });
    await act(6, { environment: "production", version: "after" });
    await eventually(async () => {
      const { data } = (await world.call("GET", `${made.path}/deployments?status=active`)).body;
      return data[0]?.version === "after" ? true : undefined;
    }, "the second deployment active");
    await act(7);
    await act(8);
    await act(1, { message: "hello", context: { user_id: "ada", session_id: "s-1" } });
    await act(2, undefined, "?limit=10&offset=0&sort=created_at");
    await act(3);
    const range = "start_time=2026-01-01T00:00:00Z&end_time=2026-01-02T00:00:00Z";
    await act(9, undefined, `?level=info&${range}&limit=10`);
    await act(10, undefined, `?metric=throughput&${range}&granularity=1h`);
    await act(11, { query: "tea", limit: 3 });
    await act(12);
    const url = "https://hooks.example.com/walk";
    const webhook = await act(13, { agent_id: made.id, url, events: ["agent.completed", "agent.failed"] });
    ids.webhook_id = webhook.body.data?.id;
    await act(14);
    await act(15);
    const key = await act(16, { agent_id: made.id, name: newName(), permissions: ["read", "write"] });
    ids.key_id = key.body.data?.id;
    await act(17);
    await act(18);
    await act(5);
    return done.sort((a, b) => a.operation.number - b.operation.number);
  });

export async function answerOf(world: World, number: number): Promise<Answer> {
  const found = (await everyOperation(world)).find(({ operation: { number: one } }) => one === number);
  if (!found) throw new Error(`Operation ${number} was not called`);
  return found.answer;
}
