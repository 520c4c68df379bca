import { agentDefaults, agentOperations } from "../packages/contract/src/index.ts";

type JsonObject = Record<string, unknown>;

/**
 * The JSON schema of `agent.yaml`: the body of `POST /v1/agents` with the defaults. Editors complete and check the file with it, and
 * the CLI takes the defaults of omitted fields from it.
 */
export function agentFileSchema(): JsonObject {
  const { body } = agentOperations["POST /v1/agents"];
  const { $schema, definitions } = body.toJSONSchema({ target: "draft-7", io: "input" }) as JsonObject;
  const { CreateAgent, ...others } = definitions as Record<string, JsonObject>;
  if (!CreateAgent) throw new Error("The body of POST /v1/agents is not called CreateAgent any more");
  const properties = { ...(CreateAgent.properties as Record<string, JsonObject>) };
  for (const [name, value] of Object.entries(agentDefaults)) properties[name] = { ...properties[name], default: value };
  return {
    $schema,
    title: "Perch agent",
    description: "An agent of Perch, as `perch apply` takes it. What is left out has its default.",
    type: CreateAgent.type,
    properties,
    required: CreateAgent.required,
    additionalProperties: CreateAgent.additionalProperties,
    definitions: others,
  };
}
