import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The reason to skip tests with certificates if there is no openssl command. */
export const withoutOpenssl = ((): string | undefined => {
  try {
    execFileSync('openssl', ['version'], { stdio: 'ignore' });
    return undefined;
  } catch {
    return 'there is no openssl command on this machine';
  }
})();

export interface Pair {
  /** Paths of PEM files. */
  readonly cert: string;
  readonly key: string;
}

/** Returns the contents of both files, as options of a TLS client in Node. */
export const pemOf = ({ cert, key }: Pair) => ({ cert: readFileSync(cert), key: readFileSync(key) });

const day = 24 * 3600 * 1000;

/** Formats a time as `20261121120000Z`. */
const stamp = (time: number) =>
  `${new Date(time)
    .toISOString()
    .replaceAll(/[-:T]|\..*$/g, '')
    .slice(0, 14)}Z`;

export interface Terms {
  /** Default: `/CN=<name>`. */
  readonly subject?: string;
  /** Lines of an openssl extension section, such as `subjectAltName=DNS:a`. */
  readonly extensions?: readonly string[];
  /** Start and end of the validity, in days from now. */
  readonly from?: number;
  readonly to?: number;
}

/**
 * An authority in its own folder, which issues certificates. All keys are P-256, which are fast to generate.
 */
export class Authority {
  readonly #folder: string;
  readonly pair: Pair;
  readonly #above: Authority | undefined;

  private constructor(folder: string, pair: Pair, above?: Authority) {
    this.#folder = folder;
    this.pair = pair;
    this.#above = above;
    writeFileSync(join(folder, 'index.txt'), '');
    writeFileSync(
      join(folder, 'ca.cnf'),
      `[ca]\ndefault_ca=this\n[this]\ndatabase=${folder}/index.txt\nnew_certs_dir=${folder}\nrand_serial=yes\n` +
        `default_md=sha256\nunique_subject=no\npolicy=any\n[any]\ncommonName=optional\norganizationName=optional\n` +
        `[req]\ndistinguished_name=dn\n[dn]\n`,
    );
  }

  static root(folder: string, name: string): Authority {
    const own = join(folder, name);
    mkdirSync(own);
    const pair = { cert: join(own, 'ca.pem'), key: newKey(join(own, 'ca.key')) };
    const args = ['req', '-x509', '-new', '-key', pair.key, '-subj', `/CN=${name}`, '-days', '30'];
    openssl(...args, '-addext', 'keyUsage=critical,keyCertSign', '-out', pair.cert);
    return new Authority(own, pair);
  }

  intermediate(name: string): Authority {
    const pair = this.issue(name, {
      extensions: ['basicConstraints=critical,CA:TRUE', 'keyUsage=keyCertSign'],
    });
    const own = join(this.#folder, `authority-${name}`);
    mkdirSync(own);
    return new Authority(own, pair, this);
  }

  /** Issues a certificate. Its file also contains all intermediate certificates. */
  issue(name: string, { subject = `/CN=${name}`, extensions = [], from = -1, to = 30 }: Terms = {}): Pair {
    const at = (extension: string) => join(this.#folder, `${name}.${extension}`);
    const key = newKey(at('key'));
    openssl(
      'req',
      '-new',
      '-config',
      at('').replace(`${name}.`, 'ca.cnf'),
      '-key',
      key,
      '-subj',
      subject,
      '-out',
      at('csr'),
    );
    writeFileSync(at('ext'), `[ext]\n${['authorityKeyIdentifier=keyid', ...extensions].join('\n')}\n`);
    const now = Date.now();
    openssl(
      ...['ca', '-batch', '-notext', '-preserveDN', '-config', join(this.#folder, 'ca.cnf')],
      ...['-cert', this.pair.cert, '-keyfile', this.pair.key, '-in', at('csr'), '-out', at('pem')],
      ...['-startdate', stamp(now + from * day), '-enddate', stamp(now + to * day)],
      ...['-extensions', 'ext', '-extfile', at('ext')],
    );
    if (this.#above !== undefined)
      writeFileSync(at('pem'), readFileSync(at('pem'), 'utf8') + readFileSync(this.pair.cert, 'utf8'));
    return { cert: at('pem'), key };
  }

  /** Issues a certificate for 127.0.0.1. */
  server(name: string): Pair {
    return this.issue(name, { extensions: ['subjectAltName=IP:127.0.0.1'] });
  }
}

function newKey(path: string): string {
  openssl('genpkey', '-algorithm', 'EC', '-pkeyopt', 'ec_paramgen_curve:P-256', '-out', path);
  execFileSync('chmod', ['600', path]);
  return path;
}

function openssl(...args: string[]): void {
  execFileSync('openssl', args, { stdio: 'pipe' });
}

export function temporaryFolder(): { readonly path: string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), 'candor-tls-'));
  return { path, remove: () => rmSync(path, { recursive: true }) };
}
