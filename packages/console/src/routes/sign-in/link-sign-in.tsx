import { useEffect, useRef } from "react";
import { Button } from "../../parts/button.tsx";
import { ErrorNote } from "../../parts/error-note.tsx";
import { forgetSignInLink } from "../../session/sign-in-link.ts";
import { useSignIn } from "./use-sign-in.ts";

const isLoopback = (host: string): boolean => /^(localhost|.+\.localhost|127(\.\d+){3}|\[::1\])$/.test(host);

interface LinkSignInProps {
  readonly link: string;
  readonly returnTo: string | undefined;
  readonly onGiveUp: () => void;
}

/**
 * Signs in by a one-time link. An attacker who sends a victim a link of their own could watch what the victim does, so the user must
 * confirm, except on the reader's own machine, where `perch dev` opens the link.
 */
export function LinkSignIn({ link, returnTo, onGiveUp }: LinkSignInProps) {
  const { mutate, isPending, isSuccess, isError, error } = useSignIn(returnTo);
  const isStarted = useRef(false);
  const start = () => {
    isStarted.current = true;
    forgetSignInLink();
    mutate({ link });
  };
  const startOnOwnMachine = useRef(start);
  useEffect(() => {
    if (isLoopback(location.hostname) && !isStarted.current) startOnOwnMachine.current();
  }, []);
  if (isError)
    return (
      <div className="flex flex-col gap-3">
        <ErrorNote error={error} />
        <Button onClick={onGiveUp}>Sign in another way</Button>
      </div>
    );
  if (isPending || isSuccess)
    return (
      <p role="status" className="text-muted">
        Signing in …
      </p>
    );
  if (isLoopback(location.hostname)) return null;
  return (
    <div className="flex flex-col gap-3">
      <p>This link signs you in with the key that created it. Continue only if you created it yourself.</p>
      <Button kind="primary" onClick={start}>
        Sign in with this link
      </Button>
      <Button kind="quiet" onClick={onGiveUp}>
        Sign in another way
      </Button>
    </div>
  );
}
