import { agentDefaults, agentOperations, secretOperations } from "../packages/contract/src/index.ts";

type JsonObject = Record<string, unknown>;

/** `secrets` of the file: `perch apply` sets them on their own, with values that come from the environment. */
function secretsSchema(): JsonObject {
  const { body } = secretOperations["POST /v1/secrets"];
  const { definitions } = body.toJSONSchema({ target: "draft-7", io: "input" }) as JsonObject;
  const { CreateSecret, SecretName } = definitions as Record<string, JsonObject>;
  const { hosts } = (CreateSecret?.properties ?? {}) as Record<string, JsonObject>;
  if (!hosts || !SecretName?.pattern)
    throw new Error("The body of POST /v1/secrets has no hosts or no SecretName any more");
  const env = {
    type: "string",
    pattern: "^(?!PERCH_)[A-Z_][A-Z0-9_]*$",
    description: "The variable that has the value, in the environment or in .env. Default: the name in capitals.",
  };
  return {
    type: "object",
    description: "The agent's own secrets, without their values. Tools refer to them as `{{secret.github_token}}`.",
    propertyNames: { pattern: SecretName.pattern },
    additionalProperties: {
      type: "object",
      properties: { hosts, env },
      required: ["hosts"],
      additionalProperties: false,
    },
  };
}

/**
 * The JSON schema of `agent.yaml`: the body of `POST /v1/agents` with the defaults, and `secrets`. Editors complete and check the file with it, and
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
    properties: { ...properties, secrets: secretsSchema() },
    required: CreateAgent.required,
    additionalProperties: CreateAgent.additionalProperties,
    definitions: others,
  };
}
