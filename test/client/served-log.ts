import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { writeTreeHead } from '../../src/contract/write-tree-head.ts';
import { errorCodes, ServiceError } from '../../src/errors.ts';
import { keyHistoryKinds, leafItem } from '../../src/http/log-entries.ts';
import { writeProofBundle } from '../../src/http/write-bundle.ts';
import type { LogView } from '../../src/ledger/ledger.ts';
import { type DurableLedger, type LedgerOptions, openLedger } from '../../src/ledger/open.ts';
import { SnapshotReader } from '../../src/ledger/reads/snapshot-reader.ts';
import { readLogPositions } from '../../src/store/log-positions.ts';
import { encodeEntryBundle } from '../../src/tlog/entry-bundle.ts';
import { TlogError } from '../../src/tlog/fault.ts';
import { parseEntriesPath, parseTilePath } from '../../src/tlog/tile.ts';
import { cloneFolder } from '../files/copy-folder.ts';

import { type Entry, editedEntry } from './insider.ts';

type Reads = Pick<
  DurableLedger,
  'head' | 'heads' | 'entries' | 'bundle' | 'inclusion' | 'consistency' | 'leaf' | 'tile' | 'entryBundle'
>;

type Answer = { readonly status: number; readonly body: string | Uint8Array };

/**
 * A change of the response for a path: `tell` returns the changed text of the real response. The text of a tile has one
 * character per byte.
 */
export type Lie = { readonly path: string; tell(body: string): string | Answer };

/**
 * The real ledger behind a small HTTP server. Tests can change its responses, and copy the log so that it contradicts
 * itself.
 */
export class ServedLog {
  readonly #server: Server;
  readonly #folders: string[] = [];
  #ledger: DurableLedger;
  #folder: string;
  #entries = 0;
  /** Settled once the current ledger is open: requests wait while the ledger is replaced. */
  #exchanged: Promise<void> = Promise.resolve();
  readonly #answering = new Set<Promise<Answer>>();
  lies: Lie[] = [];
  /** The clock of the log in epoch milliseconds. */
  now = Date.now();
  /** Options for opening the ledger the next time. */
  options: Partial<LedgerOptions> = {};
  /** The served view. Callers without a token see `published` if `options.publicationDelayMs` is set. */
  view: LogView = 'current';
  /** Opened for the first read of the view `published`. */
  #reader: SnapshotReader | undefined;
  /** Whether the folder has a database of events, which the next start compares with the log. */
  hasEvents = false;

  private constructor(folder: string, ledger: DurableLedger, server: Server) {
    this.#folder = folder;
    this.#folders.push(folder);
    this.#ledger = ledger;
    this.#server = server;
  }

