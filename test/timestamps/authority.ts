/**
 * A timestamping authority based on openssl: certificates, tokens, and a small HTTP server in front of
 * `openssl ts -reply`.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';

type Key = 'ec' | 'rsa';

const keyOptions: Readonly<Record<Key, readonly string[]>> = {
  ec: ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256'],
  rsa: ['-newkey', 'rsa:2048'],
};

/** A folder with a certificate authority and its certificates; `close` removes it. */
export class Authority {
  readonly folder = mkdtempSync(join(tmpdir(), 'candor-tsa-'));
  readonly ca = join(this.folder, 'ca.pem');

  constructor() {
    const subject = ['-subj', '/CN=Test root', '-days', '30'];
    this.#openssl('req', '-x509', '-nodes', ...keyOptions.ec, ...subject, '-keyout', 'ca.key', '-out', 'ca.pem');
    this.issue('tsa');
    writeFileSync(join(this.folder, 'serial'), '01\n');
    writeFileSync(join(this.folder, 'ts.cnf'), config);
  }

  /** Issues a certificate `<name>.pem` with its key. `until` is the end of its validity. */
  issue(name: string, { eku = 'critical,timeStamping', until = '20490101000000Z', key = 'ec' }: Issued = {}): void {
    const file = (end: string) => `${name}.${end}`;
    writeFileSync(join(this.folder, file('ext')), `basicConstraints=CA:FALSE\nextendedKeyUsage=${eku}\n`);
    const request = ['-nodes', ...keyOptions[key], '-subj', `/CN=Test ${name}`, '-keyout', file('key')];
    this.#openssl('req', '-new', ...request, '-out', file('csr'));
    writeFileSync(join(this.folder, 'index.txt'), '');
    writeFileSync(join(this.folder, 'ca.cnf'), caConfig);
    const dates = ['-startdate', '20190101000000Z', '-enddate', until];
    const about = ['-batch', '-notext', '-config', 'ca.cnf', '-extfile', file('ext'), '-create_serial'];
    this.#openssl('ca', '-in', file('csr'), '-out', file('pem'), ...dates, ...about);
  }

  /** Returns the response to a request; both are in DER. */
  reply(request: Uint8Array, options: readonly string[] = []): Buffer {
    writeFileSync(join(this.folder, 'request.tsq'), request);
    const files = ['-queryfile', 'request.tsq', '-out', 'answer.tsr'];
    this.#openssl('ts', '-reply', '-config', 'ts.cnf', ...files, ...options);
    return readFileSync(join(this.folder, 'answer.tsr'));
  }

  /**
   * Returns a token for this TSTInfo, signed as CMS by any certificate, including certificates that `openssl
   * ts` would reject.
   */
  sign(tstInfo: Uint8Array, name: string, options: readonly string[] = ['-cades']): Buffer {
    writeFileSync(join(this.folder, 'info.der'), tstInfo);
    const signer = ['-signer', `${name}.pem`, '-inkey', `${name}.key`, ...options];
    const form = ['-binary', '-nodetach', '-econtent_type', '1.2.840.113549.1.9.16.1.4', '-outform', 'DER'];
    this.#openssl('cms', '-sign', '-in', 'info.der', '-out', 'token.der', ...form, ...signer);
    return readFileSync(join(this.folder, 'token.der'));
  }

  close(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }

  #openssl(...args: readonly string[]): void {
    execFileSync('openssl', args, { cwd: this.folder, stdio: 'pipe' });
  }
}

interface Issued {
  readonly eku?: string;
  readonly until?: string;
  readonly key?: Key;
}

/**
 * An HTTP server on loopback that responds to each request with the result of `answer`, by default the
 * authority's reply.
 */
export class AuthorityServer {
  readonly requests: { readonly type: string | undefined; readonly body: Buffer }[] = [];
  answer: RequestListener | undefined;
  readonly #authority: Authority;
  readonly #server: Server;

  private constructor(authority: Authority) {
    this.#authority = authority;
    this.#server = createServer((request, response) => {
      void this.#serve(request).then((body) => {
        if (this.answer !== undefined) return this.answer(request, response);
        response.writeHead(200, { 'content-type': 'application/timestamp-reply' }).end(this.#authority.reply(body));
      });
    });
  }

  static async start(authority: Authority): Promise<AuthorityServer> {
    const server = new AuthorityServer(authority);
    await new Promise<void>((resolve) => server.#server.listen(0, '127.0.0.1', resolve));
    return server;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/tsa`;
  }

  async #serve(request: IncomingMessage): Promise<Buffer> {
    const body = await buffer(request);
    this.requests.push({ type: request.headers['content-type'], body });
    return body;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

const config = `[tsa]
default_tsa = tsa_config
[tsa_config]
serial = serial
signer_cert = tsa.pem
certs = ca.pem
signer_key = tsa.key
signer_digest = sha256
default_policy = 1.2.3.4.1
other_policies = 1.2.3.4.5
digests = sha256, sha512
accuracy = secs:1, millisecs:500
ess_cert_id_alg = sha256
`;

const caConfig = `[ca]
default_ca = main
[main]
database = index.txt
serial = ca.srl
certificate = ca.pem
private_key = ca.key
new_certs_dir = .
default_md = sha256
policy = any
[any]
commonName = supplied
`;
