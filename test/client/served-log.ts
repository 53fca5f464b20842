import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { writeTreeHead } from '../../src/contract/resources/transparency.ts';
import { errorCodes, ServiceError } from '../../src/errors.ts';
import { type DurableLedger, openLedger } from '../../src/ledger/open.ts';

type Answer = { readonly status: number; readonly body: string };

/** What an answer becomes on its way: by path, from the text of the true answer. */
export type Lie = { readonly path: string; tell(body: string): string | Answer };

/** The real ledger behind a small HTTP server that can be told to lie, and copied to make it contradict itself. */
export class ServedLog {
  readonly #server: Server;
  readonly #folders: string[] = [];
  #ledger: DurableLedger;
  #folder: string;
  #entries = 0;
  lies: Lie[] = [];
  /** Epoch milliseconds that the log believes in. */
  now = Date.now();

  private constructor(folder: string, ledger: DurableLedger, server: Server) {
    this.#folder = folder;
    this.#folders.push(folder);
    this.#ledger = ledger;
    this.#server = server;
  }

  static async start(): Promise<ServedLog> {
    const folder = mkdtempSync(join(tmpdir(), 'candor-log-'));
    let log: ServedLog | undefined;
    const ledger = await openLedger({
      dataDir: folder,
      clock: () => BigInt(log?.now ?? Date.now()) * 1_000_000n,
    });
    const server = createServer((request, response) => {
      void log!.#answer(request.url ?? '/').then(({ status, body }) => {
        response.writeHead(status, { 'content-type': 'application/json' }).end(body);
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    log = new ServedLog(folder, ledger, server);
    return log;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  get ledger(): DurableLedger {
    return this.#ledger;
  }

  /** Appends entries, one batch; the ids of the entries. */
  async append(count: number, kind = 'alert.raised'): Promise<string[]> {
    const entries = Array.from({ length: count }, () => ({
      id: `01940000-0000-7000-8000-${(this.#entries++).toString(16).padStart(12, '0')}`,
      kind,
      occurred_at: new Date(this.now).toISOString(),
      actor: 'system',
      subject: { type: 'alert', id: 'a' },
      data: {
        title: 'Überlauf "é"',
        signature: 'not this one',
        amount: 1e21,
        nested: { b: [1, null], a: true },
      },
    }));
    await this.#ledger.append(entries);
    return entries.map((entry) => entry.id);
  }

  /** Copies the log as it is, to come back to it later. */
  async snapshot(): Promise<string> {
    const copy = mkdtempSync(join(tmpdir(), 'candor-log-'));
    this.#folders.push(copy);
    await this.#ledger.close();
    cpSync(this.#folder, copy, { recursive: true });
    await this.#open(this.#folder);
    return copy;
  }

  /** Serves a copy instead, as if nothing had happened since. */
  async restore(copy: string): Promise<void> {
    await this.#ledger.close();
    await this.#open(copy);
  }

  async close(): Promise<void> {
    if (!this.#server.listening) return;
    await new Promise((resolve) => this.#server.close(resolve).closeAllConnections());
    await this.#ledger.close();
    for (const folder of this.#folders) rmSync(folder, { recursive: true, force: true });
  }

  async #open(folder: string): Promise<void> {
    this.#folder = folder;
    this.#ledger = await openLedger({ dataDir: folder, clock: () => BigInt(this.now) * 1_000_000n });
  }

  async #answer(target: string): Promise<Answer> {
    const url = new URL(target, 'http://log');
    const truth = await this.#truth(url).catch((error: unknown) => refused(error));
    const lie = this.lies.find((one) => one.path === url.pathname);
    if (lie === undefined) return truth;
    const told = lie.tell(truth.body);
    return typeof told === 'string' ? { ...truth, body: told } : told;
  }

  async #truth(url: URL): Promise<Answer> {
    const number = (name: string) => Number(url.searchParams.get(name));
    const leaf = {
      ...(url.searchParams.has('leaf_index') ? { leaf_index: number('leaf_index') } : {}),
      ...(url.searchParams.has('entry_id') ? { entry_id: url.searchParams.get('entry_id')! } : {}),
      ...(url.searchParams.has('leaf_hash') ? { leaf_hash: url.searchParams.get('leaf_hash')! } : {}),
    };
    const ok = (body: string): Answer => ({ status: 200, body });
    switch (url.pathname) {
      case '/api/transparency/sth':
        return ok(writeTreeHead(await this.#ledger.head()));
      case '/.well-known/jwks.json':
        return ok(JSON.stringify({ keys: await this.#ledger.keys() }));
      case '/api/transparency/inclusion':
        return ok(JSON.stringify(await this.#ledger.inclusion(leaf, number('tree_size'))));
      case '/api/transparency/consistency':
        return ok(JSON.stringify(await this.#ledger.consistency(number('first'), number('second'))));
      case '/api/transparency/leaf': {
        const stored = await this.#ledger.leaf(leaf);
        const text = Buffer.from(stored.canonical).toString();
        const canonical = Buffer.from(stored.canonical).toString('base64');
        return ok(JSON.stringify({ ...stored, canonical, entry: JSON.parse(text) }));
      }
      default:
        return refused(new ServiceError('NOT_FOUND', url.pathname));
    }
  }
}

function refused(error: unknown): Answer {
  if (!(error instanceof ServiceError)) throw error;
  const body = { error: { code: error.code, message: error.message }, timestamp: new Date().toISOString() };
  return { status: errorCodes[error.code].status, body: JSON.stringify(body) };
}
