import { equalHashes, leafHash } from '../tlog/tree.ts';
import { type ArchiveHeader, checkArchiveRoot } from './archive.ts';
import { CompactRange } from './compact-range.ts';
import { fetchConsistency } from './consistency.ts';
import { bundles } from './entries.ts';
import { AuditFault } from './fault.ts';
import { fetchAllKeys, fetchCheckpoint, fetchHead } from './latest.ts';
import { type LogSource, NotFound, patient } from './log-source.ts';
import { sha256 } from './sha256.ts';
import { fetchEdge } from './tiles.ts';

export interface ExportOptions {
  readonly now: number;
  readonly from?: number;
  /** Index after the last exported entry. Default: the size of the head. */
  readonly to?: number;
}

/**
 * Fetches the header of an archive: head, keys, the hashes that connect the range of entries to the head, and the
 * checkpoint if it has the size of the head.
 */
export async function beginArchive(log: LogSource, options: ExportOptions): Promise<ArchiveHeader | AuditFault> {
  const signed = await fetchHead(log);
  if (signed instanceof AuditFault) return signed;
  const { head } = signed;
  // Exported entries may be old, so all keys are fetched.
  const keys = await fetchAllKeys(log, signed.keys);
  if (keys instanceof AuditFault) return keys;
  const { from = 0, to = head.size } = options;
  if (from >= to || to > head.size)
    return new AuditFault(
      'NO_SUCH_RANGE',
      `requested entries from ${from} to below ${to}, but the log has ${head.size}`,
    );
  const edge = from === 0 ? [] : await fetchEdge(log, from, head.size);
  if (edge instanceof AuditFault) return edge;
  const proof = to === head.size ? { path: [] } : await fetchConsistency(log, to, head.size);
  if (proof instanceof AuditFault) return proof;
  const checkpoint = await fetchCheckpoint(log, keys);
  if (checkpoint instanceof AuditFault && !(checkpoint instanceof NotFound)) return checkpoint;
  const matching = !(checkpoint instanceof AuditFault) && checkpoint.size === head.size ? checkpoint : undefined;
  if (matching !== undefined && !equalHashes(matching.root, head.root))
    return new AuditFault('UNPROVEN', `head and checkpoint sign different roots for size ${head.size}`);
  return {
    log: log.url,
    from,
    to,
    exportedAt: new Date(options.now).toISOString(),
    head,
    keys,
    edge,
    proof: proof.path,
    ...(matching === undefined ? {} : { checkpoint: matching.note }),
  };
}

/**
 * Yields the entries of the header's range, one bundle at a time. Checks their root against the head before yielding
 * the last bundle, so that an archive that would not verify is never completed. Signatures are checked only by
 * `verifyArchive`.
 */
export async function* exportEntries(
  log: LogSource,
  header: ArchiveHeader,
): AsyncGenerator<{ first: number; entries: Uint8Array[] } | AuditFault, void> {
  const range = new CompactRange(sha256, header.from, header.edge);
  for await (const entries of bundles(patient(log), header.from, header.to)) {
    if (entries instanceof AuditFault) return yield entries;
    const first = range.size;
    for (const canonical of entries) range.append(leafHash(sha256, canonical));
    const wrong = range.size === header.to ? checkArchiveRoot(range.root(), header) : undefined;
    if (wrong !== undefined) return yield wrong;
    yield { first, entries };
  }
}
