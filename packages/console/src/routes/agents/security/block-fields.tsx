import { Check } from "../../../parts/check.tsx";
import { Field, TextArea, TextInput } from "../../../parts/field.tsx";
import { Section } from "../../../parts/section.tsx";
import type { SecurityDraft } from "./security-draft.ts";

export interface BlocksProps {
  readonly draft: SecurityDraft;
  readonly onChange: (change: Partial<SecurityDraft>) => void;
  /** By the path of the field, such as `security.rateLimit.window`. */
  readonly problems: ReadonlyMap<string, string>;
}

const Https = ({ draft: { enforceHttps, hsts }, onChange, problems }: BlocksProps) => (
  <Section title="HTTPS">
    <Check
      label="Refuse plain HTTP"
      hint="Requests without TLS are refused, and never redirected."
      checked={enforceHttps}
      onChange={(checked) => onChange({ enforceHttps: checked })}
    />
    <Check
      label="Send Strict-Transport-Security"
      hint="Browsers then use only HTTPS for the time that it names. It is sent over HTTPS only."
      checked={hsts.enabled}
      onChange={(enabled) => onChange({ hsts: { ...hsts, enabled } })}
    />
    {hsts.enabled && (
      <Field label="For how many seconds" problem={problems.get("security.hsts.maxAge")}>
        {(ids) => (
          <TextInput
            {...ids}
            type="number"
            min={0}
            className="max-w-40"
            value={hsts.maxAge}
            onChange={({ target }) => onChange({ hsts: { ...hsts, maxAge: Number(target.value) } })}
          />
        )}
      </Field>
    )}
  </Section>
);

const problemsUnder = (problems: BlocksProps["problems"], path: string): string | undefined =>
  [...problems].find(([field]) => field.startsWith(path))?.[1];

const Addresses = ({ draft: { ipWhitelist }, onChange, problems }: BlocksProps) => (
  <Section title="Addresses">
    <Check
      label="Accept only these addresses"
      checked={ipWhitelist.enabled}
      onChange={(enabled) => onChange({ ipWhitelist: { ...ipWhitelist, enabled } })}
    />
    {ipWhitelist.enabled && (
      <Field
        label="Addresses and ranges"
        hint="One on each line: 203.0.113.7, 10.0.0.0/8 or 2001:db8::/32. An empty list refuses every caller."
        problem={problemsUnder(problems, "security.ipWhitelist")}
      >
        {(ids) => (
          <TextArea
            {...ids}
            spellCheck={false}
            className="max-w-md font-mono text-small"
            defaultValue={ipWhitelist.addresses.join("\n")}
            onChange={({ target }) =>
              onChange({ ipWhitelist: { enabled: true, addresses: target.value.split(/[\s,]+/).filter(Boolean) } })
            }
          />
        )}
      </Field>
    )}
  </Section>
);

const RateLimit = ({ draft: { rateLimit }, onChange, problems }: BlocksProps) => (
  <Section title="Rate limit">
    <Check
      label="Limit the requests of this agent"
      hint="In addition to the organisation's limit. Requests above it are answered with 429."
      checked={rateLimit.enabled}
      onChange={(enabled) => onChange({ rateLimit: { ...rateLimit, enabled } })}
    />
    {rateLimit.enabled && (
      <div className="flex flex-wrap gap-4">
        <Field label="Requests" problem={problems.get("security.rateLimit.requests")}>
          {(ids) => (
            <TextInput
              {...ids}
              type="number"
              min={1}
              className="max-w-32"
              value={rateLimit.requests}
              onChange={({ target }) => onChange({ rateLimit: { ...rateLimit, requests: Number(target.value) } })}
            />
          )}
        </Field>
        <Field label="In" hint="Such as 30s, 1m or 1h." problem={problems.get("security.rateLimit.window")}>
          {(ids) => (
            <TextInput
              {...ids}
              className="max-w-32"
              value={rateLimit.window}
              onChange={({ target }) => onChange({ rateLimit: { ...rateLimit, window: target.value } })}
            />
          )}
        </Field>
      </div>
    )}
  </Section>
);

