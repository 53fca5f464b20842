import { createHash, createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { statSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { readFile, readTextFile, UnreadableFile } from '../read-file.ts';

/** Paths of PEM files. */
export interface TlsFiles {
  /** The certificate, and behind it those that lead to an authority that clients know. */
  readonly cert: string;
  /** Its private key, EC or RSA, not encrypted. */
  readonly key: string;
  /** The authorities whose client certificates are taken. */
  readonly clientCa?: string;
}

/** What lay in the files. */
export interface TlsMaterial {
  /** The same for the same contents. */
  readonly digest: string;
  readonly certificate: X509Certificate;
  readonly authorities: readonly X509Certificate[];
  /** What an operator should know, and what works all the same. */
  readonly warnings: readonly string[];
}

/** A file that cannot be used. The message is one line that names it. */
export class TlsFileError extends Error {
  override readonly name = 'TlsFileError';
  readonly file: string;

  constructor(file: string, problem: string) {
    super(`TLS cannot be set up with ${file}: ${problem}`);
    this.file = file;
  }
}

/** A thousand certificates. */
const maxFileBytes = 2 * 2 ** 20;

/**
 * Reads and checks the files by itself, because uWebSockets.js tells only that something is wrong with one of them.
 *
 * @throws TlsFileError
 */
export function readTlsFiles(files: TlsFiles): TlsMaterial {
  return materialOf(files, pathsOf(files).map(read), statSync(files.key).mode);
}

/** The same without blocking the thread, one file at a time: files on a volume that hangs occupy one thread of the pool. */
export async function readTlsFilesLater(files: TlsFiles): Promise<TlsMaterial> {
  const contents: string[] = [];
  for (const path of pathsOf(files))
    contents.push(
      await readTextFile(path, maxFileBytes).catch((error: NodeJS.ErrnoException) => {
        const isKnown = error instanceof UnreadableFile;
        throw new TlsFileError(
          path,
          isKnown ? error.message : `it cannot be read (${error.code ?? 'unknown'})`,
        );
      }),
    );
  return materialOf(files, contents, (await stat(files.key)).mode);
}

const pathsOf = ({ cert, key, clientCa }: TlsFiles): string[] =>
  clientCa === undefined ? [cert, key] : [cert, key, clientCa];

function materialOf(
  { cert, key, clientCa }: TlsFiles,
  contents: readonly string[],
  keyMode: number,
): TlsMaterial {
  const [certText = '', keyText = '', caText] = contents;
  const [certificate] = certificatesOf(cert, certText);
  const privateKey = keyOf(key, keyText);
  if (!certificate!.checkPrivateKey(privateKey))
    throw new TlsFileError(key, `it is not the key of the certificate in ${cert}`);
  const authorities = clientCa === undefined ? [] : certificatesOf(clientCa, caText!);
  for (const authority of authorities) {
    if (!authority.ca)
      throw new TlsFileError(clientCa!, `${subjectOf(authority)} is a certificate of no authority`);
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
 * What changes when a file does, without reading it: a renamed file has another inode, and so has what a link leads to
 * now (certbot and Kubernetes both switch links). Files that cannot be seen have a state too.
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

/** At least one. */
function certificatesOf(path: string, text: string): X509Certificate[] {
  try {
    const certificates = (text.match(pemCertificate) ?? []).map((pem) => new X509Certificate(pem));
    if (certificates.length > 0) return certificates;
  } catch {
    // Said below.
  }
  throw new TlsFileError(path, 'it is no certificate in PEM');
}

function keyOf(path: string, text: string): KeyObject {
  let key: KeyObject;
  try {
    key = createPrivateKey(text);
  } catch (error) {
    const encrypted = (error as NodeJS.ErrnoException).code === 'ERR_MISSING_PASSPHRASE';
    throw new TlsFileError(path, encrypted ? 'its key is encrypted' : 'it is no private key in PEM');
  }
  const type = key.asymmetricKeyType;
  // The front's TLS library (BoringSSL) offers no signature of other kinds.
  if (type !== 'ec' && type !== 'rsa') throw new TlsFileError(path, `its key is ${type}, wanted EC or RSA`);
  return key;
}

function readableByOthers(path: string, fileMode: number): string[] {
  const mode = fileMode & 0o777;
  if ((mode & 0o077) === 0) return [];
  return [
    `the private key ${path} is open to others than its owner (mode ${mode.toString(8).padStart(4, '0')})`,
  ];
}

function outdated(path: string, certificates: readonly X509Certificate[], nowMs: number): string[] {
  return certificates
    .filter(({ validFrom, validTo }) => nowMs < Date.parse(validFrom) || nowMs > Date.parse(validTo))
    .map(
      (one) =>
        `${path}: ${subjectOf(one)} is valid from ${one.validFrom} to ${one.validTo}, which is not now`,
    );
}

const subjectOf = ({ subject }: X509Certificate): string =>
  subject?.replaceAll('\n', ', ') || 'one without a name';
