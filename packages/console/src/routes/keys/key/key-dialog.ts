import type { ApiKey } from "@perch/sdk";

export interface KeyDialogProps {
  readonly apiKey: ApiKey;
  readonly open: boolean;
  readonly onClose: () => void;
}
