/**
 * How long does it take to derive a whole log again from its entries? Leaves a second of `candor fsck`, with one thread and
 * with all, on a log whose heads cover 4,000 leaves each; and of a rebuild from its damaged file.
 */
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fsck } from '../src/ledger/check/fsck.ts';
import { rebuild } from '../src/ledger/check/rebuild.ts';
import { signHead } from '../src/ledger/heads.ts';
import { KeyRing } from '../src/ledger/keys/key-ring.ts';
import { openLedger } from '../src/ledger/open.ts';
import { LeafIndex } from '../src/ledger/storage/leaf-index.ts';
import { LmdbStorage } from '../src/ledger/storage/lmdb-store.ts';
import type { LeafBucket } from '../src/ledger/storage/storage.ts';
import { sha256 } from '../src/sha256.ts';
import { GrowingTree } from '../src/tlog/growing-tree.ts';
import { leafHash } from '../src/tlog/tree.ts';
import { uuid7 } from '../src/uuid.ts';
import type { BenchRow } from './result.ts';

const leavesAHead = 4000;

export async function run(leaves = 1_000_000): Promise<BenchRow[]> {
  const dataDir = mkdtempSync(join(tmpdir(), 'candor-bench-fsck-'));
  try {
    const bytes = await makeLog(dataDir, leaves);
    const question = `Deriving a log of ${leaves.toLocaleString('en')} leaves again from entries of ${bytes} bytes`;
    const rows: BenchRow[] = [];
    for (const threads of new Set([1, availableParallelism()])) {
      const { ok, elapsedMs } = await fsck({ dataDir, threads });
      if (!ok) throw new Error('the log is not whole');
      const value = Math.round((leaves / elapsedMs) * 1000);
      const note = threads === 1 ? {} : { note: 'goal: 300,000' };
      rows.push({ question, variant: `fsck, threads: ${threads}`, value, unit: 'leaves/s', ...note });
    }
    tearMetaPage(join(dataDir, 'ledger.mdb'));
    const start = performance.now();
    const { outcome } = await rebuild({ dataDir });
    if (outcome !== 'rebuilt') throw new Error(`the log was not rebuilt, but ${outcome}`);
    const value = Math.round((leaves / (performance.now() - start)) * 1000);
    rows.push({ question, variant: 'rebuild, with its checks before and after', value, unit: 'leaves/s' });
    return rows;
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
}

/** Returns the bytes of an entry. Signatures of entries are not looked at, so that they are none. */
async function makeLog(dataDir: string, leaves: number): Promise<number> {
  await (await openLedger({ dataDir })).close();
  const keys = await KeyRing.load(join(dataDir, 'keys'));
  const [headKey, eventKey] = [keys.active('transparency-sth')!, keys.active('event-signing')!];
  const storage = new LmdbStorage(join(dataDir, 'ledger.mdb'));
  const tree = GrowingTree.load(sha256, 0, () => undefined)!;
  const index = new LeafIndex();
  let bytes = 0;
  for (let first = 0; first < leaves; first += leavesAHead) {
    const buckets: LeafBucket[] = [];
    const entries = Array.from({ length: Math.min(leavesAHead, leaves - first) }, (_, i) => {
      const entry = entryText(first + i, eventKey.kid);
      const hash = leafHash(sha256, entry.canonical);
      tree.append(hash);
      buckets.push(...index.add(hash));
      bytes = entry.canonical.length;
      return entry;
    });
    const head = signHead(tree.size, tree.root(), BigInt(tree.size) * 1024n, headKey);
    storage.load({ first, entries, pages: tree.takePages(), buckets, heads: [head] });
  }
  storage.complete();
  await storage.close();
  return bytes;
}

function entryText(n: number, keyId: string): { id: string; canonical: Buffer } {
  const id = uuid7(1_763_700_000_000 + Math.floor(n / 10));
  const kind = n % 7 === 0 ? 'token.issued' : 'alert.raised';
  const data =
    `{"count":${n},"dst_ip":"203.0.113.77","dst_port":22,"first_seen":"2025-11-21T03:59:58.123Z","rule_id":"2003068",` +
    '"rule_source":"suricata","severity":"high","src_ip":"10.20.30.40","title":"ET SCAN Potential SSH Scan OUTBOUND",' +
    '"transport":"tcp"}';
  const text =
    `{"actor":"system","data":${data},"id":"${id}","key_id":"${keyId}","kind":"${kind}",` +
    `"occurred_at":"2025-11-21T04:00:00.000Z","signature":"${'f'.repeat(128)}","subject":{"id":"${id}","type":"alert"}}`;
  return { id, canonical: Buffer.from(text) };
}

/** The cheapest damage that makes everything be written anew. */
function tearMetaPage(path: string): void {
  const file = openSync(path, 'r+');
  writeSync(file, Buffer.alloc(4096), 0, 4096, 0);
  closeSync(file);
}

if (import.meta.main) console.table(await run());
