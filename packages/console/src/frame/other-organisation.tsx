import { useMutation } from "@tanstack/react-query";
import { Button, buttonClass } from "../parts/button.tsx";
import { EmptyState } from "../parts/empty-state.tsx";
import { ErrorNote } from "../parts/error-note.tsx";
import { OutsideText } from "../parts/outside-text.tsx";
import { signOut, switchAddress } from "../session/leave.ts";
import { useMe } from "../session/session.ts";

/**
 * The same page of the current organisation. It is loaded anew, because parts of a page still have the state of the previous organisation.
 */
const addressFor = (organisationId: string): string => {
  const url = new URL(location.href);
  url.searchParams.set("org", organisationId);
  return url.href;
};

/**
 * Shown in place of the page, because its object is not visible from this organisation and an error would not explain why. `id` is the
 * organisation in the address.
 */
export function OtherOrganisation({ id }: { readonly id: string }) {
  const { organisation, session } = useMe();
  const known = session?.organisations.find((each) => each.id === id);
  const here = `${location.pathname}${location.search}`;
  const leave = useMutation({ mutationFn: () => signOut(here) });
  return (
    <EmptyState heading="h1" title="This link is about another organisation">
      <p className="text-muted">
        It is about {known ? <OutsideText text={known.name} /> : <code className="font-mono text-small">{id}</code>}.
        You are signed in to <OutsideText text={organisation.name} />.
      </p>
      <div className="flex flex-wrap gap-2">
        {session?.person && known ? (
          <a href={switchAddress(id)} className={buttonClass("primary", "min-w-0 max-w-full")}>
            Switch to <OutsideText text={known.name} className="truncate" />
          </a>
        ) : (
          session && (
            <Button kind="primary" working={leave.isPending} onClick={() => leave.mutate()}>
              Sign in to that organisation
            </Button>
          )
        )}
        <a href={addressFor(organisation.id)} className={buttonClass("plain", "min-w-0 max-w-full")}>
          Show this page for <OutsideText text={organisation.name} className="truncate" />
        </a>
      </div>
      {leave.isError && <ErrorNote error={leave.error} />}
    </EmptyState>
  );
}
