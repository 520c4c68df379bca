import { type MfaEnrolment, PerchError } from "@perch/sdk";
import { useMutation } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { confirmSecondFactor, enrolSecondFactor } from "../../../api/second-factor-queries.ts";
import { Button } from "../../../parts/button.tsx";
import { CopyButton } from "../../../parts/copy-button.tsx";
import { ErrorNote } from "../../../parts/error-note.tsx";
import { Field, TextInput } from "../../../parts/field.tsx";
import { Section } from "../../../parts/section.tsx";
import { ShownOnce } from "../../../parts/shown-once.tsx";
import { LeaveGuard } from "../../../session/leave-guard.tsx";
import { CodeForm } from "./code-form.tsx";
import { QrCode } from "./qr-code.tsx";

const isDemanded = (error: unknown): boolean => error instanceof PerchError && error.status === 403;

function Begin({ onBegun }: { readonly onBegun: (enrolment: MfaEnrolment) => void }) {
  const [token, setToken] = useState("");
  const [hasToken, setHasToken] = useState(false);
  const begin = useMutation({
    // Only the page stores the values that are shown once; they are not cached.
    mutationFn: async () => onBegun(await enrolSecondFactor(token.trim())),
    onError: (error) => isDemanded(error) && setHasToken(true),
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    begin.mutate();
  };
  return (
    <form onSubmit={submit} className="flex flex-col items-start gap-3">
      {hasToken && (
        <div className="w-full max-w-md">
          <Field
            label="Enrolment token"
            hint="Needed if the security settings demand a second factor: an admin creates a token for this key on the key's page."
          >
            {(ids) => (
              <TextInput
                {...ids}
                type="password"
                autoComplete="off"
                value={token}
                onChange={({ target }) => setToken(target.value)}
              />
            )}
          </Field>
        </div>
      )}
      {begin.error && (
        <ErrorNote error={begin.error}>
          {isDemanded(begin.error) && (
            <p className="mt-1">
              If no admin key has a second factor yet, the operator makes the token:{" "}
              <code className="font-mono [overflow-wrap:anywhere]">perch-server begin-mfa</code>.
            </p>
          )}
        </ErrorNote>
      )}
      <div className="flex flex-wrap gap-2">
        <Button kind="primary" type="submit" working={begin.isPending}>
          Enrol second factor
        </Button>
        {!hasToken && (
          <Button kind="quiet" onClick={() => setHasToken(true)}>
            Use an enrolment token
          </Button>
        )}
      </div>
    </form>
  );
}

const RecoveryCodes = ({ codes }: { readonly codes: readonly string[] }) => (
  <div className="flex flex-col gap-1">
    <div className="flex items-center gap-1">
      <h3 className="font-medium text-table">Recovery codes</h3>
      <CopyButton text={codes.join("\n")} what="the recovery codes" />
    </div>
    <p className="text-table">Use them if the device is lost. Each works once. They are not shown again.</p>
    <ul className="grid max-w-md grid-cols-2 gap-x-6 rounded border border-accent bg-accent-soft px-3 py-2 font-mono text-small">
      {codes.map((code) => (
        <li key={code} className="select-all">
          {code}
        </li>
      ))}
    </ul>
  </div>
);

interface ConfirmProps {
  readonly enrolment: MfaEnrolment;
  readonly onConfirmed: () => Promise<unknown>;
}

const Confirm = ({ enrolment, onConfirmed }: ConfirmProps) => (
  <ol className="flex list-decimal flex-col gap-4 pl-5 text-table">
    <li>
      <div className="flex flex-col gap-2">
        <p>Scan this with an authenticator app, or give the app the secret: TOTP, six digits, 30 seconds.</p>
        <QrCode text={enrolment.otpauth_url} label="QR code of the secret" />
        <ShownOnce what="the secret" value={enrolment.secret} />
        <p>Some apps take it as an address:</p>
        <ShownOnce what="the address" value={enrolment.otpauth_url} />
      </div>
    </li>
    <li>
      <RecoveryCodes codes={enrolment.recovery_codes} />
    </li>
    <li>
      <CodeForm
        label="Code from the app"
        hint="Six digits. The second factor is active once it is confirmed."
        action="Confirm second factor"
        onSubmit={async (code) => {
          await confirmSecondFactor(code);
          await onConfirmed();
        }}
      />
    </li>
  </ol>
);

/** The secret, the recovery codes, and the code that proves that the app has the secret. */
export function Enrolment({ onConfirmed }: { readonly onConfirmed: () => Promise<unknown> }) {
  const [enrolment, setEnrolment] = useState<MfaEnrolment>();
  return (
    <Section title="Enrol">
      <LeaveGuard
        isDirty={enrolment !== undefined}
        description="The secret and the recovery codes are not shown again. If you leave before the second factor is confirmed, enrol anew."
      />
      {enrolment ? (
        <Confirm enrolment={enrolment} onConfirmed={onConfirmed} />
      ) : (
        <>
          <p className="text-table">
            With a second factor, changes to API keys made with this key need a code from an app, and so do changes of
            agents whose security settings ask for one. A stolen key is then not enough to make them.
          </p>
          <Begin onBegun={setEnrolment} />
        </>
      )}
    </Section>
  );
}
