import { useQuery } from "@tanstack/react-query";
import { organisationQuery } from "../../api/organisation-queries.ts";
import { useCan } from "../../session/session.ts";

/** Whether `manage` gives `approve` in the organisation. Until that is known, it is assumed, and the server decides. */
export const useManageGrantsApprove = (): boolean =>
  useQuery({ ...organisationQuery, enabled: useCan("read") }).data?.manage_grants_approve ?? true;
