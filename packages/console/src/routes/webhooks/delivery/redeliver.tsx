import type { Delivery } from "@perch/sdk";
import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { perch } from "../../../api/perch.ts";
import { Button } from "../../../parts/button.tsx";
import { keepSearch } from "../../../parts/change-search.ts";
import { ConfirmDialog } from "../../../parts/confirm-dialog.tsx";

/** Sends an event again, and opens the new delivery. */
export function Redeliver({ delivery }: { readonly delivery: Delivery }) {
  const [isOpen, setIsOpen] = useState(false);
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  return (
    <>
      <Button onClick={() => setIsOpen(true)}>Redeliver event</Button>
      <ConfirmDialog
        open={isOpen}
        onClose={() => setIsOpen(false)}
        title="Redeliver event"
        description="The receiver gets the event again, with the same id, in a new delivery. A receiver that ignores the id processes the event twice."
        action="Redeliver event"
        onConfirm={async () => {
          const again = await perch.deliveries.redeliver(delivery.webhook_id, delivery.id);
          void queryClient.invalidateQueries({ queryKey: ["webhooks", "deliveries"] });
          await navigate({
            to: "/webhooks/$webhook/deliveries/$delivery",
            params: { webhook: delivery.webhook_id, delivery: again.id },
            search: keepSearch(),
            resetScroll: false,
          });
        }}
      />
    </>
  );
}
