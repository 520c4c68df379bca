import type { Agent } from "@perch/sdk";
import { getRouteApi, Link } from "@tanstack/react-router";
import { Select, TextArea } from "../../../parts/field.tsx";
import { Section } from "../../../parts/section.tsx";
import { textLinkClass } from "../../../parts/text-link.ts";
import { ModelInput } from "../model-input.tsx";
import type { Schema } from "./definition-schema.ts";
import { FallbackModels } from "./fallback-models.tsx";
import { fieldsOnlyInYaml } from "./fields-only-in-yaml.ts";
import { CheckField, DocumentField, type FormPart, NumberField, valueAt } from "./form-field.tsx";
import { ToolsField } from "./tools-field.tsx";
import type { Definition } from "./use-definition.ts";

const route = getRouteApi("/signed-in/agents/$agent/definition");

const limits = {
  max_steps: "Model calls",
  max_tokens: "Tokens",
  timeout_seconds: "Seconds",
  max_history_messages: "Earlier messages",
  max_concurrent_runs: "Runs at the same time",
} as const;

const textOf = (value: unknown): string => (typeof value === "string" ? value : "");

const ModelSection = ({ readOnly, ...part }: FormPart & { readonly readOnly: boolean }) => (
  <Section title="Model">
    <DocumentField {...part} label="Model" path={["model"]}>
      {(ids) => (
        <ModelInput
          {...ids}
          value={textOf(valueAt(part.definition, ["model"]))}
          onChange={(model) => part.definition.setField(["model"], model)}
        />
      )}
    </DocumentField>
    <FallbackModels {...part} readOnly={readOnly} />
    <NumberField
      {...part}
      label="Temperature"
      path={["temperature"]}
      hint="From 0 to 2. Empty: the model's own default."
      empty={null}
      step="0.1"
    />
  </Section>
);

const InstructionsSection = (part: FormPart) => (
  <Section title="Instructions">
    <DocumentField
      {...part}
      label="Instructions"
      path={["instructions"]}
      hint="What the model is told before each conversation."
    >
      {(ids) => (
        <TextArea
          {...ids}
          rows={12}
          dir="auto"
          value={textOf(valueAt(part.definition, ["instructions"]))}
          onChange={({ target }) => part.definition.setField(["instructions"], target.value)}
        />
      )}
    </DocumentField>
  </Section>
);

const MemorySection = (part: FormPart) => (
  <Section title="Memory">
    <CheckField {...part} label="Recall" path={["memory", "recall"]} />
    <CheckField {...part} label="Remember" path={["memory", "remember"]} />
    <NumberField {...part} label="Memories recalled" path={["memory", "recall_limit"]} />
  </Section>
);

const LimitsSection = (part: FormPart) => (
  <Section title="Limits">
    <div className="grid gap-3 sm:grid-cols-2">
      {Object.entries(limits).map(([name, label]) => (
        <NumberField key={name} {...part} label={label} path={["limits", name]} />
      ))}
    </div>
  </Section>
);

const LogsSection = (part: FormPart) => (
  <Section title="Logs">
    <DocumentField {...part} label="Contents of steps" path={["logs"]}>
      {(ids) => (
        <Select
          {...ids}
          value={textOf(valueAt(part.definition, ["logs"]))}
          onChange={({ target }) => part.definition.setField(["logs"], target.value)}
        >
          {["off", "shapes", "full"].map((setting) => (
            <option key={setting}>{setting}</option>
          ))}
        </Select>
      )}
    </DocumentField>
  </Section>
);

function OnlyInYaml({ agent, definition, schema }: FormPart & { readonly agent: Agent }) {
  const others = fieldsOnlyInYaml(schema, definition.parsed.document ?? {});
  const { agent: ref } = route.useParams();
  return (
    <div className="flex flex-col gap-1 py-4 text-muted text-table">
      {others.length > 0 && (
        <p>
          {others.length === 1 ? "1 more field is" : `${others.length} more fields are`} in the{" "}
          <Link
            to="/agents/$agent/definition"
            params={{ agent: ref }}
            search={(search) => ({ ...search, view: "yaml" as const })}
            className={textLinkClass}
          >
            YAML
          </Link>
          : <code className="font-mono text-small">{others.join(", ")}</code>. The form leaves them as they are.
        </p>
      )}
      {agent.auth && (
        <p>
          User authentication is set. It has secrets that are never shown, so it is changed on the Security tab or with
          the API.
        </p>
      )}
    </div>
  );
}

interface DefinitionFormProps {
  readonly agent: Agent;
  readonly definition: Definition;
  readonly schema: Schema;
  readonly readOnly: boolean;
}

export function DefinitionForm({ agent, readOnly, ...part }: DefinitionFormProps) {
  if (!part.definition.parsed.document)
    return (
      <p className="p-4 text-table">
        The YAML cannot be read: {part.definition.parsed.problems[0]?.message}. Correct the YAML; then the form comes
        back.
      </p>
    );
  return (
    <fieldset
      disabled={readOnly}
      className="min-w-0 px-4 [&:disabled_:is(input,select,textarea)]:border-line [&:disabled_:is(input,select,textarea)]:bg-sunken"
    >
      <legend className="sr-only">Definition of {agent.name}</legend>
      <ModelSection {...part} readOnly={readOnly} />
      <InstructionsSection {...part} />
      <Section title="Tools">
        <ToolsField {...part} readOnly={readOnly} />
      </Section>
      <MemorySection {...part} />
      <LimitsSection {...part} />
      <LogsSection {...part} />
      <OnlyInYaml agent={agent} {...part} />
    </fieldset>
  );
}
