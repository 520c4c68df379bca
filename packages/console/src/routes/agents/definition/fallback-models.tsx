import { Button } from "../../../parts/button.tsx";
import { Icon } from "../../../parts/icon.tsx";
import { ModelInput } from "../model-input.tsx";
import { type FormPart, valueAt } from "./form-field.tsx";

const path = ["fallback_models"];
const max = 5;

/** In order: the next model is tried when the one before it fails. */
export function FallbackModels({ definition, readOnly }: FormPart & { readonly readOnly: boolean }) {
  const value = valueAt(definition, path);
  const models = Array.isArray(value) ? (value as string[]) : [];
  const set = (changed: string[]) => definition.setField(path, changed);
  return (
    <fieldset className="flex flex-col gap-1">
      <legend className="mb-1 font-medium text-table">Fallback models</legend>
      {models.map((model, index) => {
        const problem = definition.problems.get(`fallback_models.${index}`);
        return (
          <div key={index} className="flex items-center gap-1">
            <ModelInput
              aria-label={`Fallback model ${index + 1}`}
              aria-invalid={problem !== undefined}
              title={problem}
              value={model}
              onChange={(changed) => set(models.with(index, changed))}
            />
            {!readOnly && (
              <Button
                kind="quiet"
                className="px-2"
                aria-label={`Remove fallback model ${index + 1}`}
                onClick={() => set(models.toSpliced(index, 1))}
              >
                <Icon name="cross" />
              </Button>
            )}
          </div>
        );
      })}
      <div className="flex items-center gap-3">
        {!readOnly && (
          <Button disabled={models.length >= max} onClick={() => set([...models, ""])}>
            <Icon name="plus" /> Add fallback model
          </Button>
        )}
        <span className="text-muted text-small">Tried in this order when the model fails, at most {max}.</span>
      </div>
    </fieldset>
  );
}
