import type { Connection } from "@perch/sdk";
import { Link } from "@tanstack/react-router";
import { Ago } from "../../../parts/ago.tsx";
import { Fact, Facts } from "../../../parts/facts.tsx";
import { IdText } from "../../../parts/id-text.tsx";
import { OutsideText } from "../../../parts/outside-text.tsx";
import { textLinkClass } from "../../../parts/text-link.ts";
import { ConnectionState } from "../connection-state.tsx";
import { revocationSentences, statusSentences } from "./connection-sentences.ts";

const When = ({ at, none }: { readonly at: string | null; readonly none: string }) =>
  at === null ? none : <Ago at={at} />;

interface ConnectionFactsProps {
  readonly agent: string;
  readonly connection: Connection;
}

export const ConnectionFacts = ({ agent, connection }: ConnectionFactsProps) => (
  <>
    <p className="text-table">
      {statusSentences[connection.status]}
      {connection.reason !== null && (
        <>
          {" "}
          <OutsideText text={connection.reason} />
        </>
      )}
    </p>
    <Facts layout="list">
      <Fact name="Status">
        <ConnectionState status={connection.status} />
      </Fact>
      <Fact name="User">
        <Link to="/runs" search={{ agent, user: connection.user_id }} className={textLinkClass}>
          <OutsideText text={connection.user_id} />
        </Link>
      </Fact>
      <Fact name="Agent">
        <Link to="/agents/$agent" params={{ agent }} className={textLinkClass}>
          <OutsideText text={agent} />
        </Link>
      </Fact>
      <Fact name="Tool">
        <OutsideText text={connection.tool} />
      </Fact>
      <Fact name="Tokens are sent to">
        <OutsideText text={connection.sent_to} className="font-mono text-small" />
      </Fact>
      <Fact name="Provider">
        {connection.issuer === null ? (
          "known after the first consent"
        ) : (
          <OutsideText text={connection.issuer} className="font-mono text-small" />
        )}
      </Fact>
      <Fact name="Scopes">
        <OutsideText text={connection.scopes.join(" ") || "–"} className="font-mono text-small" />
      </Fact>
      <Fact name="Connected">
        <When at={connection.connected_at} none="not yet" />
      </Fact>
      <Fact name="Last used">
        <When at={connection.last_used_at} none="never" />
      </Fact>
      <Fact name="Tokens refreshed">
        <When at={connection.last_refreshed_at} none="never" />
      </Fact>
      {connection.revoked_at !== null && (
        <Fact name="Revoked">
          <Ago at={connection.revoked_at} />
          {connection.provider_revocation !== null && (
            <span className="text-muted"> {revocationSentences[connection.provider_revocation]}</span>
          )}
        </Fact>
      )}
      <Fact name="Created">
        <Ago at={connection.created_at} />
      </Fact>
      <Fact name="Id">
        <IdText id={connection.id} what="the id of the connection" />
      </Fact>
    </Facts>
  </>
);
