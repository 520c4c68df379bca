import { useMutation } from "@tanstack/react-query";
import { createSession } from "../../api/console-sessions.ts";
import { setCsrfToken } from "../../api/perch.ts";
import { queryClient } from "../../api/query-client.ts";
import { returnPath } from "../../session/return-path.ts";

/** Signs in and loads the requested page anew, so that no data of an earlier session stays in memory. */
export const useSignIn = (returnTo: string | undefined) =>
  useMutation({
    mutationFn: createSession,
    onSuccess: ({ csrf_token }) => {
      setCsrfToken(csrf_token);
      queryClient.clear();
      location.replace(returnPath(returnTo));
    },
  });
