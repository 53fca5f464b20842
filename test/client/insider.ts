/** Attacks on a log by an insider with its files and keys, using parts of the ledger itself. */
import { createPrivateKey, sign } from 'node:crypto';
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { sha256 } from '../../src/client/sha256.ts';
import { jcs } from '../../src/contract/jcs.ts';
import { type Database, openDatabase } from '../../src/database/lmdb.ts';
import { LeafIndex } from '../../src/ledger/storage/leaf-index.ts';
import { LmdbStorage } from '../../src/ledger/storage/lmdb-store.ts';
import { GrowingTree } from '../../src/tlog/growing-tree.ts';
import { encodeHead } from '../../src/tlog/head.ts';
import { leafHash } from '../../src/tlog/tree.ts';

export type Entry = Record<string, unknown>;

/**
 * Rewrites the log from changed entries: all nodes are recomputed, and the real key signs a head with `timestampNs`
 * (default: the time of the last head).
 */
export async function rewrite(
  folder: string,
  change: (entries: Entry[]) => unknown,
  timestampNs?: bigint,
): Promise<void> {
  const file = join(folder, 'ledger.mdb');
  const old = new LmdbStorage(file);
  const last = old.latestHead()!;
  const entries = Array.from({ length: last.size }, (_, i) => parse(old.canonical(i)!));
  await old.close();
  change(entries);
  for (const name of ['ledger.mdb', 'ledger.mdb-lock', 'anchor.json', 'journal.ndjson'])
    rmSync(join(folder, name), { force: true });

  const tree = GrowingTree.load(sha256, 0, () => undefined)!;
  const leaves = LeafIndex.load(0, () => new Uint8Array());
  const stored = entries.map((entry) => {
    const canonical = signedEntry(folder, entry);
    const hash = leafHash(sha256, canonical);
    tree.append(hash);
    return { id: String(entry.id), kind: String(entry.kind), canonical, buckets: leaves.add(hash) };
  });
  const head = { size: tree.size, root: tree.root(), timestampNs: timestampNs ?? last.timestampNs };
  const signer = activeKey(folder, 'transparency-sth');
  const storage = new LmdbStorage(file);
  storage.setState('ready');
  storage.commit(
    {
      first: 0,
      entries: stored,
      pages: tree.takePages(),
      buckets: stored.flatMap(({ buckets }) => buckets),
      head: { ...head, signature: signer.sign(encodeHead(head)), keyId: signer.kid },
    },
    () => {},
  );
  await storage.close();
}

/** Returns the bytes of an entry after a change; with `signAgain`, signed by the real event key. */
export function editedEntry(
  folder: string,
  canonical: Uint8Array,
  change: (entry: Entry) => unknown,
  signAgain = false,
): Uint8Array {
  const entry = parse(canonical);
  change(entry);
  return signAgain ? signedEntry(folder, entry) : bytes(jcs(entry));
}

/** Replaces the last head with a head that has a different root and is signed by the real key. */
export async function signOtherRoot(folder: string): Promise<void> {
  const signer = activeKey(folder, 'transparency-sth');
  await inTable(folder, 'heads', (heads) => {
    for (const { key, value } of heads.getRange({ reverse: true, limit: 1 })) {
      const row = Buffer.from(value as Uint8Array);
      row[8] = row[8]! ^ 1;
      row.set(signer.sign(row.subarray(0, 48)), 48);
      heads.putSync(key, row);
    }
  });
}

async function inTable(folder: string, name: string, change: (table: Database) => void): Promise<void> {
  const root = openDatabase(join(folder, 'ledger.mdb'), { maxDbs: 16 });
  const table = root.openDB({ name, encoding: 'binary' });
  root.transactionSync(() => change(table));
  await root.close();
}

function signedEntry(folder: string, entry: Entry): Uint8Array {
  const { signature: _old, ...unsigned } = entry;
  const key = activeKey(folder, 'event-signing');
  const named = { ...unsigned, key_id: key.kid };
  return bytes(jcs({ ...named, signature: key.sign(bytes(jcs(named))).toString('hex') }));
}

export interface PrivateKey {
  readonly kid: string;
  sign(message: Uint8Array): Buffer;
}

export function activeKey(folder: string, purpose: string): PrivateKey {
  for (const name of readdirSync(join(folder, 'keys')).sort().reverse()) {
    const jwk = JSON.parse(readFileSync(join(folder, 'keys', name), 'utf8')) as Record<string, string>;
    if (jwk.svc_purpose !== purpose || jwk.svc_state !== 'active') continue;
    const { kty, crv, x, d } = jwk;
    const key = createPrivateKey({ key: { kty, crv, x, d } as never, format: 'jwk' });
    return { kid: jwk.kid!, sign: (message) => sign(null, message, key) };
  }
  throw new Error(`no active key for ${purpose}`);
}

function parse(canonical: Uint8Array): Entry {
  return JSON.parse(new TextDecoder().decode(canonical)) as Entry;
}

function bytes(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}
