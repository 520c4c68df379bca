import {
  all,
  type Change,
  call,
  covering,
  created,
  leavingOut,
  nonce,
  organisation,
  origin,
  otherKey,
  otherOrganisation,
  otherPublicKey,
  parameter,
  path,
  type RequestCase,
  replace,
  toCase,
  twice,
  whose,
  without,
  withStrayBits,
} from "./request-case.ts";
import { publicKey } from "./sign-request.ts";

/**
 * Requests with the expected result of `verifyRequest` for each. Both SDKs are tested with them: the tests in Python
 * read them from sdk-python/request-cases.ts.
 */

/** Titles complete "a request …". */
const passing: Readonly<Record<string, Change>> = {
  "as Perch sends it": {},
  "without a body": { sign: { method: "GET", body: "" } },
  "of a check before a deployment, without a run": { sign: { headers: whose } },
  "of an installation without a public address": { sign: { headers: { "x-request-id": "req_1", ...whose } } },
  "of the organisation that may call": { organisation },
  "of one of several organisations that may call": { organisation: [otherOrganisation, organisation] },
  "that does not say whose agent calls, where everybody's may": { sign: { headers: { "x-request-id": "req_1" } } },
  "whose address is given whole, with the host that a proxy made of it": {
    request: { url: `http://10.0.0.7:8080${path}` },
  },
  "to a service on a port": {
    sign: { url: `https://tools.example.com:8443${path}` },
    origin: "https://tools.example.com:8443",
  },
  "to an origin that is spelled with its usual port and capitals": { origin: "HTTPS://Tools.Example.com:443/" },
  "to the root": { sign: { url: `${origin}/` } },
  "with two slashes at the start of its path": { sign: { url: `${origin}//weather` } },
  "with percent-encoding in its path": { sign: { url: `${origin}/a%2Fb%20c?q=%C3%BC&q=+` } },
  "with header names in capitals": {
    headers: (headers) => Object.entries(headers).map(([name, value]) => [name.toUpperCase(), value]),
  },
  "with space around the values of its headers": {
    headers: (headers) => Object.entries(headers).map(([name, value]) => [name, ` \t${value} `]),
  },
  "with more headers": { headers: (headers) => ({ ...headers, via: "1.1 proxy", "x-forwarded-for": "192.0.2.1" }) },
  "with the signature of a proxy beside Perch's, in the same line": {
    headers: (headers) => ({
      ...headers,
      "signature-input": `proxy=("@method");created=1;keyid="p", ${headers["signature-input"]}`,
      signature: `proxy=:AAAA:, ${headers.signature}`,
    }),
  },
  "with the signature of a proxy beside Perch's, in lines of its own": {
    headers: (headers) => [
      ...Object.entries(headers),
      ["signature-input", 'proxy=("@method");created=1;keyid="p"'],
      ["signature", "proxy=:AAAA:"],
    ],
  },
  "with the agent of a proxy beside Perch's": {
    headers: replace("signature-agent", /$/, ', proxy="https://proxy.example/keys"'),
  },
  "that covers more than it must": covering(['"content-type"', '"@authority"', ...all]),
  "at the last second": { now: created + 299 },
  "from a clock that is half a minute ahead": { now: created - 30 },
  "under one of several keys": {
    keys: [otherPublicKey, { kty: "RSA", n: "x", e: "AQAB" }, { ...publicKey, x: "short" }, publicKey],
  },
  "under a key within its time": { keys: [{ ...publicKey, nbf: created - 1, exp: created + 600 }] },
  "under a key that a list calls by another name": { keys: [{ ...publicKey, kid: "key-1" }] },
  "under the other key": { sign: { key: otherKey }, keys: [publicKey, otherPublicKey] },
};