const secondFactorOperations = [
  ["update", "Changes", "Updating, deploying, pausing, and every other change that does not delete."],
  ["delete", "Deletions", "Deleting the agent and what belongs to it."],
] as const;

const SecondFactor = ({ draft: { mfa }, onChange }: BlocksProps) => (
  <Section title="Second factor">
    <Check
      label="Ask for a second factor"
      hint="The second factor of the API key. Changing these settings then needs one too. Running the agent does not."
      checked={mfa.enabled}
      onChange={(enabled) =>
        onChange({ mfa: { enabled, operations: mfa.operations.length > 0 ? mfa.operations : ["update", "delete"] } })
      }
    />
    {mfa.enabled && (
      <div className="flex flex-col gap-2 pl-6">
        {secondFactorOperations.map(([name, label, hint]) => (
          <Check
            key={name}
            label={label}
            hint={hint}
            checked={mfa.operations.includes(name)}
            onChange={(checked) =>
              onChange({
                mfa: {
                  ...mfa,
                  operations: [...mfa.operations.filter((one) => one !== name), ...(checked ? [name] : [])],
                },
              })
            }
          />
        ))}
      </div>
    )}
  </Section>
);

const certificatePaths = [
  ["caCert", "Authorities", "File of the certificate authorities that may issue client certificates."],
  ["clientCert", "Client certificate", "For the agent's clients: the server does not read it."],
  ["clientKey", "Client key", "For the agent's clients: the server does not read it."],
] as const;

const Certificates = ({ draft: { mtls }, onChange, problems }: BlocksProps) => (
  <Section title="Client certificates">
    <Check
      label="Require a client certificate (mutual TLS)"
      checked={mtls.enabled}
      onChange={(enabled) => onChange({ mtls: { ...mtls, enabled } })}
    />
    {mtls.enabled &&
      certificatePaths.map(([name, label, hint]) => (
        <div key={name} className="max-w-md">
          <Field label={label} hint={hint} problem={problems.get(`security.mtls.${name}`)}>
            {(ids) => (
              <TextInput
                {...ids}
                value={mtls[name]}
                placeholder="/etc/perch/certificates/clients-ca.crt"
                onChange={({ target }) => onChange({ mtls: { ...mtls, [name]: target.value } })}
              />
            )}
          </Field>
        </div>
      ))}
  </Section>
);

const floorLists = [
  [
    "tools",
    "Tools",
    "One on each line: an HTTP tool, an MCP server for all of its tools, or a server's own name of a tool.",
  ],
  ["hosts", "Hosts", "One on each line, such as api.stripe.com: every call of a tool to it, on any port."],
] as const;

const Approvals = ({ draft: { approvals }, onChange, problems }: BlocksProps) => (
  <Section title="Approvals">
    <p className="text-table">A person approves every call of these, whatever a version of the agent says.</p>
    {floorLists.map(([name, label, hint]) => (
      <Field key={name} label={label} hint={hint} problem={problemsUnder(problems, `security.approvals.${name}`)}>
        {(ids) => (
          <TextArea
            {...ids}
            spellCheck={false}
            className="max-w-md font-mono text-small"
            defaultValue={(approvals[name] ?? []).join("\n")}
            onChange={({ target }) =>
              onChange({ approvals: { ...approvals, [name]: target.value.split(/[\s,]+/).filter(Boolean) } })
            }
          />
        )}
      </Field>
    ))}
  </Section>
);

/** Every block of `security`. Each one can only tighten the installation's own rules. */
export const SecurityBlocks = (props: BlocksProps) => (
  <>
    <Https {...props} />
    <Addresses {...props} />
    <RateLimit {...props} />
    <SecondFactor {...props} />
    <Certificates {...props} />
    <Approvals {...props} />
  </>
);
