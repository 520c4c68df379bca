import type { Caller } from "../../auth/caller.ts";
import type { IssuerAnswer, OpenIdClient, PersonTokens } from "../../auth/openid-client.ts";
import {
  type Access,
  accessFromGroups,
  type GroupMapping,
  groupsFromClaims,
  type Person,
  personFromClaims,
} from "../../auth/person-rules.ts";
import type { Database } from "../../db/database.ts";
import type { Sealer } from "../../platform/sealing.ts";
import { findPersonSession, listOrganisationNames } from "./person-session-queries.ts";

/** The issuer at which people sign in, and the meaning of its groups here. */
export interface PeopleSource {
  readonly client: OpenIdClient;
  readonly issuer: string;
  /** Shown on the button. */
  readonly name: string;
  readonly groupsClaim: string;
  readonly mappings: readonly GroupMapping[];
  /** Seals tokens. */
  readonly sealer: Sealer;
}

export interface PersonOrganisation extends Pick<Access, "role" | "mayApprove"> {
  readonly id: string;
  readonly name: string;
}

/** Organisations that these groups lead to and that exist, in the order of the mappings. */
export async function listPersonOrganisations(
  db: Database,
  groups: ReadonlySet<string>,
  mappings: readonly GroupMapping[],
): Promise<readonly PersonOrganisation[]> {
  const access = accessFromGroups(groups, mappings);
  const named = await listOrganisationNames(
    db.unscoped,
    access.map(({ organisationId }) => organisationId),
  );
  const names = new Map(named.map(({ id, name }) => [id, name]));
  return access.flatMap(({ organisationId, ...granted }) => {
    const name = names.get(organisationId);
    return name === undefined ? [] : [{ id: organisationId, name, ...granted }];
  });
}

/** The organisations that a session's owner can sign in to: those of a person's groups, or the one of a key. */
export const createListOrganisations =
  (db: Database, source: Pick<PeopleSource, "mappings"> | undefined) =>
  async ({ session, organisation, role }: Caller) => {
    const { id, name } = organisation;
    const person =
      source && session?.person
        ? await db.inOrganisation(id, (trx) => findPersonSession(trx, id, session.id))
        : undefined;
    return source && person
      ? listPersonOrganisations(db, new Set(person.groups), source.mappings)
      : [{ id, name, role }];
  };

/** The person and the mapped groups in an answer. Undefined if it names no person. */
export function readAnswer(
  { claims }: Pick<IssuerAnswer, "claims">,
  { groupsClaim, mappings }: Pick<PeopleSource, "groupsClaim" | "mappings">,
): { readonly person: Person; readonly groups: ReadonlySet<string> } | undefined {
  const person = personFromClaims(claims);
  const all = groupsFromClaims(claims, groupsClaim) ?? new Set<string>();
  const groups = new Set(mappings.map(({ group }) => group).filter((group) => all.has(group)));
  return person && { person, groups };
}

interface SessionName {
  readonly organisationId: string;
  readonly sessionId: string;
}

/** In another row, the tokens do not open. */
const associatedData = ({ organisationId, sessionId }: SessionName) => `${organisationId} ${sessionId}`;

export const sealTokens = (sealer: Sealer, of: SessionName, tokens: PersonTokens): Buffer =>
  sealer.seal(JSON.stringify(tokens), associatedData(of));

/** Undefined if they were not sealed for this session. */
export function openTokens(sealer: Sealer, of: SessionName, sealed: Buffer): PersonTokens | undefined {
  try {
    return JSON.parse(sealer.open(sealed, associatedData(of))) as PersonTokens;
  } catch {
    return undefined;
  }
}
