/**
 * A log, or a part of it, in a file that verifies without the log. One JSON object a line:
 *
 *     {"format": "candor-archive/1", "log", "from", "to", "exported_at", "head", "keys",
 *      "edge"?, "proof"?, "checkpoint"?}
 *     {"leaf_index": from, "canonical": base64 of the exact bytes}
 *     …                                                                     to − from lines in order
 *
 * `edge` is the right edge of the tree of the first `from` leaves, from which the entries go on to a root of `to`
 * leaves; `proof` leads from that root to the head's where the head is larger. So a wrong edge or proof, an entry
 * changed, added, left out or moved gives another root than the signed one.
 */
import { toBase64 } from '../tlog/base64.ts';
import { bytesToHex } from '../tlog/hex.ts';
import { equalHashes, type Hash, rootPlan } from '../tlog/tree.ts';
import { type Exact, members, parseExact, safeInteger, string } from './exact-json.ts';
import { Fault } from './fault.ts';
import { type KeySet, readKeySet, writeKeys } from './key-set.ts';
import { readTreeHead, type SignedHead, writeTreeHead } from './tree-head.ts';
import { readPath, verifyConsistency } from './verify.ts';

const format = 'candor-archive/1';

/** The first line. */
export interface ArchiveHeader {
  readonly log: string;
  /** Entries with `from` ≤ index < `to`. */
  readonly from: number;
  readonly to: number;
  /** ISO 8601, by the clock of who exported it. */
  readonly exportedAt: string;
  readonly head: SignedHead;
  readonly keys: KeySet;
  /** Of the tree of the first `from` leaves; none for 0. */
  readonly edge: readonly Hash[];
  /** From `to` to the head's size; empty where they are the same. */
  readonly proof: readonly Hash[];
  /** The whole note, where the log served one of the head's tree. */
  readonly checkpoint?: string;
}

/** Entries are at most 65,535 bytes; the first line holds the keys, of which ten years have 1 MB. */
export const maxArchiveLine = 8 * 2 ** 20;

export function writeArchiveHeader(header: ArchiveHeader): string {
  const { log, from, to, exportedAt, checkpoint } = header;
  const about = JSON.stringify({
    format,
    log,
    from,
    to,
    exported_at: exportedAt,
    edge: from === 0 ? undefined : header.edge.map(bytesToHex),
    proof: to === header.head.size ? undefined : header.proof.map(bytesToHex),
    checkpoint,
  });
  return `${about.slice(0, -1)},"head":${writeTreeHead(header.head)},"keys":${writeKeys(header.keys.values())}}\n`;
}

export function writeArchiveLine(leafIndex: number, canonical: Uint8Array): string {
  return `{"leaf_index":${leafIndex},"canonical":"${toBase64(canonical)}"}\n`;
}

/** Whether a first line says that an archive follows. */
export function looksLikeArchive(line: string): boolean {
  return line.startsWith(`{"format":"${format}"`) || members(parseExact(line))?.format === format;
}

export function parseArchiveHeader(line: string): ArchiveHeader | Fault {
  const fields = members(parseExact(line));
  if (fields?.format !== format) return malformedArchive(`its first line has no "format": "${format}"`);
  const [log, exportedAt] = [string(fields.log), string(fields.exported_at)];
  const [from, to] = [safeInteger(fields.from), safeInteger(fields.to)];
  if (log === undefined || exportedAt === undefined || from === undefined || to === undefined)
    return malformedArchive('log, from, to or exported_at is missing');
  const head = readTreeHead(fields.head);
  if (head instanceof Fault) return head;
  const keys = readKeySet(fields.keys);
  if (keys instanceof Fault) return keys;
  if (from >= to || to > head.size) return malformedArchive(`entries ${from} to ${to} of ${head.size}`);
  const edge = readHashes(fields.edge, 'edge');
  const proof = readHashes(fields.proof, 'proof');
  if (edge instanceof Fault) return edge;
  if (proof instanceof Fault) return proof;
  if (edge.length !== rootPlan(from).length)
    return malformedArchive(`${edge.length} hashes on the edge of ${from}`);
  const checkpoint = fields.checkpoint === undefined ? undefined : string(fields.checkpoint);
  if (fields.checkpoint !== undefined && checkpoint === undefined)
    return malformedArchive('checkpoint is no text');
  const header = { log, from, to, exportedAt, head, keys, edge, proof };
  return checkpoint === undefined ? header : { ...header, checkpoint };
}

/** Whether the entries gave the root that the head has, or one that its proof leads to the head's from. */
export function checkArchiveRoot(root: Hash, { head, from, to, proof }: ArchiveHeader): Fault | undefined {
  const fits =
    to === head.size
      ? equalHashes(root, head.root)
      : verifyConsistency({ size: to, root }, head, proof) === undefined;
  return fits
    ? undefined
    : new Fault('WRONG_ROOT', `entries ${from} to ${to} are not those of the head of ${head.size}`);
}

function readHashes(json: Exact | undefined, name: string): Hash[] | Fault {
  const hashes = json === undefined ? [] : readPath(json);
  return hashes instanceof Fault ? malformedArchive(`${name}: ${hashes.message}`) : hashes;
}

export function malformedArchive(reason: string): Fault {
  return new Fault('MALFORMED_ARCHIVE', `the archive is malformed: ${reason}`);
}
