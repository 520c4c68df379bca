import { useQuery } from "@tanstack/react-query";
import { useNavigate, useParams } from "@tanstack/react-router";
import { isNotFound } from "../../api/is-not-found.ts";
import { keyQuery } from "../../api/keys-queries.ts";
import { keepSearch } from "../../parts/change-search.ts";
import { DetailPane } from "../../parts/detail-pane.tsx";
import { EmptyState } from "../../parts/empty-state.tsx";
import { ErrorNote } from "../../parts/error-note.tsx";
import { OutsideText } from "../../parts/outside-text.tsx";
import { Working } from "../../parts/working.tsx";
import { KeyActions } from "./key/key-actions.tsx";
import { KeyFacts } from "./key/key-facts.tsx";

const NoKey = ({ id }: { readonly id: string }) => (
  <EmptyState title="There is no such key">
    <p>
      No key <OutsideText text={id} className="font-mono text-table" /> can be reached. The id may belong to another
      organisation, or to an agent that you may not see.
    </p>
  </EmptyState>
);

/** One key: its permissions, its origin, and its actions. */
export function KeyPage() {
  const { key: id } = useParams({ from: "/signed-in/keys/$key" });
  const navigate = useNavigate();
  const { data: key, error, refetch } = useQuery(keyQuery(id));
  const isMissing = isNotFound(error);
  const close = () => void navigate({ to: "/keys", search: keepSearch(), resetScroll: false });
  return (
    <DetailPane
      what="the key"
      title={key ? <OutsideText text={key.name} /> : "Key"}
      actions={key && <KeyActions key={id} apiKey={key} />}
      onClose={close}
    >
      {key && <KeyFacts apiKey={key} />}
      {!key && !error && <Working what="the key" />}
      {isMissing && <NoKey id={id} />}
      {error && !isMissing && <ErrorNote error={error} onRetry={() => void refetch()} />}
    </DetailPane>
  );
}
