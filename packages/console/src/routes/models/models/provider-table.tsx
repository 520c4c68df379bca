import type { Provider } from "@perch/sdk";
import { useState } from "react";
import { deleteProvider } from "../../../api/providers-queries.ts";
import { Ago } from "../../../parts/ago.tsx";
import { Button } from "../../../parts/button.tsx";
import { ConfirmDialog } from "../../../parts/confirm-dialog.tsx";
import { OutsideText } from "../../../parts/outside-text.tsx";
import { Cell, RowName, roomyOnly, Table, tightOnly } from "../../../parts/table.tsx";
import { visibleText } from "../../../parts/visible-text.ts";
import { useCan } from "../../../session/session.ts";
import { ChangeProviderDialog } from "./change-provider-dialog.tsx";

const columns = [
  { title: "Name" },
  { title: "API", className: roomyOnly },
  { title: "Address", className: roomyOnly },
  { title: "Models", className: roomyOnly },
  { title: "API key", className: roomyOnly },
  { title: "Changed", className: roomyOnly },
  { title: "Actions", isHidden: true },
];

const keySentence = ({ api_key_set, api_key_secret }: Provider): string => {
  if (api_key_secret !== null) return `from the secret ${api_key_secret}`;
  return api_key_set ? "set" : "none";
};

const addressOf = ({ base_url }: Provider): string => base_url ?? "the provider's public API";

const modelsSentence = ({ models }: Provider): string => (models.length === 0 ? "all" : models.join(", "));

function Row({ provider }: { readonly provider: Provider }) {
  const [open, setOpen] = useState<"change" | "delete">();
  const close = () => setOpen(undefined);
  const { name } = provider;
  return (
    <tr className="hover:bg-sunken">
      <RowName>
        <OutsideText text={name} />
        <div className={`text-muted text-small ${tightOnly}`}>
          {provider.type} at <OutsideText text={addressOf(provider)} />, models:{" "}
          <OutsideText text={modelsSentence(provider)} />, API key {keySentence(provider)}, changed{" "}
          <Ago at={provider.updated_at} />
        </div>
      </RowName>
      <Cell className={`${roomyOnly} whitespace-nowrap`}>{provider.type}</Cell>
      <Cell className={roomyOnly}>
        <OutsideText text={addressOf(provider)} className={provider.base_url === null ? "" : "font-mono text-small"} />
      </Cell>
      <Cell className={roomyOnly}>
        <OutsideText text={modelsSentence(provider)} />
      </Cell>
      <Cell className={roomyOnly}>{keySentence(provider)}</Cell>
      <Cell className={roomyOnly}>
        <Ago at={provider.updated_at} />
      </Cell>
      <Cell className="text-right">
        {useCan("manage") && (
          <span className="inline-flex flex-wrap justify-end">
            <Button kind="quiet" onClick={() => setOpen("change")}>
              Change<span className="sr-only"> provider {name}</span>
            </Button>
            <Button kind="quiet" onClick={() => setOpen("delete")}>
              Delete<span className="sr-only"> provider {name}</span>
            </Button>
          </span>
        )}
        <ChangeProviderDialog open={open === "change"} onClose={close} name={name} />
        <ConfirmDialog
          open={open === "delete"}
          onClose={close}
          title={`Delete ${visibleText(name)}`}
          description={`Its API key is gone. Runs of agents whose model begins with ${visibleText(name)}/ fail at their next model call, unless the installation has a provider of this name.`}
          action="Delete provider"
          kind="danger"
          onConfirm={() => deleteProvider(name)}
        />
      </Cell>
    </tr>
  );
}

export const ProviderTable = ({ providers }: { readonly providers: readonly Provider[] }) => (
  <Table caption="Providers of the organisation" columns={columns}>
    {providers.map((provider) => (
      <Row key={provider.name} provider={provider} />
    ))}
  </Table>
);
