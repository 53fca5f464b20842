import { toBase64 } from '../tlog/base64.ts';
import type { Binding } from '../tlog/binding.ts';
import { bindingField, evidenceFormat as format } from '../tlog/evidence.ts';
import { bytesToHex } from '../tlog/hex.ts';
import type { Hash } from '../tlog/tree.ts';
import { readClaim } from './bundle-proofs.ts';
import { type Corroboration, maxCorroborations } from './corroboration.ts';
import type { SignedEntry } from './entry-evidence.ts';
import { type Exact, hex, members, parseExact, safeInteger, string } from './exact-json.ts';
import { AuditFault, catchFault, unwrap } from './fault.ts';
import { type KeyLink, maxLinks } from './key-chain.ts';
import { type KeySet, readKeySet, writeKeys } from './key-set.ts';
import { readTreeHead, type SignedHead, writeTreeHead } from './tree-head.ts';
import { judge, type Verdict } from './verdict.ts';
import { readLeaf, readPath } from './verify.ts';

/**
 * The tree that the log served for a signed head, although the roots differ. The positions of entries are not signed,
 * so a different root alone is not conclusive.
 */
export interface ServedTree {
  /** Index of the first fetched entry. Earlier entries had already been checked. */
  readonly from: number;
  /** Root of the first `head.size` entries, computed from the entries that the log served. */
  readonly entriesRoot: Hash;
  /** Root computed from the tiles. Absent if the tiles could not be fetched. */
  readonly tilesRoot?: Hash;
  /** The first tile position that differs from the entries, as text for users. */
  readonly differsAt?: string;
}

/**
 * The evidence that an auditor stores when a log contradicts itself; verdict.ts determines what it proves.
 */
export interface Evidence {
  /** Code of the auditor's finding, from `faultCodes`. */
  readonly code: string;
  /** Text of the auditor's finding. */
  readonly message: string;
  readonly log: string;
  /** Time of the finding, ISO 8601, by the auditor's clock. */
  readonly foundAt: string;
  /** Time at which `pinnedHead` was pinned, ISO 8601, by the auditor's clock. */
  readonly pinnedAt?: string;
  readonly pinnedHead?: SignedHead;
  readonly head?: SignedHead;
  /** The complete note. */
  readonly checkpoint?: string;
  /** Two conflicting checkpoints found by a witness, as complete notes. */
  readonly checkpoints?: readonly string[];
  readonly binding?: Binding;
  /** The log's response to the request for a consistency proof. */
  readonly answer?: string;
  /** The tree that was served under `head`. */
  readonly served?: ServedTree;
  /** Entries that break the rules of the log, under signed heads. */
  readonly entries?: readonly SignedEntry[];
  /** Proof of when the trees of the heads existed. */
  readonly corroboration?: readonly Corroboration[];
  /** Time at which another auditor first saw `head`, ISO 8601, by that auditor's clock. Default: `foundAt`. */
  readonly headSeenAt?: string;
  /**
   * The keys that the auditor trusted. The verdict relies only on these keys and on keys connected to them by `links`.
   */
  readonly pinnedKeys?: KeySet;
  /** Rotations from pinned keys to other signers, oldest first. */
  readonly links?: readonly KeyLink[];
  /** Published, untrusted keys: the values of keys named in `links`, and of other signers. */
  readonly keys: KeySet;
}

/** Format in which the pinned keys came from the unsigned key set, so only the signer of the pinned head is trusted. */
const formatOfUnsignedKeys = 'candor-evidence/1';

/** Format 2 lacks `served` and `corroboration`. */
const formats: readonly (Exact | undefined)[] = [format, 'candor-evidence/2', formatOfUnsignedKeys];

/** Returns the finding and the verdict, as in evidence files and reports. */
export function evidenceFields(evidence: Evidence, { convicts, reason }: Verdict) {
  const { code, message, log, foundAt, pinnedAt } = evidence;
  return { convicts, reason, code, message, log, found_at: foundAt, pinned_at: pinnedAt };
}

