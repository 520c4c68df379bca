import type { Perch } from "../../../../sdk/src/index.ts";
import { openAccounts } from "../accounts.ts";
import type { Pages, Told } from "./told.ts";

const dayMs = 86_400_000;
const inDays = (days: number): string => new Date(Date.now() + days * dayMs).toISOString();

async function tellKeys(perch: Perch): Promise<Pages> {
  const checkout = await perch.keys.create({ name: "Checkout of the shop", role: "developer", agent_id: "support" });
  await perch.keys.create({ name: "Night desk", permissions: ["read", "approve"], expires_at: inDays(3) });
  await perch.keys.create({ name: "Dashboards", role: "viewer", expires_at: inDays(90) });
  const laptop = await perch.keys.create({ name: "Laptop of Anna", role: "admin" });
  await perch.keys.revoke(laptop.id);
  const nightly = await perch.keys.create({ name: "Nightly report", role: "viewer" });
  await perch.keys.rotate(nightly.id, { overlap_seconds: 86_400 });
  return {
    keys: "/keys",
    "keys-revoked": "/keys?status=revoked",
    "keys-none": "/keys?agent=translator",
    key: `/keys/${checkout.id}`,
    "key-revoked": `/keys/${laptop.id}`,
    "key-rotated": `/keys/${nightly.id}`,
    "key-missing": "/keys/key_01h455vb4pex5vsknk084sn02q",
  };
}

async function tellSecrets(perch: Perch): Promise<Pages> {
  await perch.secrets.create({ name: "carrier_token", value: "story-carrier-token", hosts: ["api.carrier.example"] });
  await perch.secrets.create({
    name: "tracker_key",
    value: "story-tracker-key",
    hosts: ["tracker.example", "tracker.example:8443"],
  });
  await perch.agentSecrets.create("support", {
    name: "tracker_key",
    value: "story-tracker-key-of-support",
    hosts: ["tracker.example"],
  });
  return {
    secrets: "/secrets",
    "secrets-of-agent": "/secrets?agent=support",
    "secrets-none": "/secrets?agent=returns",
  };
}

async function tellConnections({ perch, server, shop }: Told): Promise<Pages> {
  const accounts = await openAccounts(perch, server.url, `${shop.toolUrl}/orders`, "mail-desk");
  try {
    const pending = await accounts.invite("customer-1019");
    const [active, withdrawn, revoked] = await Promise.all(
      ["customer-1007", "anna", "customer-1023"].map(accounts.connect),
    );
    accounts.withdraw("anna");
    await Promise.all([accounts.use("customer-1007"), accounts.use("anna")]);
    await perch.connections.revoke(accounts.agent, revoked ?? "");
    return {
      connections: "/connections",
      "connections-of-agent": "/connections?agent=mail-desk",
      "connections-of-environment": "/connections?agent=mail-desk&env=production",
      "connections-none": "/connections?agent=support",
      connection: `/connections/mail-desk/${active}`,
      "connection-pending": `/connections/mail-desk/${pending}`,
      "connection-needs-consent": `/connections/mail-desk/${withdrawn}`,
      "connection-revoked": `/connections/mail-desk/${revoked}`,
      "connection-missing": "/connections/mail-desk/conn_01h455vb4pex5vsknk084sn02q",
    };
  } finally {
    await accounts.close();
  }
}

/** Keys of people and programs, secrets of tools, accounts of users, and model providers. */
export async function tellAccess(told: Told): Promise<Pages> {
  const keys = await tellKeys(told.perch);
  const secrets = await tellSecrets(told.perch);
  return { ...keys, ...secrets, ...(await tellConnections(told)), models: "/models" };
}
