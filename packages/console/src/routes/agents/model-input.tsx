import { useQuery } from "@tanstack/react-query";
import { modelsQuery } from "../../api/agents-queries.ts";
import { SuggestedInput, type SuggestedInputProps } from "../../parts/suggested-input.tsx";

/** `provider/model` as text, with the organisation's models as suggestions: a provider may have more models than it lists. */
export function ModelInput(props: Omit<SuggestedInputProps, "suggestions">) {
  const { data: models = [] } = useQuery(modelsQuery);
  return (
    <SuggestedInput
      {...props}
      className="font-mono"
      suggestions={[...new Set(models.map(({ id }) => id.replace(/\*$/, "")))]}
    />
  );
}
