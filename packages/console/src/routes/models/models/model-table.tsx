import type { ModelEntry } from "@perch/sdk";
import { CopyButton } from "../../../parts/copy-button.tsx";
import { OutsideText } from "../../../parts/outside-text.tsx";
import { Cell, RowName, roomyOnly, Table, tightOnly } from "../../../parts/table.tsx";
import { visibleText } from "../../../parts/visible-text.ts";

const columns = [
  { title: "Model", className: "@2xl:w-[40%]" },
  { title: "Provider", className: roomyOnly },
  { title: "Comes from", className: roomyOnly },
];

const sources: Readonly<Record<ModelEntry["source"], string>> = {
  "built-in": "built into Perch, read-only",
  installation: "the installation, read-only",
  organisation: "your organisation",
};

const Row = ({ model: { id, provider, source } }: { readonly model: ModelEntry }) => (
  <tr className="hover:bg-sunken">
    <RowName>
      <span className="inline-flex max-w-full items-center gap-0.5">
        <OutsideText text={id} className="min-w-0 font-mono text-small" />
        {!id.endsWith("/*") && <CopyButton text={id} what={`the model ${visibleText(id)}`} />}
      </span>
      {id.endsWith("/*") && <span className="ml-2 text-muted text-small">all models of the provider</span>}
      <div className={`text-muted text-small ${tightOnly}`}>{sources[source]}</div>
    </RowName>
    <Cell className={roomyOnly}>
      <OutsideText text={provider} />
    </Cell>
    <Cell className={`${roomyOnly} ${source === "organisation" ? "" : "text-muted"}`}>{sources[source]}</Cell>
  </tr>
);

export const ModelTable = ({ models }: { readonly models: readonly ModelEntry[] }) => (
  <Table caption="Models that agents can use" columns={columns}>
    {models.map((model) => (
      <Row key={`${model.source} ${model.id}`} model={model} />
    ))}
  </Table>
);
