import { useId } from "react";
import { Field, Select, TextInput } from "../../parts/field.tsx";
import { type Permission, permissions } from "../../session/permission-words.ts";
import { useMe } from "../../session/session.ts";
import { type ExpiryChoice, lifetimes, lifetimesUntil } from "./expiry-choice.ts";
import { type Access, mayGive, permissionSentence, type Role, roles } from "./grant.ts";
import { useManageGrantsApprove } from "./use-manage-grants-approve.ts";

const roleSentences: Readonly<Record<Access["role"], string>> = {
  viewer: "Sees everything that is not secret, and changes nothing.",
  developer: "Also changes and deploys agents, and sends them messages.",
  admin: "Everything except deciding on approvals, which is in no role.",
  own: "Exactly what is chosen here.",
};

interface FieldProps<T> {
  readonly value: T;
  readonly onChange: (value: T) => void;
  readonly problem?: string | undefined;
}

export const NameField = ({ value, onChange, problem }: FieldProps<string>) => (
  <Field label="Name" hint="Who or what uses the key, so that it can be recognised in a year." problem={problem}>
    {(ids) => (
      <TextInput {...ids} required maxLength={100} value={value} onChange={({ target }) => onChange(target.value)} />
    )}
  </Field>
);

interface PermissionsFieldProps {
  readonly chosen: readonly Permission[];
  readonly onChange: (chosen: readonly Permission[]) => void;
}

function PermissionsField({ chosen, onChange }: PermissionsFieldProps) {
  const { key } = useMe();
  const manageGrantsApprove = useManageGrantsApprove();
  const id = useId();
  const toggle = (permission: Permission, isChosen: boolean) =>
    onChange(isChosen ? [...chosen, permission] : chosen.filter((other) => other !== permission));
  return (
    <fieldset className="flex flex-col gap-1">
      <legend className="mb-1 font-medium text-table">Permissions</legend>
      {permissions
        .filter((permission) => mayGive(key, permission, manageGrantsApprove) || chosen.includes(permission))
        .map((permission) => (
          <div key={permission} className="grid grid-cols-[auto_5.5rem_1fr] items-baseline gap-x-2 text-table">
            <input
              type="checkbox"
              id={`${id}-${permission}`}
              checked={chosen.includes(permission)}
              onChange={({ target }) => toggle(permission, target.checked)}
              aria-describedby={`${id}-${permission}-hint`}
              className="translate-y-0.5 accent-accent"
            />
            <label htmlFor={`${id}-${permission}`} className="font-mono">
              {permission}
            </label>
            <span id={`${id}-${permission}-hint`} className="text-muted text-small">
              {permissionSentence(permission)}
            </span>
          </div>
        ))}
    </fieldset>
  );
}

/** A role, or single permissions. Only those that the caller may grant are offered. */
export function AccessField({ value, onChange, problem }: FieldProps<Access>) {
  const { key } = useMe();
  const isOffered = (role: Role) =>
    role === value.role || roles[role].every((permission) => key.permissions.includes(permission));
  const choose = (role: Access["role"]) =>
    onChange({ role, permissions: role === "own" ? value.permissions : roles[role] });
  return (
    <>
      <Field label="Role" hint={roleSentences[value.role]} problem={problem}>
        {(ids) => (
          <Select {...ids} value={value.role} onChange={({ target }) => choose(target.value as Access["role"])}>
            {(Object.keys(roles) as Role[]).filter(isOffered).map((role) => (
              <option key={role}>{role}</option>
            ))}
            <option value="own">chosen permissions</option>
          </Select>
        )}
      </Field>
      {value.role === "own" && (
        <PermissionsField
          chosen={value.permissions}
          onChange={(chosen) => onChange({ role: "own", permissions: chosen })}
        />
      )}
    </>
  );
}

interface ExpiryFieldProps extends FieldProps<ExpiryChoice> {
  /** The label of the first choice of an existing key, which changes nothing. */
  readonly keep?: string;
}

export function ExpiryField({ value, onChange, problem, keep }: ExpiryFieldProps) {
  const callerEnds = useMe().key.expires_at;
  return (
    <Field
      label="Expires"
      hint={callerEnds === null ? "A key that expires is refused from then on." : "Not after your own key does."}
      problem={problem}
    >
      {(ids) => (
        <div className="flex flex-wrap gap-2">
          <Select {...ids} value={value.choice} onChange={({ target }) => onChange({ ...value, choice: target.value })}>
            {keep !== undefined && <option value="keep">{keep}</option>}
            {callerEnds === null && <option value="never">never</option>}
            {lifetimesUntil(callerEnds, new Date()).map((days) => (
              <option key={days} value={days}>
                in {lifetimes[days as keyof typeof lifetimes]}
              </option>
            ))}
            <option value="at">at a time of its own</option>
          </Select>
          {value.choice === "at" && (
            <TextInput
              aria-label="When it expires"
              type="datetime-local"
              required
              className="w-auto!"
              value={value.at}
              onChange={({ target }) => onChange({ ...value, at: target.value })}
            />
          )}
        </div>
      )}
    </Field>
  );
}
