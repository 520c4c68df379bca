import { ConflictError, NotFoundError, type Perch, type RequestOptions, type Secret } from "@perch/sdk";
import { Problem } from "./problem.ts";

/** An invalid name may be the value itself, typed in the wrong place, so nothing repeats it, or sends it in a path. */
export const isSecretName = (text: string): boolean => /^[a-z][a-z0-9_]{0,62}$/.test(text);

export const secretNameRule =
  "A name has 1 to 63 lower-case letters, digits and underscores, and begins with a letter, such as github_token.";

/** Without an agent, the secret is the organisation's. */
export interface SecretKey {
  readonly name: string;
  readonly agent: string | undefined;
}

interface SecretChange {
  readonly value?: string | undefined;
  readonly hosts?: readonly string[] | undefined;
  /** Undefined: as it is. */
  readonly approval?: Secret["approval"] | undefined;
}

const createSecret = (
  perch: Perch,
  { name, agent }: SecretKey,
  { value = "", hosts = [], approval }: SecretChange,
  options: RequestOptions,
): Promise<Secret> => {
  const body = { name, value, hosts: [...hosts], ...(approval !== undefined && { approval }) };
  return agent ? perch.agentSecrets.create(agent, body, options) : perch.secrets.create(body, options);
};

export const updateSecret = (
  perch: Perch,
  { name, agent }: SecretKey,
  { value, hosts, approval }: SecretChange,
  options: RequestOptions = {},
): Promise<Secret> => {
  const body = {
    ...(value !== undefined && { value }),
    ...(hosts && { hosts: [...hosts] }),
    ...(approval !== undefined && { approval }),
  };
  return agent ? perch.agentSecrets.update(agent, name, body, options) : perch.secrets.update(name, body, options);
};

export interface SetSecret {
  readonly secret: Secret;
  readonly outcome: "created" | "updated";
}

/** Creates the secret, or replaces its value, and its hosts if they are given. */
export async function setSecret(
  perch: Perch,
  key: SecretKey,
  change: SecretChange & { readonly value: string },
  options: RequestOptions = {},
): Promise<SetSecret> {
  const update = async (): Promise<SetSecret> => ({
    secret: await updateSecret(perch, key, change, options),
    outcome: "updated",
  });
  const create = async (): Promise<SetSecret> => ({
    secret: await createSecret(perch, key, change, options),
    outcome: "created",
  });
  try {
    return await update();
  } catch (missing) {
    if (!(missing instanceof NotFoundError)) throw missing;
    if (!change.hosts) throw new Problem(missing.shortMessage, "A new secret needs its hosts: --host api.example.com");
  }
  try {
    return await create();
  } catch (conflict) {
    // Another user created it meanwhile, or the quota is used up, and then the update does not find it either.
    if (!(conflict instanceof ConflictError)) throw conflict;
    return await update().catch((error: unknown) => {
      throw error instanceof NotFoundError ? conflict : error;
    });
  }
}
