import type { Deployment, InvocationContext, VersionSummary } from "@perch/sdk";

/**
 * The version to run: `draft`, a version's label, or `live:ENVIRONMENT`. No label has a colon. If absent, the default of an invoke without
 * a version.
 */
export type VersionChoice = string | undefined;

const livePrefix = "live:";
const defaultEnvironment = "production";

/** The environment whose live version is chosen; undefined if a version is chosen directly. */
export function environmentOf(choice: VersionChoice, frameEnvironment: string | undefined): string | undefined {
  if (choice === undefined) return frameEnvironment ?? defaultEnvironment;
  return choice.startsWith(livePrefix) ? choice.slice(livePrefix.length) : undefined;
}

export function contextOf(
  choice: VersionChoice,
  frameEnvironment: string | undefined,
): Pick<InvocationContext, "version" | "environment"> {
  // Without both, the server's own default decides, as it does for every other caller.
  if (choice === undefined && frameEnvironment === undefined) return {};
  const environment = environmentOf(choice, frameEnvironment);
  return environment === undefined ? { version: choice } : { environment };
}

type Live = Pick<Deployment, "environment" | "version">;

/** Without a deployment, the draft runs. */
const liveLabel = (environment: string, live: readonly Live[]): string => {
  const version = live.find((deployment) => deployment.environment === environment)?.version;
  return version === undefined ? `Draft (nothing is live in ${environment})` : `Live in ${environment} (${version})`;
};

export function choiceLabel(
  choice: VersionChoice,
  frameEnvironment: string | undefined,
  live: readonly Live[] = [],
): string {
  const environment = environmentOf(choice, frameEnvironment);
  if (environment !== undefined) return liveLabel(environment, live);
  return choice === "draft" ? "Draft" : (choice ?? "");
}

export interface ChoiceOption {
  /** Empty for the default, which is absent in the address. */
  readonly value: string;
  readonly label: string;
}

/**
 * The default, the live versions of other environments, the draft, then every version. The address's own choice is included even if it is
 * unknown.
 */
export function choiceOptions(
  chosen: VersionChoice,
  frameEnvironment: string | undefined,
  live: readonly Live[],
  versions: readonly Pick<VersionSummary, "version">[],
): ChoiceOption[] {
  const byDefault = environmentOf(undefined, frameEnvironment);
  const elsewhere = [...new Set(live.map(({ environment }) => environment))].filter((name) => name !== byDefault);
  const options = [
    { value: "", label: choiceLabel(undefined, frameEnvironment, live) },
    ...elsewhere.sort().map((name) => ({ value: `${livePrefix}${name}`, label: liveLabel(name, live) })),
    { value: "draft", label: "Draft" },
    ...versions.map(({ version }) => ({ value: version, label: version })),
  ];
  if (chosen === undefined || options.some(({ value }) => value === chosen)) return options;
  return [...options, { value: chosen, label: choiceLabel(chosen, frameEnvironment, live) }];
}
