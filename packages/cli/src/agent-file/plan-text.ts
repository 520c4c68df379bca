import type { Terminal } from "../terminal.ts";
import type { Plan } from "./apply-file.ts";
import type { SecretStep } from "./plan-secrets.ts";

const isSet = ({ outcome }: SecretStep): boolean => outcome === "created" || outcome === "updated";
export const setsSecrets = ({ secrets }: Plan): boolean => secrets.some(isSet);
export const isPending = (plan: Plan): boolean => plan.outcome !== "unchanged" || setsSecrets(plan);

/**
 * The variable and the hosts of each secret. A value that is found is set again each time, because values cannot be
 * compared.
 */
export const secretLines = ({ secrets }: Plan): string[] =>
  secrets.filter(isSet).map(({ name, hosts, variable, source, outcome }) => {
    if (source === null) return `secret ${name}: for ${hosts.join(", ")} only`;
    const verb = outcome === "created" ? "set" : "set again";
    const place = source === "environment" ? "the environment" : source;
    return `secret ${name}: ${verb} from ${variable} of ${place}, for ${hosts.join(", ")}`;
  });

/** `bot updated, 1 secret set`. */
export function doneLine({ name, outcome, secrets }: Plan): string {
  const count = secrets.filter(isSet).length;
  return `${name} ${outcome}${count === 0 ? "" : `, ${count} secret${count === 1 ? "" : "s"} set`}`;
}

export const printWarnings = (terminal: Terminal, warnings: readonly string[]): void => {
  for (const warning of warnings) terminal.note(`${terminal.style("yellow", "warning:")} ${warning}`);
};