/**
 * Serializes evidence as a JSON object. `convicts` and `reason` are informative: readers compute the verdict
 * themselves.
 */
export function writeEvidence(evidence: Evidence): string {
  const { checkpoint, checkpoints, answer, binding } = evidence;
  const about = JSON.stringify({
    format,
    ...evidenceFields(evidence, judge(evidence)),
    checkpoint,
    checkpoints,
    answer,
    head_seen_at: evidence.headSeenAt,
    ...bindingField(binding),
    served: evidence.served && servedField(evidence.served),
    corroboration: evidence.corroboration?.map(corroborationField),
  });
  const parts = [
    evidence.pinnedHead === undefined ? '' : `,"pinned_head":${writeTreeHead(evidence.pinnedHead)}`,
    evidence.head === undefined ? '' : `,"head":${writeTreeHead(evidence.head)}`,
    evidence.pinnedKeys === undefined ? '' : `,"pinned_keys":${writeKeys(evidence.pinnedKeys.values())}`,
    evidence.links === undefined ? '' : `,"links":[${evidence.links.map(writeLink).join()}]`,
    evidence.entries === undefined ? '' : `,"entries":[${evidence.entries.map(writeLink).join()}]`,
    `,"keys":${writeKeys(evidence.keys.values())}`,
  ];
  return `${about.slice(0, -1)}${parts.join('')}}\n`;
}

/** Returns whether the text has the format of evidence. */
export function looksLikeEvidence(text: string): boolean {
  return isFormat(members(parseExact(text))?.format);
}

export function parseEvidence(text: string): Evidence | AuditFault {
  return catchFault(() => readEvidence(text));
}

function readEvidence(text: string): Evidence {
  const fields = members(parseExact(text));
  if (fields === undefined || !isFormat(fields.format)) throw malformed(`it has no "format": "${format}"`);
  const [code, message, log, foundAt] = [fields.code, fields.message, fields.log, fields.found_at].map(string);
  if (code === undefined || message === undefined || log === undefined || foundAt === undefined)
    throw malformed('code, message, log or found_at is missing');
  const keys = unwrap(readKeySet(fields.keys));
  const parts = readParts({
    pinnedHead: [fields.pinned_head, readTreeHead],
    head: [fields.head, readTreeHead],
    pinnedKeys: [fields.pinned_keys, readKeySet],
    binding: [fields.proof, readBinding],
    checkpoint: [fields.checkpoint, textOf('checkpoint')],
    checkpoints: [fields.checkpoints, readCheckpoints],
    answer: [fields.answer, textOf('answer')],
    served: [fields.served, readServed],
    corroboration: [fields.corroboration, readCorroborations],
    pinnedAt: [fields.pinned_at, textOf('pinned_at')],
    headSeenAt: [fields.head_seen_at, textOf('head_seen_at')],
    links: [fields.links, readLinks],
    entries: [fields.entries, readLinks],
  });
  const read = { code, message, log, foundAt, keys, ...parts };
  const { pinnedKeys, pinnedHead } = read;
  if (fields.format !== formatOfUnsignedKeys || pinnedKeys === undefined) return read;
  const signer = pinnedKeys.get(pinnedHead?.signerKeyId ?? '');
  return { ...read, pinnedKeys: new Map(signer === undefined ? [] : [[signer.kid, signer]]) };
}

const isFormat = (named: Exact | undefined): boolean => formats.includes(named);

function writeLink({ leaf, path, head }: KeyLink): string {
  const audit_path = path.map(bytesToHex);
  const about = { leaf_index: leaf.leafIndex, canonical: toBase64(leaf.canonical), audit_path };
  return `${JSON.stringify(about).slice(0, -1)},"head":${writeTreeHead(head)}}`;
}

