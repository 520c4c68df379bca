import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface Certificate {
  readonly cert: string;
  readonly key: string;
  readonly certFile: string;
  readonly keyFile: string;
}

interface CertificateOptions {
  readonly name: string;
  /** How long it is valid from now; negative for an expired one. */
  readonly days?: number;
  readonly usage?: string;
  readonly isAuthority?: boolean;
  /** How many further names it has, for a long one. */
  readonly furtherNames?: number;
}

/** Creates real certificates with OpenSSL in a temporary directory. */
export function createCertificates() {
  const directory = mkdtempSync(join(tmpdir(), "perch-certificates-"));
  const openssl = (...args: string[]) => execFileSync("openssl", args, { cwd: directory, stdio: "pipe" });
  const newKey = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"];

  const read = (name: string): Certificate => {
    const [certFile, keyFile] = [join(directory, `${name}.crt`), join(directory, `${name}.key`)];
    return { cert: readFileSync(certFile, "utf8"), key: readFileSync(keyFile, "utf8"), certFile, keyFile };
  };

  const createAuthority = (name: string): Certificate => {
    openssl(
      ...["req", "-x509", ...newKey, "-days", "30", "-subj", `/CN=${name}`, "-keyout", `${name}.key`],
      ...["-out", `${name}.crt`, "-addext", "keyUsage=critical,keyCertSign,cRLSign"],
    );
    return read(name);
  };

  const issue = (
    by: string,
    { name, days = 30, usage = "clientAuth", isAuthority = false, furtherNames = 0 }: CertificateOptions,
  ): Certificate => {
    const names = Array.from({ length: furtherNames }, (_, i) => `,DNS:name-${i}.some-service.example`);
    openssl("req", ...newKey, "-subj", `/CN=${name}`, "-keyout", `${name}.key`, "-out", `${name}.csr`);
    writeFileSync(
      join(directory, `${name}.ext`),
      `subjectAltName=DNS:localhost,IP:127.0.0.1${names.join("")}\nextendedKeyUsage=${usage}\nbasicConstraints=CA:${isAuthority ? "TRUE" : "FALSE"}\n`,
    );
    openssl(
      ...["x509", "-req", "-in", `${name}.csr`, "-CA", `${by}.crt`, "-CAkey", `${by}.key`, "-CAcreateserial"],
      ...["-out", `${name}.crt`, "-extfile", `${name}.ext`, "-days", String(days)],
    );
    return read(name);
  };

  return { directory, createAuthority, issue, remove: () => rmSync(directory, { recursive: true }) };
}
