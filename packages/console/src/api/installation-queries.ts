import { queryOptions } from "@tanstack/react-query";
import { perch } from "./perch.ts";

export const installationQuery = queryOptions({
  queryKey: ["installation"],
  queryFn: ({ signal }) => perch.installation.get({ signal }),
  staleTime: 2000,
  refetchInterval: 5000,
});
