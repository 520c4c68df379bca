import type { AuditEntry } from "@perch/sdk";
import { exactTime } from "../../../parts/ago.tsx";
import { Fact, Facts } from "../../../parts/facts.tsx";
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
    <Facts layout="list">
      <Fact name="Operation">
        <code className="font-mono text-small">{entry.operation}</code>
      </Fact>
      {reason !== undefined && (
        <Fact name="Refused with">
          <code className="font-mono text-small">{reason}</code>
        </Fact>
      )}
      {fields.length > 0 && (
        <Fact name="Fields">
          <OutsideText text={fields.join(", ")} className="font-mono text-small" />
        </Fact>
      )}
      <Fact name="Time">{exactTime(new Date(entry.created_at))}</Fact>
      <Fact name="Authenticated by">{actors[entry.actor]}</Fact>
      {entry.user_id !== null && (
        <Fact name="User">
          <OutsideText text={entry.user_id} />
        </Fact>
      )}
      {entry.key_id !== null && (
        <Fact name="Key">
          <IdText id={entry.key_id} what="the key's id" />
        </Fact>
      )}
      {entry.resource !== null && (
        <Fact name="Resource">
          <OutsideText text={entry.resource} className="font-mono text-small" />
        </Fact>
      )}
      {entry.session_id !== null && (
        <Fact name="Console session">
          <IdText id={entry.session_id} what="the session's id" />
        </Fact>
      )}
      {entry.correlation_id !== null && (
        <Fact name="Correlation id">
          <IdText id={entry.correlation_id} what="the correlation id" />
        </Fact>
      )}
      <Fact name="Entry">
        <IdText id={entry.id} what="the entry's id" />
      </Fact>
    </Facts>
  );
};
