import { autocompletion, type Completion, type CompletionContext, completionKeymap } from "@codemirror/autocomplete";
import { yaml } from "@codemirror/lang-yaml";
import type { Extension } from "@codemirror/state";
import { keymap } from "@codemirror/view";
import { isMap } from "yaml";
import { modelsQuery } from "../../../api/agents-queries.ts";
import { queryClient } from "../../../api/query-client.ts";
import { type Path, parseText } from "./agent-document.ts";
import { optionsOf, type Schema, schemaAt } from "./definition-schema.ts";
import { placeInYaml } from "./place-in-yaml.ts";

const plain = (text: string | undefined) => text?.replaceAll("`", "") ?? "";

const fieldCompletions = ({ properties = {} }: Schema, present: object, root: Schema): Completion[] =>
  Object.entries(properties)
    .filter(([name]) => !(name in present))
    .map(([name, field]) => {
      const options = optionsOf(root, field);
      const isBlock = options.some(({ type }) => type === "object" || type === "array");
      const info = plain(options[0]?.description);
      return { label: name, apply: isBlock ? `${name}:` : `${name}: `, type: "property", ...(info && { info }) };
    });

const valuesOf = (option: Schema): readonly unknown[] => {
  if (option.enum) return option.enum;
  if ("const" in option) return [option.const];
  return option.type === "boolean" ? [true, false] : [];
};

async function valueCompletions(root: Schema, path: Path, document: unknown): Promise<Completion[]> {
  const isModel = path.at(-1) === "model" || path[0] === "fallback_models";
  if (isModel) {
    const models = await queryClient.ensureQueryData(modelsQuery);
    return models.map(({ id }) => ({ label: id.replace(/\*$/, ""), type: "constant" }));
  }
  const field = schemaAt(root, path, document);
  const values = field ? optionsOf(root, field).flatMap(valuesOf) : [];
  return values.map((value) => ({ label: String(value), type: "constant" }));
}

/** Completes names of fields and their values from the schema, at the place in the document where the cursor is. */
const completeFrom = (schema: Schema) => async (context: CompletionContext) => {
  const text = context.state.doc.toString();
  const place = placeInYaml(text, context.pos);
  if (!place || (!context.explicit && place.typed === "")) return null;
  const { path, typed, kind } = place;
  const { yaml: document } = parseText(text);
  const value: unknown = document.errors.length > 0 ? {} : document.toJS();
  const around = document.getIn(path);
  const present: object = isMap(around) ? around.toJSON() : {};
  const block = kind === "field" ? schemaAt(schema, path, value) : undefined;
  const options = block
    ? fieldCompletions(block, present, schema)
    : kind === "value"
      ? await valueCompletions(schema, path, value)
      : [];
  return { from: context.pos - typed.length, options, validFor: /^[\w/.-]*$/ };
};

export const createYamlExtensions = (schema: Schema): Extension => [
  yaml(),
  autocompletion({ override: [completeFrom(schema)], icons: false }),
  keymap.of(completionKeymap),
];
