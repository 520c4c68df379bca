import { useQuery } from "@tanstack/react-query";
import { useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { signInMethodsQuery } from "../../api/console-sessions.ts";
import { buttonClass } from "../../parts/button.tsx";
import { ErrorNote } from "../../parts/error-note.tsx";
import { Icon } from "../../parts/icon.tsx";
import { OutsideText } from "../../parts/outside-text.tsx";
import { useTabTitle } from "../../parts/page.tsx";
import { Working } from "../../parts/working.tsx";
import { returnPath } from "../../session/return-path.ts";
import { readSignInLink } from "../../session/sign-in-link.ts";
import { KeySignIn } from "./key-sign-in.tsx";
import { LinkSignIn } from "./link-sign-in.tsx";
import { signInProblem } from "./sign-in-problems.ts";

const PersonSignIn = ({ name, returnTo }: { readonly name: string; readonly returnTo: string | undefined }) => (
  <a
    href={`/console/oidc/start?${new URLSearchParams({ return_to: returnPath(returnTo) })}`}
    className={buttonClass("primary", "min-w-0")}
  >
    Sign in with <OutsideText text={name} className="truncate" />
  </a>
);

/** Either the person's issuer first and a key as the second choice, or only a key; an error if the methods could not be loaded. */
function Methods({ returnTo }: { readonly returnTo: string | undefined }) {
  const { data, isPending, error, refetch } = useQuery(signInMethodsQuery);
  if (isPending) return <Working what="the ways to sign in" />;
  return (
    <>
      {error && (
        <ErrorNote error={error} onRetry={() => void refetch()}>
          <p>The ways to sign in could not be loaded. If you have a key, you can sign in with it.</p>
        </ErrorNote>
      )}
      {data?.person && (
        <>
          <PersonSignIn name={data.person.name} returnTo={returnTo} />
          <div className="flex items-center gap-3 text-muted text-small">
            <hr className="flex-1 border-line" />
            or
            <hr className="flex-1 border-line" />
          </div>
        </>
      )}
      <KeySignIn returnTo={returnTo} isPrimary={!data?.person} />
    </>
  );
}

export function SignIn() {
  const { return_to: returnTo, error } = useSearch({ from: "/sign-in" });
  const [link, setLink] = useState(readSignInLink);
  const problem = signInProblem(error);
  useTabTitle("Sign in");
  return (
    <main className="mx-auto flex min-h-full w-[min(360px,calc(100vw-32px))] flex-col gap-4 pt-[18vh] pb-8">
      <h1 className="flex items-center gap-2 text-title">
        <Icon name="perch" className="size-5" />
        Sign in to Perch
      </h1>
      {problem && link === undefined && (
        <p role="alert" className="rounded border border-warning bg-warning-soft px-3 py-2 text-table">
          {problem}
        </p>
      )}
      {link === undefined ? (
        <Methods returnTo={returnTo} />
      ) : (
        <LinkSignIn link={link} returnTo={returnTo} onGiveUp={() => setLink(undefined)} />
      )}
      <p className="text-muted text-small">
        On your own machine, <code className="font-mono">perch console</code> opens this page signed in. Without a key,
        ask the operator of this installation.
      </p>
    </main>
  );
}
