import { createHash, createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { statSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { readFile, readTextFile, UnreadableFile } from '../files/read-file.ts';

/** Paths of PEM files. */
export interface TlsFiles {
  /** The certificate, followed by its chain to an authority that clients know. */
  readonly cert: string;
  /** The private key of the certificate: EC or RSA, not encrypted. */
  readonly key: string;
  /** The authorities whose client certificates are accepted. */
  readonly clientCa?: string;
}

/** The content of the TLS files. */
export interface TlsMaterial {
  /** Digest of the content of all files. */
  readonly digest: string;
  readonly certificate: X509Certificate;
  readonly authorities: readonly X509Certificate[];
  /** Problems that do not prevent operation. */
  readonly warnings: readonly string[];
}

/** Signals that a TLS file is unusable. The message is one line that names the file. */
export class TlsFileError extends Error {
  override readonly name = 'TlsFileError';
  readonly file: string;

  constructor(file: string, problem: string) {
    super(`cannot set up TLS with ${file}: ${problem}`);
    this.file = file;
  }
}

/** Maximum size of a file, enough for a thousand certificates. */
const maxFileBytes = 2 * 2 ** 20;

/**
 * Reads and checks the files. uWebSockets.js would only report that a file is unusable, but not which file.
 *
 * @throws TlsFileError
 */
export function readTlsFiles(files: TlsFiles): TlsMaterial {
  return materialOf(files, pathsOf(files).map(read), statSync(files.key).mode);
}

/**
 * Reads and checks the files without blocking the thread, one file at a time, so that a hanging volume
 * occupies only one thread of the pool.
 */
export async function readTlsFilesLater(files: TlsFiles): Promise<TlsMaterial> {
  const contents: string[] = [];
  for (const path of pathsOf(files))
    contents.push(
      await readTextFile(path, maxFileBytes).catch((error: Error) => {
        throw new TlsFileError(path, error.message);
      }),
    );
  return materialOf(files, contents, (await stat(files.key)).mode);
}

const pathsOf = ({ cert, key, clientCa }: TlsFiles): string[] =>
  clientCa === undefined ? [cert, key] : [cert, key, clientCa];

function materialOf({ cert, key, clientCa }: TlsFiles, contents: readonly string[], keyMode: number): TlsMaterial {
  const [certText = '', keyText = '', caText] = contents;
  const [certificate] = certificatesOf(cert, certText);
  const privateKey = keyOf(key, keyText);
  if (!certificate!.checkPrivateKey(privateKey))
    throw new TlsFileError(key, `it is not the key of the certificate in ${cert}`);
  const authorities = clientCa === undefined ? [] : certificatesOf(clientCa, caText!);
  for (const authority of authorities) {
    if (!authority.ca) throw new TlsFileError(clientCa!, `${subjectOf(authority)} is not a CA certificate`);
  }
  return {
    digest: createHash('sha256').update(JSON.stringify(contents)).digest('hex'),
    certificate: certificate!,
    authorities,
    warnings: [
      ...readableByOthers(key, keyMode),
      ...outdated(cert, [certificate!], Date.now()),
      ...(clientCa === undefined ? [] : outdated(clientCa, authorities, Date.now())),
    ],
  };
}

/**
 * Returns a text that changes when a file changes, without reading the files. A replaced file has another
 * inode, and so has the new target of a link (certbot and Kubernetes both switch links). The text also covers
 * inaccessible files.
 */
export async function stateOf(files: TlsFiles): Promise<string> {
  const states: string[] = [];
  for (const path of pathsOf(files))
    states.push(
      await stat(path, { bigint: true }).then(
        ({ dev, ino, size, mtimeNs, ctimeNs }) => [dev, ino, size, mtimeNs, ctimeNs].join(' '),
        ({ code }: NodeJS.ErrnoException) => code ?? 'unknown',
      ),
    );
  return states.join('\n');
}

function read(path: string): string {
  try {
    return new TextDecoder().decode(readFile(path, maxFileBytes).bytes);
  } catch (error) {
    if (!(error instanceof UnreadableFile)) throw error;
    throw new TlsFileError(path, error.message);
  }
}

const pemCertificate =
  /-----BEGIN (?:X509 |TRUSTED )?CERTIFICATE-----[^-]*-----END (?:X509 |TRUSTED )?CERTIFICATE-----/g;

/** Returns the certificates in a file. Throws if the file has no certificate, or an invalid one. */
function certificatesOf(path: string, text: string): X509Certificate[] {
  try {
    const certificates = (text.match(pemCertificate) ?? []).map((pem) => new X509Certificate(pem));
    if (certificates.length > 0) return certificates;
  } catch {
    // The error is reported below.
  }
  throw new TlsFileError(path, 'it is not a PEM certificate');
}

function keyOf(path: string, text: string): KeyObject {
  let key: KeyObject;
  try {
    key = createPrivateKey(text);
  } catch (error) {
    const encrypted = (error as NodeJS.ErrnoException).code === 'ERR_MISSING_PASSPHRASE';
    throw new TlsFileError(path, encrypted ? 'its key is encrypted' : 'it is not a PEM private key');
  }
  const type = key.asymmetricKeyType;
  // BoringSSL, the TLS library of uWebSockets.js, supports no other kinds of signatures.
  if (type !== 'ec' && type !== 'rsa') throw new TlsFileError(path, `its key is ${type}, but must be EC or RSA`);
  return key;
}

function readableByOthers(path: string, fileMode: number): string[] {
  const mode = fileMode & 0o777;
  if ((mode & 0o077) === 0) return [];
  return [
    `the private key ${path} is accessible to users other than its owner (mode ${mode.toString(8).padStart(4, '0')})`,
  ];
}

function outdated(path: string, certificates: readonly X509Certificate[], nowMs: number): string[] {
  return certificates
    .filter(({ validFrom, validTo }) => nowMs < Date.parse(validFrom) || nowMs > Date.parse(validTo))
    .map((one) => `${path}: ${subjectOf(one)} is valid from ${one.validFrom} to ${one.validTo}, and is not valid now`);
}

const subjectOf = ({ subject }: X509Certificate): string =>
  subject?.replaceAll('\n', ', ') || 'a certificate without a name';
