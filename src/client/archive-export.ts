import { equalHashes, leafHash } from '../tlog/tree.ts';
import { type ArchiveHeader, checkArchiveRoot } from './archive.ts';
import { CompactRange } from './compact-range.ts';
import { fetchConsistency } from './consistency.ts';
import { bundles } from './entries.ts';
import { Fault } from './fault.ts';
import { fetchAllKeys, fetchCheckpoint, fetchHead } from './latest.ts';
import { type LogSource, NotFound, patient } from './log-source.ts';
import { sha256 } from './sha256.ts';
import { fetchEdge } from './tiles.ts';

export interface ExportOptions {
  readonly now: number;
  readonly from?: number;
  /** Default: up to the head. */
  readonly to?: number;
}

/** Reads what is needed to begin an archive: the head, the keys, and what ties the range to the head. */
export async function beginArchive(log: LogSource, options: ExportOptions): Promise<ArchiveHeader | Fault> {
  const signed = await fetchHead(log);
  if (signed instanceof Fault) return signed;
  const { head } = signed;
  // Entries of any age are exported, so any key may be needed.
  const keys = await fetchAllKeys(log, signed.keys);
  if (keys instanceof Fault) return keys;
  const { from = 0, to = head.size } = options;
  if (from >= to || to > head.size)
    return new Fault('NO_SUCH_RANGE', `wanted entries from ${from} to below ${to}, the log has ${head.size}`);
  const edge = from === 0 ? [] : await fetchEdge(log, from, head.size);
  if (edge instanceof Fault) return edge;
  const proof = to === head.size ? { path: [] } : await fetchConsistency(log, to, head.size);
  if (proof instanceof Fault) return proof;
  const checkpoint = await fetchCheckpoint(log, keys);
  if (checkpoint instanceof Fault && !(checkpoint instanceof NotFound)) return checkpoint;
  const same = !(checkpoint instanceof Fault) && checkpoint.size === head.size ? checkpoint : undefined;
  if (same !== undefined && !equalHashes(same.root, head.root))
    return new Fault(
      'UNPROVEN',
      `two roots are signed for size ${head.size}: by the head and by the checkpoint`,
    );
  return {
    log: log.url,
    from,
    to,
    exportedAt: new Date(options.now).toISOString(),
    head,
    keys,
    edge,
    proof: proof.path,
    ...(same === undefined ? {} : { checkpoint: same.note }),
  };
}

/**
 * The entries that the header announces, a bundle at a time. Their root is compared with the head's before the last
 * are given, so that no archive comes to be whole that wouldn't verify; signatures are left to `verifyArchive`.
 */
export async function* exportEntries(
  log: LogSource,
  header: ArchiveHeader,
): AsyncGenerator<{ first: number; entries: Uint8Array[] } | Fault, void> {
  const range = new CompactRange(sha256, header.from, header.edge);
  for await (const entries of bundles(patient(log), header.from, header.to)) {
    if (entries instanceof Fault) return yield entries;
    const first = range.size;
    for (const canonical of entries) range.append(leafHash(sha256, canonical));
    const wrong = range.size === header.to ? checkArchiveRoot(range.root(), header) : undefined;
    if (wrong !== undefined) return yield wrong;
    yield { first, entries };
  }
}
