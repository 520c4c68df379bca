import type { AuditEntry } from "@perch/sdk";
import { exactTime } from "../../../parts/ago.tsx";
import { FactLine, FactList } from "../../../parts/fact-list.tsx";
import { IdText } from "../../../parts/id-text.tsx";
import { OutsideText } from "../../../parts/outside-text.tsx";

const actors: Record<AuditEntry["actor"], string> = {
  key: "an API key",
  oauth: "an API key and a user's OAuth token",
  jwt: "an API key and a user's signed token",
  person: "a person who signed in to the console",
  operator: "a command on the server",
  system: "Perch itself",
  public: "nothing",
};

/** What else is known about an entry. Fields are named, never their values. */
export const EntryDetails = ({ entry }: { readonly entry: AuditEntry }) => {
  const { fields = [], reason } = entry.details;
  return (
    <FactList>
      <FactLine name="Operation">
        <code className="font-mono text-small">{entry.operation}</code>
      </FactLine>
      {reason !== undefined && (
        <FactLine name="Refused with">
          <code className="font-mono text-small">{reason}</code>
        </FactLine>
      )}
      {fields.length > 0 && (
        <FactLine name="Fields">
          <OutsideText text={fields.join(", ")} className="font-mono text-small" />
        </FactLine>
      )}
      <FactLine name="Time">{exactTime(new Date(entry.created_at))}</FactLine>
      <FactLine name="Authenticated by">{actors[entry.actor]}</FactLine>
      {entry.user_id !== null && (
        <FactLine name="User">
          <OutsideText text={entry.user_id} />
        </FactLine>
      )}
      {entry.key_id !== null && (
        <FactLine name="Key">
          <IdText id={entry.key_id} what="the key's id" />
        </FactLine>
      )}
      {entry.resource !== null && (
        <FactLine name="Resource">
          <OutsideText text={entry.resource} className="font-mono text-small" />
        </FactLine>
      )}
      {entry.session_id !== null && (
        <FactLine name="Console session">
          <IdText id={entry.session_id} what="the session's id" />
        </FactLine>
      )}
      {entry.correlation_id !== null && (
        <FactLine name="Correlation id">
          <IdText id={entry.correlation_id} what="the correlation id" />
        </FactLine>
      )}
      <FactLine name="Entry">
        <IdText id={entry.id} what="the entry's id" />
      </FactLine>
    </FactList>
  );
};
