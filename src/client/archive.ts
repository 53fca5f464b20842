/**
 * An archive of a log or a range of entries that can be verified offline. One JSON object per line:
 *
 *     {"format": "candor-archive/1", "log", "from", "to", "exported_at", "head", "keys",
 *      "edge"?, "proof"?, "checkpoint"?}
 *     {"leaf_index": from, "canonical": base64 of the exact bytes}
 *     …                                                                     to − from lines in order
 *
 * `edge` is the right edge of the tree of the first `from` leaves. Appending the entries to it gives the root
 * for size `to`. If the head is larger, `proof` is the consistency proof from that root to the head's. A
 * wrong edge or proof, or an entry that was changed, added, omitted or moved, results in a root that differs
 * from the signed one.
 */
import { toBase64 } from '../tlog/base64.ts';
import { bytesToHex } from '../tlog/hex.ts';
import { equalHashes, type Hash, rootPlan } from '../tlog/tree.ts';
import { type Exact, members, parseExact, safeInteger, string } from './exact-json.ts';
import { AuditFault, catchFault, unwrap } from './fault.ts';
import { type KeySet, readKeySet, writeKeys } from './key-set.ts';
import { readTreeHead, type SignedHead, writeTreeHead } from './tree-head.ts';
import { readPath, verifyConsistency } from './verify.ts';

const format = 'candor-archive/1';

/** The first line of an archive. */
export interface ArchiveHeader {
  readonly log: string;
  /** Index of the first entry. */
  readonly from: number;
  /** Index after the last entry. */
  readonly to: number;
  /** Time of the export, ISO 8601, by the exporter's clock. */
  readonly exportedAt: string;
  readonly head: SignedHead;
  readonly keys: KeySet;
  /** Right edge of the tree of the first `from` leaves; empty for 0. */
  readonly edge: readonly Hash[];
  /** Consistency proof from `to` to the size of the head; empty if they are equal. */
  readonly proof: readonly Hash[];
  /** The complete note, if the log served a checkpoint of the head's tree. */
  readonly checkpoint?: string;
}

/**
 * Maximum length of a line. Entries have at most 65,535 bytes; the first line holds the keys, about 1 MB after ten
 * years of daily rotations.
 */
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

/** Returns whether the first line of a file is the header of an archive. */
export function looksLikeArchive(line: string): boolean {
  return line.startsWith(`{"format":"${format}"`) || members(parseExact(line))?.format === format;
}

export function parseArchiveHeader(line: string): ArchiveHeader | AuditFault {
  return catchFault(() => readArchiveHeader(line));
}

function readArchiveHeader(line: string): ArchiveHeader {
  const fields = members(parseExact(line));
  if (fields?.format !== format) throw malformedArchive(`its first line has no "format": "${format}"`);
  const [log, exportedAt] = [string(fields.log), string(fields.exported_at)];
  const [from, to] = [safeInteger(fields.from), safeInteger(fields.to)];
  if (log === undefined || exportedAt === undefined || from === undefined || to === undefined)
    throw malformedArchive('log, from, to or exported_at is missing');
  const head = unwrap(readTreeHead(fields.head));
  const keys = unwrap(readKeySet(fields.keys));
  if (from >= to || to > head.size) throw malformedArchive(`invalid range: entries ${from} to ${to} of ${head.size}`);
  const edge = readHashes(fields.edge, 'edge');
  const proof = readHashes(fields.proof, 'proof');
  const edgeHashes = rootPlan(from).length;
  if (edge.length !== edgeHashes)
    throw malformedArchive(`edge must have ${edgeHashes} hashes for size ${from} (got ${edge.length})`);
  const checkpoint = string(fields.checkpoint);
  if (fields.checkpoint !== undefined && checkpoint === undefined) throw malformedArchive('checkpoint is not a string');
  const header = { log, from, to, exportedAt, head, keys, edge, proof };
  return checkpoint === undefined ? header : { ...header, checkpoint };
}

/**
 * Checks that the root of the entries is the head's root, or that the proof connects the two roots. Returns undefined
 * if so.
 */
export function checkArchiveRoot(root: Hash, { head, from, to, proof }: ArchiveHeader): AuditFault | undefined {
  const fits =
    to === head.size ? equalHashes(root, head.root) : verifyConsistency({ size: to, root }, head, proof) === undefined;
  return fits
    ? undefined
    : new AuditFault('WRONG_ROOT', `entries ${from} to ${to} do not match the head of size ${head.size}`);
}

function readHashes(json: Exact | undefined, name: string): Hash[] {
  return json === undefined ? [] : unwrap(readPath(json), (message) => malformedArchive(`${name}: ${message}`));
}

export function malformedArchive(reason: string): AuditFault {
  return new AuditFault('MALFORMED_ARCHIVE', `the archive is malformed: ${reason}`);
}