const altered: Readonly<Record<string, readonly [string, Change]>> = {
  "with another method": ["signature_mismatch", { request: { method: "PUT" } }],
  "with its method in lower case": ["signature_mismatch", { request: { method: "post" } }],
  "with another path": ["signature_mismatch", { request: { url: "/forecast?city=Paris&unit=c" } }],
  "with its path in other case": ["signature_mismatch", { request: { url: "/Weather?city=Paris&unit=c" } }],
  "with an encoded character in its path": ["signature_mismatch", { request: { url: "/%77eather?city=Paris&unit=c" } }],
  "with a slash more": ["signature_mismatch", { request: { url: `/${path}` } }],
  "with another query": ["signature_mismatch", { request: { url: "/weather?city=London&unit=c" } }],
  "with its query in another order": ["signature_mismatch", { request: { url: "/weather?unit=c&city=Paris" } }],
  "without its query": ["signature_mismatch", { request: { url: "/weather" } }],
  "with an empty query where there was none": [
    "signature_mismatch",
    { sign: { url: `${origin}/weather` }, request: { url: "/weather?" } },
  ],
  "with a fragment": ["malformed", { request: { url: `${path}#x` } }],
  "with an address that is no path": ["malformed", { request: { url: "*" } }],
  "with a line break in its method": [
    "malformed",
    { request: { method: 'POST\n"@target-uri": https://tools.example.com/' } },
  ],
  "with another body": ["digest_mismatch", { request: { body: '{"city":"London"}' } }],
  "with a space more in its body": ["digest_mismatch", { request: { body: `${call.body} ` } }],
  "without its body": ["digest_mismatch", { request: { body: "" } }],
  "with another body and its digest": [
    "signature_mismatch",
    {
      request: { body: "{}" },
      headers: replace("content-digest", /.*/, "sha-256=:RBNvo1WzZ4oRRq0W9+hknpT7T8If536DEMBg9hyq/4o=:"),
    },
  ],
  "with a digest of another algorithm alone": [
    "digest_mismatch",
    { sign: { headers: { "content-digest": "sha-512=:AAAA:" } } },
  ],
  "with a digest that is cut": ["malformed", { headers: replace("content-digest", /=:$/, "") }],
  "with another run's id": ["signature_mismatch", { headers: replace("x-request-id", "req_01", "req_02") }],
  "with a run's id that was not signed": [
    "missing_component",
    { sign: { headers: {} }, headers: (headers) => ({ ...headers, "x-request-id": "req_1" }) },
  ],
  "without the run's id that was signed": ["missing_component", { headers: without("x-request-id") }],
  "with two runs' ids": [
    "signature_mismatch",
    { headers: (headers) => [...Object.entries(headers), ["X-Request-Id", "req_2"]] },
  ],
  "with another organisation": [
    "signature_mismatch",
    { headers: replace("perch-organisation", organisation, otherOrganisation) },
  ],
  "of another organisation, altered into the one that may call": [
    "signature_mismatch",
    {
      sign: { headers: { ...whose, "perch-organisation": otherOrganisation } },
      headers: replace("perch-organisation", otherOrganisation, organisation),
      organisation,
    },
  ],
  "with an organisation that was not signed": [
    "missing_component",
    {
      sign: { headers: {} },
      headers: (headers) => ({ ...headers, "perch-organisation": organisation }),
      organisation,
    },
  ],
  "without the organisation that was signed": ["missing_component", { headers: without("perch-organisation") }],
  "with two organisations": [
    "signature_mismatch",
    { headers: (headers) => [...Object.entries(headers), ["Perch-Organisation", otherOrganisation]], organisation },
  ],
  "with another agent": ["signature_mismatch", { headers: replace("perch-agent", "agent_01", "agent_02") }],
  "with an agent that was not signed": [
    "missing_component",
    {
      sign: { headers: { "perch-organisation": organisation } },
      headers: (headers) => ({ ...headers, "perch-agent": whose["perch-agent"] }),
    },
  ],
  "without the agent that was signed": ["missing_component", { headers: without("perch-agent") }],
  "with another directory of keys": [
    "signature_mismatch",
    { headers: replace("signature-agent", "perch.example", "evil.example") },
  ],
  "with a directory of keys that was not signed": [
    "missing_component",
    {
      sign: { headers: {} },
      headers: (headers) => ({ ...headers, "signature-agent": 'perch="https://evil.example/"' }),
    },
  ],
  "without the directory of keys that was signed": ["missing_component", { headers: without("signature-agent") }],
  "with a parameter added to its directory of keys": [
    "signature_mismatch",
    { headers: replace("signature-agent", /$/, ";type=cimd") },
  ],
};

