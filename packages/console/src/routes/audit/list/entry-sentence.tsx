import type { AuditEntry } from "@perch/sdk";
import { Link } from "@tanstack/react-router";
import { OutsideText } from "../../../parts/outside-text.tsx";
import { textLinkClass } from "../../../parts/text-link.ts";
import { EntryLink } from "./entry-link.tsx";
import { sentenceOf } from "./entry-phrase.ts";

/** How ids are told by name, where a name is known. */
export interface Names {
  readonly ofKey: (id: string | null) => string;
  readonly ofAgent: (id: string) => string;
}

/** Who it was: a person, a user with a key, a key by its name, a command on the server, or Perch itself. */
export function Actor({ entry, names }: { readonly entry: AuditEntry; readonly names: Names }) {
  const { actor, person, user_id, key_id } = entry;
  if (actor === "operator") return <>An operator</>;
  if (actor === "system") return <>Perch</>;
  if (person !== null) return <OutsideText text={person} />;
  if (key_id === null) return <>Somebody without a key</>;
  const key = (
    <Link to="/keys/$key" params={{ key: key_id }} className={textLinkClass}>
      <OutsideText text={names.ofKey(key_id)} />
    </Link>
  );
  if (user_id === null) return <>The key {key}</>;
  return (
    <>
      <OutsideText text={user_id} /> with the key {key}
    </>
  );
}

const isId = (text: string): boolean => /^[a-z]+_[0-9a-z]{26}$/.test(text);

const Resource = ({ text }: { readonly text: string }) => (
  <OutsideText text={text} className={isId(text) ? "font-mono text-small" : ""} />
);

const nameOfResource = ({ resource_type }: AuditEntry, id: string, names: Names): string => {
  if (resource_type === "agent") return names.ofAgent(id);
  return resource_type === "key" ? names.ofKey(id) : id;
};

/** "The key deploy bot updated the agent support." */
export function EntrySentence({ entry, names }: { readonly entry: AuditEntry; readonly names: Names }) {
  const { did, what, resource, ofAgent, tail } = sentenceOf(entry);
  return (
    <>
      <Actor entry={entry} names={names} /> {did} {what}
      {resource !== undefined && (
        <>
          {" "}
          <EntryLink entry={entry}>
            <Resource text={nameOfResource(entry, resource, names)} />
          </EntryLink>
        </>
      )}
      {ofAgent !== undefined && (
        <>
          {" of "}
          <Link to="/agents/$agent" params={{ agent: ofAgent }} className={textLinkClass}>
            <Resource text={names.ofAgent(ofAgent)} />
          </Link>
        </>
      )}
      {tail !== undefined && ` ${tail}`}
    </>
  );
}
