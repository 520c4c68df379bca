import { type FormEvent, useState } from "react";
import { Button } from "../../parts/button.tsx";
import { ErrorNote } from "../../parts/error-note.tsx";
import { Field, TextInput } from "../../parts/field.tsx";
import { useSignIn } from "./use-sign-in.ts";

interface KeySignInProps {
  readonly returnTo: string | undefined;
  /** Whether a key is the primary way to sign in, and not the second choice. */
  readonly isPrimary: boolean;
}

/** The key is sent to the server once and stored nowhere: from then on the browser has a cookie that no script can read. */
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
            // If a key is the only way in, its field is the only thing to fill in.
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