const tampered: Readonly<Record<string, readonly [string, Change]>> = {
  "signed a second earlier than it says": [
    "signature_mismatch",
    { headers: replace("signature-input", /created=\d+/, `created=${created - 1}`) },
  ],
  "that expires a second later than was signed": [
    "signature_mismatch",
    { headers: replace("signature-input", /expires=\d+/, `expires=${created + 301}`) },
  ],
  "with another nonce than was signed": [
    "signature_mismatch",
    { headers: replace("signature-input", nonce, nonce.replace("c", "d")) },
  ],
  "with another key id than was signed": [
    "signature_mismatch",
    {
      headers: replace("signature-input", /keyid="[^"]+"/, `keyid="kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k"`),
      keys: [publicKey, otherPublicKey],
    },
  ],
  "with an unknown key id": ["unknown_key", { headers: replace("signature-input", /keyid="/, 'keyid="x') }],
  "with the name of a key in place of its thumbprint": [
    "unknown_key",
    { ...parameter("keyid", "key-1"), keys: [{ ...publicKey, kid: "key-1" }] },
  ],
  "with another tag than was signed": [
    "wrong_tag",
    { headers: replace("signature-input", "web-bot-auth", "web-bot-auto") },
  ],
  "with another algorithm than was signed": [
    "wrong_algorithm",
    { headers: replace("signature-input", "ed25519", "hmac-sha256") },
  ],
  "with another label": [
    "missing_signature",
    {
      headers: (headers) =>
        replace("signature", "perch=", "sig1=")(replace("signature-input", "perch=", "sig1=")(headers)),
    },
  ],
  "with another label in Signature alone": ["missing_signature", { headers: replace("signature", "perch=", "sig1=") }],
  "with its components in another order than was signed": [
    "signature_mismatch",
    { headers: replace("signature-input", '"@method" "@target-uri"', '"@target-uri" "@method"') },
  ],
  "with a component fewer than was signed": [
    "missing_component",
    { headers: replace("signature-input", '"@method" ', "") },
  ],
  "with a component more than was signed": [
    "signature_mismatch",
    { headers: replace("signature-input", '"@method" ', '"@method" "@authority" ') },
  ],
  "with a parameter more than was signed": ["signature_mismatch", { headers: replace("signature-input", /$/, ";x") }],
  "with a bit of its signature turned": [
    "signature_mismatch",
    { headers: (headers) => replace("signature", /:(.)/, headers.signature?.[7] === "A" ? ":B" : ":A")(headers) },
  ],
  "whose signature is spelled in base64 with stray bits": ["malformed", { headers: withStrayBits }],
  "whose signature is cut": ["malformed", { headers: replace("signature", /.{5}:$/, ":") }],
  "whose signature is cut by three bytes": ["malformed", { headers: replace("signature", /.{4}==:$/, ":") }],
  "whose signature is a text": ["malformed", { headers: replace("signature", /:.*:/, '"perch"') }],
  "whose Signature-Input is cut": ["malformed", { headers: replace("signature-input", /th"$/, "") }],
  "whose Signature-Input is a token": ["malformed", { headers: replace("signature-input", /=.*/, "=yes") }],
  "whose Signature-Input ends with a comma": ["malformed", { headers: replace("signature-input", /$/, ",") }],
  "whose creation is spelled with a leading zero": [
    "malformed",
    { headers: replace("signature-input", "created=", "created=0") },
  ],
  "whose creation is a text": ["malformed", parameter("created", String(created))],
  "without Signature": ["missing_signature", { headers: without("signature") }],
  "without Signature-Input": ["missing_signature", { headers: without("signature-input") }],
  "without Content-Digest": ["missing_component", { headers: without("content-digest") }],
  "without any header": ["missing_signature", { headers: () => ({}) }],
  "with Signature twice": ["malformed", { headers: twice("signature") }],
  "with Signature-Input twice": ["malformed", { headers: twice("signature-input") }],
  "with Content-Digest twice": ["malformed", { headers: twice("content-digest") }],
  "with Signature-Agent twice": ["malformed", { headers: twice("signature-agent") }],
  "with X-Request-Id twice": ["signature_mismatch", { headers: twice("x-request-id") }],
  "with a parameter twice": [
    "malformed",
    { headers: replace("signature-input", ";expires", `;created=${created};expires`) },
  ],
};

/** Signed by Perch's own key, but not as Perch signs. */
const unlike: Readonly<Record<string, readonly [string, Change]>> = {
  "that does not cover its method": ["missing_component", leavingOut('"@method"')],
  "that does not cover its address": ["missing_component", leavingOut('"@target-uri"')],
  "that covers its path in place of its address": [
    "missing_component",
    covering(all.map((one) => (one === '"@target-uri"' ? '"@authority"' : one))),
  ],
  "that does not cover its body": ["missing_component", leavingOut('"content-digest"')],
  "that does not cover the run's id": ["missing_component", leavingOut('"x-request-id"')],
  "that does not cover the organisation": ["missing_component", leavingOut('"perch-organisation"')],
  "that does not cover the agent": ["missing_component", leavingOut('"perch-agent"')],
  "that does not cover its directory of keys": ["missing_component", leavingOut('"signature-agent";key="perch"')],
  "that covers nothing": ["missing_component", covering([])],
  "that covers a component twice": ["malformed", covering([...all, '"@method"'])],
  "that covers a header it does not have": ["missing_component", covering([...all, '"idempotency-key"'])],
  "that covers a member of a header that is not there": [
    "missing_component",
    covering([...all, '"signature-agent";key="proxy"']),
  ],
  "that covers what cannot be checked": ["unsupported_component", covering([...all, '"@status"'])],
  "that covers a header in a form that cannot be checked": [
    "unsupported_component",
    covering([...all, '"content-type";sf']),
  ],
  "that covers a header in capitals": ["unsupported_component", covering([...all, '"Content-Type"'])],
  "of another tag": ["wrong_tag", parameter("tag", "http-message-signatures-directory")],
  "without a tag": ["wrong_tag", parameter("tag", null)],
  "of another algorithm": ["wrong_algorithm", parameter("alg", "rsa-pss-sha512")],
  "without an algorithm": ["wrong_algorithm", parameter("alg", null)],
  "without a nonce": ["invalid_nonce", parameter("nonce", null)],
  "with a short nonce": ["invalid_nonce", parameter("nonce", "AAAAAAAAAAAAAAA")],
  "with a long nonce": ["invalid_nonce", parameter("nonce", "A".repeat(129))],
  "with a space in its nonce": ["invalid_nonce", parameter("nonce", "AAAAAAAA AAAAAAAA")],
  "without the time of its creation": ["malformed", parameter("created", null)],
  "without an expiry": ["malformed", parameter("expires", null)],
  "without a key id": ["malformed", parameter("keyid", null)],
  "of 331 seconds": ["lifetime_too_long", parameter("expires", created + 331)],
  "that expired": ["expired", { now: created + 300 }],
  "that expired a day ago": ["expired", { now: created + 86_400 }],
  "that expires before it begins": ["expired", parameter("expires", created - 1)],
  "from the future": ["not_yet_valid", { now: created - 31 }],
  "to another origin": ["signature_mismatch", { origin: "https://other.example.com" }],
  "to another scheme": ["signature_mismatch", { origin: "http://tools.example.com" }],
  "to another port": ["signature_mismatch", { origin: "https://tools.example.com:8443" }],
  "of another key": ["unknown_key", { sign: { key: otherKey } }],
  "of another key under the id of Perch's": [
    "signature_mismatch",
    { sign: { key: otherKey, parameters: { keyid: "poqkLGiymh_W0uP6PZFw-dvez3QJT5SolqXBCW38r0U" } } },
  ],
  "of a key before its time": ["key_not_valid", { keys: [{ ...publicKey, nbf: created + 31 }] }],
  "of a key after its time": ["key_not_valid", { keys: [{ ...publicKey, exp: created - 30 }] }],
  "where there are no keys": ["unknown_key", { keys: [] }],
  "of another organisation than may call": ["wrong_organisation", { organisation: otherOrganisation }],
  "of none of the organisations that may call": [
    "wrong_organisation",
    { organisation: [otherOrganisation, `${organisation}0`, organisation.slice(0, -1)] },
  ],
  "of two organisations, one of which may call": [
    "wrong_organisation",
    { sign: { headers: { ...whose, "perch-organisation": `${organisation}, ${otherOrganisation}` } }, organisation },
  ],
  "that does not say whose agent calls, where one organisation's may": [
    "wrong_organisation",
    { sign: { headers: {} }, organisation },
  ],
  "that passed before": ["replayed", { repeated: true }],
};

export const requestCases = (): readonly RequestCase[] => [
  ...Object.entries(passing).map(([title, change]) => toCase(title, null, change)),
  ...[altered, tampered, unlike].flatMap((table) =>
    Object.entries(table).map(([title, [reason, change]]) => toCase(title, reason, change)),
  ),
];
