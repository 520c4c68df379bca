import { z } from "zod";
import { AgentAuth } from "./agent-auth.ts";
import { SecuritySettings, SecuritySettingsPatch } from "./agent-security.ts";
import { ApprovalPolicy, McpApprovalPolicy, questionSettings } from "./approval-policy.ts";
import { boundedRecord } from "./bounded-record.ts";
import { RequestHeaders, RequestQuery } from "./secret-references.ts";
import { hasOneLogin, oneLogin, ToolConnection } from "./tool-connection.ts";

export const ModelRef = z
  .string()
  .max(200)
  .regex(/^[a-z0-9][a-z0-9-]*\/\S+$/, "Expected provider/model, for example perch/echo")
  .describe("`provider/model`. The built-in `perch/echo` needs no provider.")
  .meta({ id: "ModelRef", example: "perch/echo" });

export const HttpUrl = z
  .url({ protocol: /^https?$/, hostname: z.regexes.hostname, error: "Expected an http or https address" })
  .max(2048)
  .refine((text) => !/^https?:\/\/[^/?#]*@/i.test(text), "Must not contain a user name or password");
/**
 * An address that calls with secrets go to. Every reader of the agent can read it, so it must not refer to a secret
 * itself.
 */
const CalledUrl = HttpUrl.refine(
  (text) => !/\{\{|%7b%7b/i.test(text),
  "An address cannot refer to a secret: put it into `headers` or `query`",
);
const ToolName = z.string().regex(/^[a-zA-Z0-9_-]{1,64}$/, "Use 1 to 64 letters, digits, underscores and hyphens");

export const McpTool = z
  .strictObject({
    type: z.literal("mcp"),
    name: ToolName,
    url: CalledUrl.describe("URL of the MCP server (Streamable HTTP)."),
    headers: RequestHeaders.optional(),
    connection: ToolConnection.optional(),
    approval: McpApprovalPolicy.optional(),
    tool_approvals: boundedRecord(z.string().min(1).max(128), ApprovalPolicy, 128)
      .optional()
      .describe(
        "For single tools, by the server's own name for them: takes precedence over `approval`. If the server does not list one that needs approval, all tools without a policy here need it.",
      )
      .meta({ example: { delete_file: "always" } }),
  })
  .refine(hasOneLogin, oneLogin)
  .meta({ id: "McpTool" });

export const HttpTool = z
  .strictObject({
    type: z.literal("http"),
    name: ToolName,
    description: z.string().max(4096),
    method: z.enum(["GET", "POST", "PUT", "PATCH", "DELETE"]),
    url: CalledUrl,
    headers: RequestHeaders.optional(),
    query: RequestQuery.optional(),
    connection: ToolConnection.optional(),
    parameters: z.looseObject({ type: z.literal("object") }).describe("JSON Schema of the arguments."),
    approval: ApprovalPolicy.optional(),
  })
  .refine(hasOneLogin, oneLogin)
  .meta({ id: "HttpTool" });

export const AskPersonTool = z
  .strictObject({
    type: z.literal("ask_person"),
    name: ToolName.describe("What the model calls it, for example `ask_person`."),
    description: z.string().max(4096).describe("When the model is to ask, and whom."),
    answer: z
      .looseObject({})
      .describe("JSON Schema of the answer.")
      .meta({ example: { type: "string" } }),
    ...questionSettings,
  })
  .meta({
    id: "AskPersonTool",
    description: "Built in: the model asks a question, the run waits, and a person's answer is the result.",
  });

const Tool = z.discriminatedUnion("type", [McpTool, HttpTool, AskPersonTool]).meta({ id: "Tool" });
const Tools = z
  .array(Tool)
  .max(64)
  .refine((tools) => new Set(tools.map(({ name }) => name)).size === tools.length, "Two tools have the same name");

const Runtime = z
  .discriminatedUnion("type", [
    z.strictObject({ type: z.literal("model") }),
    z.strictObject({ type: z.literal("http"), url: CalledUrl, headers: RequestHeaders.optional() }),
  ])
  .meta({
    id: "Runtime",
    description: "What runs the agent: the model, or your own HTTP service, to which Perch posts each message.",
  });

/** Vector sizes of embedders. The database has an index for each of these sizes, and for no other. */
export const embeddingDimensions = [384, 768, 1024, 1536] as const;
export const localEmbedder = "perch/minilm";
const EmbedderSettings = z
  .strictObject({
    model: ModelRef.describe("`provider/model`. The built-in `perch/minilm` runs in the server and needs no provider."),
    dimensions: z.literal(embeddingDimensions).describe("Size of the model's vectors."),
  })
  .refine(({ model, dimensions }) => model !== localEmbedder || dimensions === 384, {
    path: ["dimensions"],
    error: "perch/minilm has 384",
  })
  .meta({
    id: "EmbedderSettings",
    description:
      "The model that embeds memories. Memory belongs to the agent, not to a version, so the draft's embedder is used for all versions. After a change, all memories are embedded again in the background; searches keep working meanwhile.",
  });
export type EmbedderSettings = z.infer<typeof EmbedderSettings>;

const MemorySettings = z
  .strictObject({
    recall: z.boolean().describe("Search the agent's memories for each message and give the results to the model."),
    recall_limit: z.int().min(1).max(50).describe("Maximum number of memories to give to the model."),
    remember: z.boolean().describe("Store each completed run's message and response as a memory."),
    embedder: EmbedderSettings,
  })
  .meta({ id: "MemorySettings" });

/** How much of a run's contents is visible afterwards. */
export const logSettings = ["off", "shapes", "full"] as const;
const LogSetting = z
  .enum(logSettings)
  .describe(
    "How much of what models and tools were asked and said is kept with a run, apart from its message and response: nothing (`off`), sizes and names of fields without any value (`shapes`, the default), or all of it (`full`), sealed, for as long as logs are kept. See `GET /v1/agents/{agent_id}/invocations/{request_id}/steps`.",
  )
  .meta({ id: "LogSetting" });
export type LogSetting = z.infer<typeof LogSetting>;

/** The longest that any run may take. */
export const maxTimeoutSeconds = 900;

const Limits = z
  .strictObject({
    max_steps: z.int().min(1).max(1000).describe("Maximum number of model calls in one run."),
    max_tokens: z.int().min(1).max(10_000_000).describe("Maximum number of tokens in one run, over all steps."),
    timeout_seconds: z.int().min(1).max(maxTimeoutSeconds).describe("Maximum duration of one run."),
    max_history_messages: z
      .int()
      .min(0)
      .max(1000)
      .describe("Maximum number of earlier messages of the session that the model sees."),
    max_concurrent_runs: z.int().min(1).max(10_000).describe("Maximum number of runs of this agent at the same time."),
  })
  .meta({ id: "Limits" });

const ApprovalSettings = z
  .strictObject({
    while_waiting: z
      .enum(["refuse", "queue"])
      .describe(
        "What happens to the next message of a session while a run of it waits for a person: it is refused, or it waits until that run has ended. The default is `refuse`.",
      ),
  })
  .meta({ id: "ApprovalSettings" });

/** The definition of an agent. All of it except `security` becomes part of a version. */
export const AgentDefinition = z.object({
  model: ModelRef,
  temperature: z.number().min(0).max(2).nullable().describe("null uses the model's default."),
  instructions: z.string().max(65_536),
  tools: Tools,
  memory: MemorySettings,
  limits: Limits,
  logs: LogSetting,
  fallback_models: z.array(ModelRef).max(5).describe("Models to try, in this order, when `model` fails."),
  runtime: Runtime,
  approvals: ApprovalSettings.optional(),
  security: SecuritySettings,
});
export type AgentDefinition = z.infer<typeof AgentDefinition>;

/** Defaults of an agent's fields. `model` has none; a remote agent's is `perch/remote`. */
export const agentDefaults = {
  temperature: null,
  instructions: "",
  tools: [],
  memory: {
    recall: false,
    recall_limit: 5,
    remember: false,
    embedder: { model: localEmbedder, dimensions: 384 },
  },
  limits: {
    max_steps: 20,
    max_tokens: 100_000,
    timeout_seconds: 120,
    max_history_messages: 40,
    max_concurrent_runs: 100,
  },
  logs: "shapes",
  fallback_models: [],
  runtime: { type: "model" },
  security: {},
} satisfies Omit<AgentDefinition, "model">;
export const remoteModel = "perch/remote";

const { model, temperature, instructions, tools, logs, fallback_models, runtime, approvals } = AgentDefinition.shape;

/** A change to a definition: `memory`, `limits` and `security` merge field by field, the rest is replaced; null restores the default. */
export const AgentDefinitionPatch = z.strictObject({
  model: model.optional(),
  temperature: temperature.optional(),
  instructions: instructions.nullable().optional(),
  tools: tools.nullable().optional(),
  memory: MemorySettings.partial().meta({ id: "MemorySettingsPatch" }).nullable().optional(),
  limits: Limits.partial().meta({ id: "LimitsPatch" }).nullable().optional(),
  logs: logs.nullable().optional(),
  fallback_models: fallback_models.nullable().optional(),
  runtime: runtime.nullable().optional(),
  approvals: approvals.nullable(),
  security: SecuritySettingsPatch.nullable().optional(),
  auth: AgentAuth.nullable().optional(),
});
export type AgentDefinitionPatch = z.infer<typeof AgentDefinitionPatch>;
