import type { Connection } from "@perch/sdk";
import { Link } from "@tanstack/react-router";
import { Ago } from "../../../parts/ago.tsx";
import { FactLine, FactList } from "../../../parts/fact-list.tsx";
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
    <FactList>
      <FactLine name="Status">
        <ConnectionState status={connection.status} />
      </FactLine>
      <FactLine name="User">
        <Link to="/runs" search={{ agent, user: connection.user_id }} className={textLinkClass}>
          <OutsideText text={connection.user_id} />
        </Link>
      </FactLine>
      <FactLine name="Agent">
        <Link to="/agents/$agent" params={{ agent }} className={textLinkClass}>
          <OutsideText text={agent} />
        </Link>
      </FactLine>
      <FactLine name="Tool">
        <OutsideText text={connection.tool} />
      </FactLine>
      <FactLine name="Tokens are sent to">
        <OutsideText text={connection.sent_to} className="font-mono text-small" />
      </FactLine>
      <FactLine name="Provider">
        {connection.issuer === null ? (
          "known after the first consent"
        ) : (
          <OutsideText text={connection.issuer} className="font-mono text-small" />
        )}
      </FactLine>
      <FactLine name="Scopes">
        <OutsideText text={connection.scopes.join(" ") || "–"} className="font-mono text-small" />
      </FactLine>
      <FactLine name="Connected">
        <When at={connection.connected_at} none="not yet" />
      </FactLine>
      <FactLine name="Last used">
        <When at={connection.last_used_at} none="never" />
      </FactLine>
      <FactLine name="Tokens refreshed">
        <When at={connection.last_refreshed_at} none="never" />
      </FactLine>
      {connection.revoked_at !== null && (
        <FactLine name="Revoked">
          <Ago at={connection.revoked_at} />
          {connection.revoked_at_provider !== null && (
            <span className="text-muted"> {revocationSentences[connection.revoked_at_provider]}</span>
          )}
        </FactLine>
      )}
      <FactLine name="Created">
        <Ago at={connection.created_at} />
      </FactLine>
      <FactLine name="Id">
        <IdText id={connection.id} what="the id of the connection" />
      </FactLine>
    </FactList>
  </>
);
