import { join } from "node:path";
import { createFindValue, type FoundValue } from "../agent-file/declared-secrets.ts";

/**
 * The server setting that makes a provider's models available, and the variables in which other programs expect its
 * key.
 */
const wellKnown = [
  { provider: "openai", setting: "PERCH_OPENAI_API_KEY", variables: ["OPENAI_API_KEY"] },
  { provider: "anthropic", setting: "PERCH_ANTHROPIC_API_KEY", variables: ["ANTHROPIC_API_KEY"] },
  {
    provider: "google",
    setting: "PERCH_GOOGLE_API_KEY",
    variables: ["GOOGLE_GENERATIVE_AI_API_KEY", "GEMINI_API_KEY"],
  },
] as const;

export interface ProviderKeys {
  /** For the server's environment. Nothing of it is stored. */
  readonly settings: Readonly<Record<string, string>>;
  readonly providers: readonly string[];
  /** The message about them: names of variables, never a value. */
  readonly lines: readonly string[];
}

/** The form of a key that the server accepts. It refuses to start with anything else. */
const isKey = (value: string): boolean => /^[\x21-\x7e]{1,4096}$/.test(value) && !/\{\{|\}\}/.test(value);
const placeOf = (source: FoundValue["source"]): string => (source === "environment" ? "the environment" : source);

/** Keys of well-known providers in the environment, or else in `.env` of the folder. */
export function findProviderKeys(cwd: string, env: NodeJS.ProcessEnv): ProviderKeys {
  const findValue = createFindValue(env, join(cwd, ".env"));
  const settings: Record<string, string> = {};
  const providers: string[] = [];
  const lines: string[] = [];
  for (const { provider, setting, variables } of wellKnown) {
    const name = [setting, ...variables].find((variable) => findValue(variable) !== undefined);
    const found = name === undefined ? undefined : findValue(name);
    if (!name || !found) continue;
    const place = `${name} of ${placeOf(found.source)}`;
    if (isKey(found.value)) {
      settings[setting] = found.value;
      providers.push(provider);
      lines.push(`Provider ${provider} is ready, with ${place}: use model: ${provider}/<model>`);
    } else lines.push(`${place} is not used: a key has visible characters only, without spaces.`);
  }
  return { settings, providers, lines };
}

export const howToAddKey =
  "For a real model, put OPENAI_API_KEY, ANTHROPIC_API_KEY or GEMINI_API_KEY into .env and start again.";