  /** Starts an empty log. `now`: initial clock of the log in epoch milliseconds. */
  static async start(now = Date.now()): Promise<ServedLog> {
    const folder = mkdtempSync(join(tmpdir(), 'candor-log-'));
    let log: ServedLog | undefined;
    const ledger = await opened(folder, () => log?.now ?? now);
    const server = createServer((request, response) => {
      void log!.#answer(request.url ?? '/').then(({ status, body }) => {
        response.writeHead(status, { 'content-type': 'application/json' }).end(body);
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    log = new ServedLog(folder, ledger, server);
    log.now = now;
    return log;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** The data folder. A clone of this folder equals the folder that a killed process leaves. */
  get folder(): string {
    return this.#folder;
  }

  get ledger(): DurableLedger {
    return this.#ledger;
  }

  /** Appends entries in one batch; returns their ids. */
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

  /** Copies the log. Returns the folder of the copy, for `restore`. */
  async snapshot(): Promise<string> {
    const copy = mkdtempSync(join(tmpdir(), 'candor-log-'));
    this.#folders.push(copy);
    await this.#exchange(() => {
      cloneFolder(this.#folder, copy);
      return this.#folder;
    });
    return copy;
  }

  /**
   * Stops the ledger, lets an attacker with disk access change its files, and continues with the result. If the
   * callback returns a folder, the ledger continues in that folder.
   */
  async tamper(change: (folder: string) => unknown): Promise<void> {
    await this.#exchange(async () => {
      const left = await change(this.#folder);
      return typeof left === 'string' ? left : this.#folder;
    });
  }

  /** Serves a changed entry in its bundle, as a service would that does not verify its responses. */
  serveEdited(index: number, change: (entry: Entry) => unknown, signAgain = false): void {
    const bundle = Math.floor(index / 256);
    const tell = (body: string): Answer => {
      const stored = entriesOf(Buffer.from(body, 'latin1'));
      const at = index % 256;
      stored[at] = editedEntry(this.#folder, stored[at]!, change, signAgain);
      return { status: 200, body: encodeEntryBundle(stored) };
    };
    this.lies.push({ path: `/tile/entries/${String(bundle).padStart(3, '0')}`, tell });
  }

  /** Serves two swapped hashes of a tile of level 0. */
  serveSwapped(tile: number, a: number, b: number): void {
    const tell = (body: string): string => {
      const hashes = Array.from({ length: body.length / 32 }, (_, i) => body.slice(32 * i, 32 * i + 32));
      [hashes[a], hashes[b]] = [hashes[b]!, hashes[a]!];
      return hashes.join('');
    };
    this.lies.push({ path: `/tile/0/${String(tile).padStart(3, '0')}`, tell });
  }

  /** Serves a copy instead of the log, without the later entries. */
  async restore(copy: string): Promise<void> {
    await this.#exchange(() => copy);
  }

  async close(): Promise<void> {
    if (!this.#server.listening) return;
    await new Promise((resolve) => this.#server.close(resolve).closeAllConnections());
    await this.#closeLedger();
    for (const folder of this.#folders) rmSync(folder, { recursive: true, force: true });
  }

  /** Closes the ledger when no request is in progress, and opens the folder that `between` returns. */
  #exchange(between: () => string | Promise<string>): Promise<void> {
    const before = this.#exchanged;
    const exchange = async (): Promise<void> => {
      await before;
      await Promise.allSettled(this.#answering);
      await this.#closeLedger();
      this.#folder = await between();
      const folder = this.#folder;
      const places = this.hasEvents ? { logPositions: () => readLogPositions(folder) } : {};
      this.#ledger = await opened(folder, () => this.now, { ...places, ...this.options });
    };
    this.#exchanged = exchange();
    return this.#exchanged;
  }

  async #closeLedger(): Promise<void> {
    await this.#reader?.close();
    this.#reader = undefined;
    await this.#ledger.close();
  }

  /** Returns the read operations of the view. The view `published` is read as in the service, with `SnapshotReader`. */
  async #reads(): Promise<Reads> {
    const { view } = this;
    if (view === 'current') return this.#ledger;
    const { publicationDelayMs = 0 } = this.options;
    const clock = () => BigInt(this.now) * 1_000_000n;
    const about = { dataDir: this.#folder, clock, publicationDelayMs, scrub: 'by hand' as const };
    this.#reader ??= await SnapshotReader.open(about);
    const reader = this.#reader;
    return {
      head: (size) => reader.head(view, size),
      heads: (query) => reader.heads(view, query),
      entries: (query) => reader.entries(view, query),
      bundle: (leaf, published) => reader.bundle(view, leaf, { published, signed: undefined }),
      inclusion: (leaf, size) => reader.inclusion(view, leaf, size),
      consistency: (first, second) => reader.consistency(view, first, second),
      leaf: (leaf) => reader.leaf(view, leaf),
      tile: (tile) => reader.tile(view, tile),
      entryBundle: (index, width) => reader.entryBundle(view, index, width),
    };
  }

  async #answer(target: string): Promise<Answer> {
    await this.#exchanged;
    const answer = this.#told(target);
    this.#answering.add(answer);
    return answer.finally(() => this.#answering.delete(answer));
  }

  async #told(target: string): Promise<Answer> {
    const url = new URL(target, 'http://log');
    const truth = await this.#truth(url).catch((error: unknown) => refused(error));
    // A changed response for a full tile also applies to its partial tiles.
    const { pathname } = url;
    const lie = this.lies.find(({ path }) => path === pathname || path === pathname.replace(/\.p\/\d+$/, ''));
    if (lie === undefined) return truth;
    if (typeof truth.body !== 'string') {
      const told = lie.tell(Buffer.from(truth.body).toString('latin1'));
      return typeof told === 'string' ? { ...truth, body: Buffer.from(told, 'latin1') } : told;
    }
    const told = lie.tell(truth.body);
    return typeof told === 'string' ? { ...truth, body: told } : told;
  }

  async #truth(url: URL): Promise<Answer> {
    const reads = await this.#reads();
    const number = (name: string) => Number(url.searchParams.get(name));
    const leaf = {
      ...(url.searchParams.has('leaf_index') ? { leaf_index: number('leaf_index') } : {}),
      ...(url.searchParams.has('entry_id') ? { entry_id: url.searchParams.get('entry_id')! } : {}),
      ...(url.searchParams.has('leaf_hash') ? { leaf_hash: url.searchParams.get('leaf_hash')! } : {}),
    };
    const optional = (name: string) => (url.searchParams.has(name) ? number(name) : undefined);
    const given = (...names: string[]) =>
      Object.fromEntries(names.filter((name) => url.searchParams.has(name)).map((name) => [name, number(name)]));
    const paging = { page: optional('page') ?? 1, per_page: optional('per_page') ?? 50 };
    const ok = (body: string): Answer => ({ status: 200, body });
    switch (url.pathname) {
      case '/api/transparency/sth':
        return ok(writeTreeHead(await reads.head(optional('tree_size'))));
      case '/api/transparency/sths': {
        const { heads, total } = await reads.heads({
          ...given('from_size', 'to_size'),
          ...paging,
        });
        const items = heads.map(
          (head) =>
            `{"id":"${head.tree_size}-${BigInt(head.timestamp_ns)}","type":"tree_head","attributes":${writeTreeHead(head)}}`,
        );
        return ok(listOf(items, total, paging));
      }
      case '/api/transparency/entries': {
        const kinds = url.searchParams.getAll('kind');
        const { leaves, total } = await reads.entries({
          ...given('from', 'to'),
          ...(kinds.length === 0 ? {} : { kinds }),
          ...paging,
        });
        return ok(listOf(leaves.map(leafItem), total, paging));
      }
      case '/api/transparency/proof': {
        const published = await this.#ledger.checkpoint();
        return ok(writeProofBundle(await reads.bundle(leaf, published)));
      }
      case '/.well-known/jwks.json':
        return ok(JSON.stringify({ keys: await this.#ledger.currentKeys() }));
      case '/api/transparency/keys': {
        const keys = await this.#ledger.keys();
        const shown = keys.slice((paging.page - 1) * paging.per_page, paging.page * paging.per_page);
        const items = shown.map((jwk) => JSON.stringify({ id: jwk.kid, type: 'public_key', attributes: jwk }));
        return ok(listOf(items, keys.length, paging));
      }
      case '/api/transparency/key-history': {
        const { leaves, total } = await reads.entries({ kinds: keyHistoryKinds, ...paging });
        return ok(listOf(leaves.map(leafItem), total, paging));
      }
      case '/api/transparency/inclusion':
        return ok(JSON.stringify(await reads.inclusion(leaf, number('tree_size'))));
      case '/api/transparency/consistency':
        return ok(JSON.stringify(await reads.consistency(number('first'), number('second'))));
      case '/api/transparency/leaf': {
        const stored = await reads.leaf(leaf);
        const text = Buffer.from(stored.canonical).toString();
        const canonical = Buffer.from(stored.canonical).toString('base64');
        return ok(JSON.stringify({ ...stored, canonical, entry: JSON.parse(text) }));
      }
      case '/checkpoint':
        return ok(await this.#ledger.checkpoint());
      default:
        return this.#tile(reads, url.pathname);
    }
  }

  async #tile(reads: Reads, path: string): Promise<Answer> {
    if (path.startsWith('/tile/entries/')) {
      const { index, width } = parsed(() => parseEntriesPath(path.slice('/tile/entries/'.length)));
      return { status: 200, body: await reads.entryBundle(index, width) };
    }
    if (!path.startsWith('/tile/')) throw new ServiceError('NOT_FOUND', path);
    const address = parsed(() => parseTilePath(path.slice('/tile/'.length)));
    return { status: 200, body: await reads.tile(address) };
  }
}

/** Opens the ledger as the service does. `now`: epoch milliseconds. */
function opened(dataDir: string, now: () => number, options: Partial<LedgerOptions> = {}): Promise<DurableLedger> {
  const clock = () => BigInt(now()) * 1_000_000n;
  return openLedger({ dataDir, clock, ...options });
}

/** Returns the entries of a bundle of any length. */
function entriesOf(bytes: Buffer): Uint8Array[] {
  const entries: Uint8Array[] = [];
  for (let at = 0; at < bytes.length; at += 2 + bytes.readUInt16BE(at))
    entries.push(new Uint8Array(bytes.subarray(at + 2, at + 2 + bytes.readUInt16BE(at))));
  return entries;
}

/** Returns the envelope of a list. */
function listOf(
  items: readonly string[],
  total: number,
  { page, per_page }: { page: number; per_page: number },
): string {
  const total_pages = Math.ceil(total / per_page);
  const pagination = { page, per_page, total, total_pages, has_next: page < total_pages, has_prev: page > 1 };
  const rest = { pagination, meta: { timestamp: new Date().toISOString(), query_time_ms: 0 } };
  return `{"data":[${items.join(',')}],${JSON.stringify(rest).slice(1)}`;
}

/** Converts faults of the path to NOT_FOUND; any other error is a bug in the test. */
function parsed<T>(parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    if (error instanceof TlogError) throw new ServiceError('NOT_FOUND', error.message);
    throw error;
  }
}

function refused(error: unknown): Answer {
  if (!(error instanceof ServiceError)) throw error;
  const body = { error: { code: error.code, message: error.message }, timestamp: new Date().toISOString() };
  return { status: errorCodes[error.code].status, body: JSON.stringify(body) };
}
