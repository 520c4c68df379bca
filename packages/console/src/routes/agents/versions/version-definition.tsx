import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { versionQuery } from "../../../api/versions-queries.ts";
import { Ago } from "../../../parts/ago.tsx";
import { buttonClass } from "../../../parts/button.tsx";
import { ContentView } from "../../../parts/content-view.tsx";
import { CopyButton } from "../../../parts/copy-button.tsx";
import { ErrorNote } from "../../../parts/error-note.tsx";
import { OutsideText } from "../../../parts/outside-text.tsx";
import { Working } from "../../../parts/working.tsx";

interface VersionDefinitionProps {
  readonly agentRef: string;
  readonly version: string;
}

/** The complete definition of a version. */
export function VersionDefinition({ agentRef, version }: VersionDefinitionProps) {
  const { data, error, refetch } = useQuery(versionQuery(agentRef, version));
  return (
    <section aria-labelledby="definition-title" className="flex flex-col gap-3 p-4">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <h2 id="definition-title" className="min-w-0 text-body">
          Definition of <OutsideText text={version} className="font-mono" />
        </h2>
        {data && (
          <span className="inline-flex min-w-0 items-center gap-1 text-muted text-small">
            <Ago at={data.created_at} /> · checksum
            <code className="font-mono">{data.checksum.replace("sha256:", "").slice(0, 8)}</code>
            <CopyButton text={data.checksum} what="the checksum" />
          </span>
        )}
        <Link
          to="/agents/$agent/versions"
          params={{ agent: agentRef }}
          search={(search) => ({ ...search, shown: undefined })}
          replace
          className={buttonClass("quiet", "ml-auto h-7 px-2")}
        >
          Close definition
        </Link>
      </div>
      {error && !data && <ErrorNote error={error} onRetry={() => void refetch()} />}
      {!data && !error && <Working what="the definition" />}
      {data && <ContentView title="Definition" what="the definition" value={data.definition} />}
    </section>
  );
}
