import type { Agent, AgentAuth } from "@perch/sdk";
import { Field, Select, TextInput } from "../../../parts/field.tsx";
import { OutsideText } from "../../../parts/outside-text.tsx";
import { Section } from "../../../parts/section.tsx";
import type { BlocksProps } from "./block-fields.tsx";

const emptyAuth = {
  jwt: { type: "jwt", secret: "" },
  oauth2: { type: "oauth2", provider: "", clientId: "", scopes: ["read:agents", "write:agents"] },
} as const satisfies Record<string, AgentAuth>;

const Current = ({ auth }: { readonly auth: Agent["auth"] }) => {
  if (auth === null) return <>No user's token is asked for.</>;
  if (auth.type === "jwt") return <>Signed tokens (JWT) are asked for.</>;
  return (
    <>
      Tokens of <OutsideText text={auth.provider} /> for the client <OutsideText text={auth.clientId} /> are asked for.
    </>
  );
};

interface SecretProps {
  readonly label: string;
  readonly hint: string;
  readonly problem: string | undefined;
  readonly value: string;
  readonly onChange: (value: string) => void;
}

const SecretField = ({ label, hint, problem, value, onChange }: SecretProps) => (
  <Field label={label} hint={hint} problem={problem}>
    {(ids) => (
      <TextInput
        {...ids}
        type="password"
        autoComplete="new-password"
        value={value}
        onChange={({ target }) => onChange(target.value)}
      />
    )}
  </Field>
);

interface AuthProps extends Pick<BlocksProps, "onChange" | "problems"> {
  readonly current: Agent["auth"];
  readonly auth: AgentAuth | null | undefined;
}

/** How the agent verifies the user's token. Secrets are written here and never shown again. */
export const AuthFields = ({ current, auth, onChange, problems }: AuthProps) => {
  const set = (change: object) => onChange({ auth: { ...auth, ...change } as AgentAuth });
  const choose = (type: string) => {
    if (type === "jwt" || type === "oauth2") return onChange({ auth: emptyAuth[type] as AgentAuth });
    onChange({ auth: type === "none" ? null : undefined });
  };
  return (
    <Section title="User's token">
      <p className="text-table">
        <Current auth={current} />
      </p>
      <Field
        label="Change to"
        hint="A token in X-User-Token, beside the API key, then identifies the user of a request."
      >
        {(ids) => (
          <Select
            {...ids}
            className="self-start"
            value={auth === undefined ? "keep" : (auth?.type ?? "none")}
            onChange={({ target }) => choose(target.value)}
          >
            <option value="keep">Keep as it is</option>
            {current !== null && <option value="none">No user's token</option>}
            <option value="jwt">Signed tokens (JWT)</option>
            <option value="oauth2">Tokens of an OAuth issuer</option>
          </Select>
        )}
      </Field>
      <div className="flex max-w-md flex-col gap-3">
        {auth?.type === "jwt" && (
          <SecretField
            label="Signing secret"
            hint="HS256, at least 32 bytes: openssl rand -base64 32"
            problem={problems.get("auth.secret")}
            value={auth.secret}
            onChange={(secret) => set({ secret })}
          />
        )}
        {auth?.type === "oauth2" && (
          <>
            <Field label="Issuer" hint="Its https address." problem={problems.get("auth.provider")}>
              {(ids) => (
                <TextInput {...ids} value={auth.provider} onChange={({ target }) => set({ provider: target.value })} />
              )}
            </Field>
            <Field label="Client id" problem={problems.get("auth.clientId")}>
              {(ids) => (
                <TextInput {...ids} value={auth.clientId} onChange={({ target }) => set({ clientId: target.value })} />
              )}
            </Field>
            <SecretField
              label="Client secret"
              hint="Only if the issuer's tokens are opaque."
              problem={problems.get("auth.clientSecret")}
              value={auth.clientSecret ?? ""}
              onChange={(clientSecret) => set({ clientSecret: clientSecret || undefined })}
            />
            <Field
              label="Scopes"
              hint="Separated by spaces. An operation needs the scope of its permission, such as write:agents."
              problem={[...problems].find(([field]) => field.startsWith("auth.scopes"))?.[1]}
            >
              {(ids) => (
                <TextInput
                  {...ids}
                  defaultValue={auth.scopes.join(" ")}
                  onChange={({ target }) => set({ scopes: target.value.split(/\s+/).filter(Boolean) })}
                />
              )}
            </Field>
          </>
        )}
      </div>
    </Section>
  );
};
