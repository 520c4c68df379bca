import type { Webhook } from "@perch/sdk";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { perch } from "../../../api/perch.ts";
import { Button } from "../../../parts/button.tsx";
import { Dialog } from "../../../parts/dialog.tsx";
import { DialogActions } from "../../../parts/dialog-actions.tsx";
import { formatCount } from "../../../parts/duration.ts";
import { ErrorNote } from "../../../parts/error-note.tsx";
import { Field, Select } from "../../../parts/field.tsx";
import { namedRanges } from "../../../parts/time-range.ts";

interface RedeliverDialogProps {
  readonly webhook: Webhook;
  readonly open: boolean;
  readonly onClose: () => void;
}

function RedeliverForm({ webhook, onClose }: Omit<RedeliverDialogProps, "open">) {
  const [ms, setMs] = useState<number>(namedRanges["24h"].ms);
  const queryClient = useQueryClient();
  const redeliver = useMutation({
    mutationFn: () => perch.webhooks.redeliverFailed(webhook.id, { since: new Date(Date.now() - ms).toISOString() }),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: ["webhooks", "deliveries"] }),
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    redeliver.mutate();
  };
  const { data: outcome } = redeliver;
  return (
    <form onSubmit={submit} className="flex flex-col gap-3">
      <Field label="Failed in the" hint="Events that were delivered or queued again since are left out.">
        {(ids) => (
          <Select {...ids} className="self-start" value={ms} onChange={({ target }) => setMs(Number(target.value))}>
            {Object.values(namedRanges).map((range) => (
              <option key={range.ms} value={range.ms}>
                {range.label.toLowerCase()}
              </option>
            ))}
          </Select>
        )}
      </Field>
      {outcome && (
        <p role="status" className="text-table">
          {outcome.queued === 1 ? "1 event is" : `${formatCount(outcome.queued)} events are`} queued.
          {outcome.has_more && " There are more: redeliver again for the next of them."}
        </p>
      )}
      {redeliver.error && <ErrorNote error={redeliver.error} />}
      <DialogActions>
        <Button kind="quiet" onClick={onClose}>
          {outcome ? "Close" : "Cancel"}
        </Button>
        <Button kind="primary" type="submit" working={redeliver.isPending}>
          Redeliver failed events
        </Button>
      </DialogActions>
    </form>
  );
}

export const RedeliverDialog = ({ open, onClose, webhook }: RedeliverDialogProps) => (
  <Dialog
    open={open}
    onClose={onClose}
    title="Redeliver failed events"
    description="Creates a new delivery for each event that the receiver did not accept. An event keeps its id, so that a receiver can recognise a repeated one."
  >
    <RedeliverForm webhook={webhook} onClose={onClose} />
  </Dialog>
);
