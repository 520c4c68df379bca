import { type FormEvent, useState } from "react";
import { Button } from "../../parts/button.tsx";
import { ErrorNote } from "../../parts/error-note.tsx";
import { Field, TextInput } from "../../parts/field.tsx";
import { useSignIn } from "./use-sign-in.ts";

interface KeySignInProps {
  readonly returnTo: string | undefined;
  /** Whether it is the first thing to do here, and not the second choice. */
  readonly isPrimary: boolean;
}

/** The key goes to the server once and is kept nowhere: from then on the browser has a cookie that no script can read. */
export function KeySignIn({ returnTo, isPrimary }: KeySignInProps) {
  const [key, setKey] = useState("");
  const signIn = useSignIn(returnTo);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const given = key.trim();
    if (given !== "") signIn.mutate({ api_key: given }, { onSuccess: () => setKey("") });
  };
  return (
    <form onSubmit={submit} className="flex flex-col gap-2">
      <Field label="API key" hint="It is exchanged for a session of 12 hours and not kept in this browser.">
        {(ids) => (
          <TextInput
            {...ids}
            // Where a key is the only way in, its field is all that there is to do.
            autoFocus={isPrimary}
            type="password"
            autoComplete="off"
            placeholder="perch_…"
            value={key}
            onChange={(event) => setKey(event.target.value)}
          />
        )}
      </Field>
      {signIn.isError && <ErrorNote error={signIn.error} />}
      <Button
        type="submit"
        kind={isPrimary ? "primary" : "plain"}
        disabled={key.trim() === ""}
        working={signIn.isPending || signIn.isSuccess}
      >
        Sign in with this key
      </Button>
    </form>
  );
}
