import { queryOptions } from "@tanstack/react-query";
import { perch } from "./perch.ts";
import { queryClient } from "./query-client.ts";

/** Needs the permission `read`. */
export const organisationQuery = queryOptions({
  queryKey: ["organisation"],
  queryFn: ({ signal }) => perch.organisation.get({ signal }),
  staleTime: 30_000,
});

export async function forbidApproveGrants(): Promise<void> {
  await perch.organisation.update({ manage_grants_approve: false });
  await queryClient.invalidateQueries({ queryKey: organisationQuery.queryKey });
}
