import { type RawBuilder, sql } from "kysely";

export interface VisibleUsers {
  readonly onlyUserId?: string | undefined;
  readonly onlyUserIds?: Readonly<Record<string, string>> | undefined;
}

export const seesEveryUser = ({ onlyUserId, onlyUserIds = {} }: VisibleUsers): boolean =>
  onlyUserId === undefined && Object.keys(onlyUserIds).length === 0;

/** Whether what belongs to a user exists for a caller. With users by agent, the row also has an `agent_id`. */
export function ofVisibleUser(
  { onlyUserId, onlyUserIds = {} }: VisibleUsers,
  userId: RawBuilder<string | null> = sql.ref("user_id"),
): RawBuilder<boolean> {
  if (Object.keys(onlyUserIds).length === 0)
    return onlyUserId === undefined ? sql`true` : sql`coalesce(${userId} = ${onlyUserId}, false)`;
  const only = sql`coalesce(${JSON.stringify(onlyUserIds)}::jsonb ->> agent_id::text, ${onlyUserId ?? null}::text)`;
  return sql`(${only} is null or coalesce(${userId} = ${only}, false))`;
}