function readLinks(json: Exact | undefined): KeyLink[] {
  if (!Array.isArray(json) || json.length > maxLinks)
    throw malformed(`links, entries: must be a list of at most ${maxLinks} entries`);
  return json.map((item) => ({
    leaf: unwrap(readLeaf(item)),
    path: unwrap(readPath(members(item)?.audit_path)),
    head: unwrap(readTreeHead(members(item)?.head)),
  }));
}

type Readers = Readonly<Record<string, readonly [Exact | undefined, (json: Exact | undefined) => unknown]>>;
type Parts<R extends Readers> = { [N in keyof R]?: Exclude<ReturnType<R[N][1]>, AuditFault> };

/** Reads the members that are present. */
function readParts<R extends Readers>(readers: R): Parts<R> {
  const present = Object.entries(readers).filter(([, [json]]) => json !== undefined);
  return Object.fromEntries(present.map(([name, [json, read]]) => [name, unwrap(read(json))])) as Parts<R>;
}

const textOf = (name: string) => (json: Exact | undefined) => string(json) ?? malformed(`${name} is not a string`);

function readCheckpoints(json: Exact | undefined): string[] {
  const notes = Array.isArray(json) ? json.map(string) : [];
  const texts = notes.filter((note) => note !== undefined);
  if (texts.length !== 2 || notes.length !== 2) throw malformed('checkpoints: must be two strings');
  return texts;
}

function readBinding(json: Exact | undefined): Binding {
  const fields = members(json);
  const firstSize = safeInteger(fields?.first_size);
  const secondSize = safeInteger(fields?.second_size);
  const firstRoot = hex(fields?.first_root, 32);
  if (firstSize === undefined || secondSize === undefined || firstRoot === undefined)
    throw malformed('proof: first_size, second_size or first_root is missing');
  return { firstSize, secondSize, firstRoot, path: unwrap(readPath(fields?.audit_path)) };
}

function servedField({ from, entriesRoot, tilesRoot, differsAt }: ServedTree) {
  const tiles_root = tilesRoot && bytesToHex(tilesRoot);
  return { from, entries_root: bytesToHex(entriesRoot), tiles_root, differs_at: differsAt };
}

function readServed(json: Exact | undefined): ServedTree {
  const fields = members(json);
  const from = safeInteger(fields?.from);
  const entriesRoot = hex(fields?.entries_root, 32);
  if (from === undefined || entriesRoot === undefined) throw malformed('served: from or entries_root is missing');
  const parts = readParts({
    tilesRoot: [fields?.tiles_root, (root) => hex(root, 32) ?? malformed('served.tiles_root is not 32 bytes in hex')],
    differsAt: [fields?.differs_at, textOf('served.differs_at')],
  });
  return { from, entriesRoot, ...parts };
}

function corroborationField({ checkpoint, path, timestamp }: Corroboration) {
  const token = timestamp && toBase64(timestamp.token);
  return { checkpoint, audit_path: path.map(bytesToHex), authority: timestamp?.authority, token };
}

function readCorroborations(json: Exact | undefined): Corroboration[] {
  if (!Array.isArray(json) || json.length > maxCorroborations)
    throw malformed(`corroboration: must be a list of at most ${maxCorroborations}`);
  return json.map(readCorroboration);
}

function readCorroboration(json: Exact): Corroboration {
  const fields = members(json);
  const checkpoint = string(fields?.checkpoint);
  const path = unwrap(readPath(fields?.audit_path), (message) => malformed(`corroboration: ${message}`));
  const isTimestamp = fields?.token !== undefined || fields?.authority !== undefined;
  const claim = isTimestamp ? readClaim(fields) : undefined;
  if (checkpoint === undefined || (isTimestamp && claim === undefined))
    throw malformed('corroboration: checkpoint, authority or token is missing');
  return { checkpoint, path, ...(claim && { timestamp: { authority: claim.authority, token: claim.token } }) };
}

function malformed(reason: string): AuditFault {
  return new AuditFault('MALFORMED_EVIDENCE', `the evidence is malformed: ${reason}`);
}
