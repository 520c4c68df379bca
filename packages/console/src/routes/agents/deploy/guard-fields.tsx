import { Field, TextInput } from "../../../parts/field.tsx";
import type { GuardValues } from "./guard-values.ts";

interface GuardFieldsProps {
  readonly values: GuardValues;
  readonly onChange: (values: GuardValues) => void;
  /** The server's messages by the path of the field. */
  readonly problems: ReadonlyMap<string, string>;
}

const fields = [
  ["errorPoints", "max_error_rate_increase", "Error rate rises by more than, in points", 0, 100],
  ["p95Ratio", "max_p95_ratio", "95th percentile of run time, times live", 1, 100],
  ["tokensRatio", "max_mean_tokens_ratio", "Mean tokens of a run, times live", 1, 100],
  ["minRuns", "min_runs", "Runs that both need first", 1, 10_000],
  ["windowMinutes", "window_seconds", "Minutes that the canary is watched", 0.2, 10_080],
] as const;

/** The guards of a canary: how much worse than the live version it may be. */
export const GuardFields = ({ values, onChange, problems }: GuardFieldsProps) => (
  <details className="rounded border border-line px-3 py-2">
    <summary className="cursor-pointer font-medium text-table">Roll back automatically if</summary>
    <div className="grid items-end gap-x-4 gap-y-1 pt-2 sm:grid-cols-2">
      {fields.map(([name, path, label, min, max]) => (
        <Field
          key={name}
          label={label}
          hint={<code className="font-mono">{path}</code>}
          problem={problems.get(`guards.${path}`)}
        >
          {(ids) => (
            <TextInput
              {...ids}
              type="number"
              step={name === "minRuns" ? 1 : "any"}
              min={min}
              max={max}
              required={name === "minRuns" || name === "windowMinutes"}
              className="max-w-28"
              value={values[name]}
              onChange={({ target }) => onChange({ ...values, [name]: target.value })}
            />
          )}
        </Field>
      ))}
      {problems.has("guards") && <p className="text-danger text-small sm:col-span-2">{problems.get("guards")}</p>}
    </div>
  </details>
);
