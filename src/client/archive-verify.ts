import type { Ed25519Verifier } from '../tlog/note.ts';
import { equalHashes } from '../tlog/tree.ts';
import { type ArchiveHeader, checkArchiveRoot, malformedArchive, parseArchiveHeader } from './archive.ts';
import { type CheckpointPolicy, type SignedCheckpoint, verifyCheckpoint } from './checkpoint.ts';
import { parseExact } from './exact-json.ts';
import { AuditFault } from './fault.ts';
import { anchored, canAccuse, type KeySet, type LogKey } from './key-set.ts';
import { LeafAudit, type TreeEdge } from './leaf-audit.ts';
import { readLeaf, verifyHead } from './verify.ts';

export interface VerifiedArchive {
  readonly header: ArchiveHeader;
  readonly headKey: LogKey;
  readonly checkpoint: SignedCheckpoint | undefined;
  readonly entries: number;
  /** Entries signed by a key that was revoked later. */
  readonly byRevokedKeys: number;
}

export interface ArchiveOptions {
  /** Keys that replace the keys in the archive. */
  readonly keys?: KeySet;
  /** Tree-head and checkpoint keys that replace those in the archive, for example from a pin. */
  readonly trusted?: KeySet;
  /** Required signatures of the checkpoint. If given, an archive without a checkpoint is rejected. */
  readonly checkpoint?: CheckpointPolicy;
  /** Verifies signatures of entries. Must accept the same signatures as the default, `verifyEd25519` (1 ms each). */
  readonly verify?: Ed25519Verifier;
  onProgress?(next: number, end: number): void;
}

/**
 * Verifies an archive from its lines, each of at most `maxArchiveLine` characters: all signatures, and the
 * root of the entries.
 */
export async function verifyArchive(
  lines: AsyncIterable<string>,
  options: ArchiveOptions = {},
): Promise<VerifiedArchive | AuditFault> {
  let started: { header: ArchiveHeader; headKey: LogKey; leaves: LeafAudit } | undefined;
  for await (const line of lines) {
    if (started === undefined) {
      const first = start(line, options);
      if (first instanceof AuditFault) return first;
      started = first;
      continue;
    }
    const failed = addLine(line, started.leaves, started.header);
    if (failed !== undefined) return failed;
    options.onProgress?.(started.leaves.size, started.header.to);
  }
  if (started === undefined) return malformedArchive('it is empty');
  const { header, headKey, leaves } = started;
  if (leaves.size < header.to) return malformedArchive(`it ends before entry ${leaves.size} instead of ${header.to}`);
  const wrong = checkArchiveRoot(leaves.root(), header);
  if (wrong !== undefined) return wrong;
  const checkpoint = checkpointOf(header, keysOf(header, options), options.checkpoint);
  if (checkpoint instanceof AuditFault) return checkpoint;
  const { byRevokedKeys } = leaves;
  return { header, headKey, checkpoint, entries: header.to - header.from, byRevokedKeys };
}

function keysOf(header: ArchiveHeader, { keys, trusted }: ArchiveOptions): KeySet {
  return keys ?? (trusted === undefined ? header.keys : anchored(header.keys, trusted));
}

function start(
  line: string,
  options: ArchiveOptions,
): { header: ArchiveHeader; headKey: LogKey; leaves: LeafAudit } | AuditFault {
  const header = parseArchiveHeader(line);
  if (header instanceof AuditFault) return header;
  const keys = keysOf(header, options);
  const headKey = verifyHead(header.head, keys);
  if (headKey instanceof AuditFault) return headKey;
  const start: TreeEdge = { size: header.from, edge: header.edge };
  return { header, headKey, leaves: new LeafAudit(keys, start, options.verify) };
}

function addLine(line: string, leaves: LeafAudit, header: ArchiveHeader): AuditFault | undefined {
  const leaf = readLeaf(parseExact(line));
  if (leaf instanceof AuditFault) return new AuditFault(leaf.code, `after entry ${leaves.size - 1}: ${leaf.message}`);
  if (leaves.size === header.to) return malformedArchive(`more lines than entries ${header.from} to ${header.to}`);
  if (leaf.leafIndex !== leaves.size)
    return new AuditFault('WRONG_LEAF', `expected entry ${leaves.size}, got ${leaf.leafIndex}`);
  const entry = leaves.add(leaf.canonical);
  return entry instanceof AuditFault ? entry : undefined;
}

function checkpointOf(
  header: ArchiveHeader,
  keys: KeySet,
  policy: CheckpointPolicy | undefined,
): SignedCheckpoint | AuditFault | undefined {
  if (header.checkpoint === undefined)
    return (
      policy && new AuditFault('UNSIGNED_CHECKPOINT', 'the archive has no checkpoint, which the given policy requires')
    );
  const checkpoint = verifyCheckpoint(header.checkpoint, keys, policy);
  if (checkpoint instanceof AuditFault) return checkpoint;
  const { head } = header;
  // A checkpoint of a different size can't be compared without a proof, so this is an invalid archive rather
  // than misbehaviour.
  if (checkpoint.size !== head.size)
    return malformedArchive(`its checkpoint has size ${checkpoint.size}, but its head has size ${head.size}`);
  if (equalHashes(checkpoint.root, head.root)) return checkpoint;
  const message = `head and checkpoint sign different roots for size ${head.size}`;
  return new AuditFault(canAccuse(keys, head.signerKeyId, checkpoint.key) ? 'FORK' : 'WRONG_ROOT', message);
}
