import { AddressRanges, type SettingTable, setting } from "./setting.ts";

export const outboundSettings = {
  outboundAllowedPrivateRanges: setting(
    "PERCH_OUTBOUND_ALLOWED_PRIVATE_RANGES",
    AddressRanges.describe(
      "Private addresses that tools, remote agents, webhooks, token issuers and organisations' model providers may have: IP addresses or CIDR ranges, separated by commas. None by default.",
    ),
  ),
} satisfies SettingTable;
