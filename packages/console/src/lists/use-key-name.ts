import { useQuery } from "@tanstack/react-query";
import { keyNamesQuery } from "../api/keys-queries.ts";
import { useCan } from "../session/session.ts";

/** The name of a key if the caller may read it, else its id. */
export function useKeyName(): (keyId: string | null) => string {
  const { data: names } = useQuery({ ...keyNamesQuery, enabled: useCan("manage") });
  return (keyId) => (keyId === null ? "–" : (names?.get(keyId) ?? keyId));
}
