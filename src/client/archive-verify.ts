import type { Ed25519Verifier } from '../tlog/note.ts';
import { equalHashes } from '../tlog/tree.ts';
import { type ArchiveHeader, checkArchiveRoot, malformedArchive, parseArchiveHeader } from './archive.ts';
import { type CheckpointPolicy, type SignedCheckpoint, verifyCheckpoint } from './checkpoint.ts';
import { parseExact } from './exact-json.ts';
import { Fault } from './fault.ts';
import { anchored, canAccuse, type KeySet, type LogKey } from './key-set.ts';
import { LeafAudit, type TreeEdge } from './leaf-audit.ts';
import { readLeaf, verifyHead } from './verify.ts';

export interface VerifiedArchive {
  readonly header: ArchiveHeader;
  readonly headKey: LogKey;
  readonly checkpoint: SignedCheckpoint | undefined;
  readonly entries: number;
  /** Entries that a key signed which was revoked later. */
  readonly byRevokedKeys: number;
}

export interface ArchiveOptions {
  /** Keys that count instead of those in the archive. */
  readonly keys?: KeySet;
  /** Tree-head and checkpoint keys that count instead of those in the archive, as of a pin. */
  readonly trusted?: KeySet;
  /** Whose signatures the checkpoint must have. Where one is given, an archive without a checkpoint is refused. */
  readonly checkpoint?: CheckpointPolicy;
  /** Verifies the signatures of entries instead of @noble/ed25519 (1 ms each), under the same policy. */
  readonly verify?: Ed25519Verifier;
  onProgress?(next: number, end: number): void;
}

/** Verifies an archive from its lines, each of at most `maxArchiveLine`: every signature, and the root they give. */
export async function verifyArchive(
  lines: AsyncIterable<string>,
  options: ArchiveOptions = {},
): Promise<VerifiedArchive | Fault> {
  let begun: { header: ArchiveHeader; headKey: LogKey; leaves: LeafAudit } | undefined;
  for await (const line of lines) {
    if (begun === undefined) {
      const first = begin(line, options);
      if (first instanceof Fault) return first;
      begun = first;
      continue;
    }
    const failed = addLine(line, begun.leaves, begun.header);
    if (failed !== undefined) return failed;
    options.onProgress?.(begun.leaves.size, begun.header.to);
  }
  if (begun === undefined) return malformedArchive('it is empty');
  const { header, headKey, leaves } = begun;
  if (leaves.size < header.to)
    return malformedArchive(`it ends before entry ${leaves.size}, and should go on to below ${header.to}`);
  const wrong = checkArchiveRoot(leaves.root(), header);
  if (wrong !== undefined) return wrong;
  const checkpoint = checkpointOf(header, keysOf(header, options), options.checkpoint);
  if (checkpoint instanceof Fault) return checkpoint;
  const { byRevokedKeys } = leaves;
  return { header, headKey, checkpoint, entries: header.to - header.from, byRevokedKeys };
}

function keysOf(header: ArchiveHeader, { keys, trusted }: ArchiveOptions): KeySet {
  return keys ?? (trusted === undefined ? header.keys : anchored(header.keys, trusted));
}

function begin(
  line: string,
  options: ArchiveOptions,
): { header: ArchiveHeader; headKey: LogKey; leaves: LeafAudit } | Fault {
  const header = parseArchiveHeader(line);
  if (header instanceof Fault) return header;
  const keys = keysOf(header, options);
  const headKey = verifyHead(header.head, keys);
  if (headKey instanceof Fault) return headKey;
  const start: TreeEdge = { size: header.from, edge: header.edge };
  return { header, headKey, leaves: new LeafAudit(keys, start, options.verify) };
}

function addLine(line: string, leaves: LeafAudit, header: ArchiveHeader): Fault | undefined {
  const leaf = readLeaf(parseExact(line));
  if (leaf instanceof Fault) return new Fault(leaf.code, `after entry ${leaves.size - 1}: ${leaf.message}`);
  if (leaves.size === header.to)
    return malformedArchive(`more lines than entries ${header.from} to ${header.to}`);
  if (leaf.leafIndex !== leaves.size)
    return new Fault('WRONG_LEAF', `wanted entry ${leaves.size}, came ${leaf.leafIndex}`);
  const entry = leaves.add(leaf.canonical);
  return entry instanceof Fault ? entry : undefined;
}

function checkpointOf(
  header: ArchiveHeader,
  keys: KeySet,
  policy: CheckpointPolicy | undefined,
): SignedCheckpoint | Fault | undefined {
  if (header.checkpoint === undefined)
    return policy && new Fault('UNSIGNED_CHECKPOINT', 'the archive has no checkpoint');
  const checkpoint = verifyCheckpoint(header.checkpoint, keys, policy);
  if (checkpoint instanceof Fault) return checkpoint;
  const { head } = header;
  // Of another size nothing can be said without a proof: that convicts nobody, it is just no archive.
  if (checkpoint.size !== head.size)
    return malformedArchive(`its checkpoint is of size ${checkpoint.size}, its head of ${head.size}`);
  if (equalHashes(checkpoint.root, head.root)) return checkpoint;
  const message = `two roots are signed for size ${head.size}: by the head and by the checkpoint`;
  return new Fault(canAccuse(keys, head.signerKeyId, checkpoint.key) ? 'FORK' : 'WRONG_ROOT', message);
}
