import { looksLikeArchive, maxArchiveLine } from '../client/archive.ts';
import { verifyArchive } from '../client/archive-verify.ts';
import { parseBundleProofs, readTlogProof, type VerifiedProofs, verifyBundleProofs } from '../client/bundle-proofs.ts';
import { verifyCheckpoint } from '../client/checkpoint.ts';
import { type EventProofFile, looksLikeEventProof, parseEventProof, verifySealedEvent } from '../client/event-proof.ts';
import { looksLikeEvidence } from '../client/evidence.ts';
import { AuditFault, unwrap } from '../client/fault.ts';
import { anchored, fingerprint, type KeySet, type LogKey, parseKeySet } from '../client/key-set.ts';
import { decodeNote } from '../client/latest.ts';
import { parsePin } from '../client/pin.ts';
import { looksLikeReceipt } from '../client/receipt.ts';
import { parseBundle, type VerifiedEntry, verifyBundle, verifyInclusion } from '../client/verify.ts';
import { nativeVerifier } from '../crypto/ed25519.ts';
import { CommandError, type ExitCode, exitCodes } from '../service/exit-codes.ts';
import { bytesToHex } from '../tlog/hex.ts';
import { againstPin, type PinInFile } from './against-pin.ts';
import { extract } from './extract.ts';
import { linesOf } from './lines.ts';
import { type CheckpointFlags, checkpointPolicy } from './options.ts';
import {
  cosignerFields,
  cosignerNames,
  type Field,
  headFields,
  headLines,
  type Output,
  orThrow,
  printFault,
} from './output.ts';
import { reporter } from './progress.ts';
import { maxFileBytes, readText, readWhole } from './read-input.ts';
import { printReport } from './report.ts';
import { bracketOf } from './timestamps.ts';
import { verifyEvidence } from './verify-evidence.ts';
import { verifyReceiptFile } from './verify-receipt.ts';

export interface OfflineOptions extends CheckpointFlags {
  readonly keys?: string;
  readonly pin?: string;
  /** File with the body that a receipt is for. */
  readonly body?: string;
  readonly event?: string;
  readonly tsaCa?: string;
  readonly extract?: string;
  readonly progress?: true;
}

/** The trusted keys and their source: the verified file (`keys` is then undefined), a key file, or a pin. */
export interface Trust {
  readonly keys: KeySet | undefined;
  readonly from: 'file' | 'given' | 'pin';
  readonly pin: PinInFile | undefined;
}

/** Verifies a file of any supported type, detected from its content. Works offline. */
export function verifyFile(path: string, options: OfflineOptions, out: Output): Promise<ExitCode> {
  return printFault(out, () => verifyContent(path, options, out));
}

async function verifyContent(path: string, options: OfflineOptions, out: Output): Promise<ExitCode> {
  const trust = await trustOf(options);
  for await (const first of linesOf(path, maxFileBytes)) {
    if (looksLikeArchive(first)) return archive(path, trust, options, out);
    break;
  }
  const text = unwrap(
    decodeNote(await readWhole(path)),
    () => new AuditFault('MALFORMED_BUNDLE', `${path} is not in UTF-8`),
  );
  if (text.startsWith('c2sp.org/tlog-proof@')) return tlogProof(text, trust, options, out);
  if (text.includes('\n\n\u2014 ')) return checkpoint(text, trust, options, out);
  const isReceipt = looksLikeReceipt(text);
  if (options.body !== undefined && !isReceipt)
    throw new CommandError('--body: only valid for receipts; omit it', exitCodes.usage);
  if (looksLikeEvidence(text)) return verifyEvidence(text, trust, options, out);
  if (looksLikeEventProof(text)) {
    const file = unwrap(parseEventProof(text));
    return bundle(file.bundle, trust, options, out, file);
  }
  if (!isReceipt) return bundle(text, trust, options, out);
  if (checkpointPolicy(options) !== undefined || options.tsaCa !== undefined || options.extract !== undefined) {
    throw new CommandError(
      '--vkey, --witness, --quorum, --tsa-ca and --extract: not valid for receipts; omit them',
      exitCodes.usage,
    );
  }
  return verifyReceiptFile(text, options.body, trust, out);
}

/** Verifies a bundle. @param event - the event that the entry must cover */
async function bundle(
  text: string,
  trust: Trust,
  options: OfflineOptions,
  out: Output,
  event?: EventProofFile,
): Promise<ExitCode> {
  const parsed = unwrap(parseBundle(text));
  const proofs = unwrap(parseBundleProofs(text));
  const keys = keysOf(trust, parsed.keys);
  const verified = unwrap(verifyBundle({ ...parsed, keys }));
  const covered = event === undefined ? { lines: [], fields: {} } : eventPart(event, verified);
  const policy = checkpointPolicy(options);
  const proven = unwrap(verifyBundleProofs(parsed, proofs, keys, { policy, trustedKeys: trust.from !== 'file' }));
  const against = await againstPin(verified, trust.pin);
  if (against.exit !== undefined) return printReport(out, against);
  const pem = options.tsaCa === undefined ? undefined : await readText(options.tsaCa);
  const bracket = await bracketOf(proven, pem);
  const files = options.extract === undefined ? [] : await extract(options.extract, parsed, proofs, proven);
  const notes = [
    ...covered.lines,
    ...checkpointLines(proven),
    ...bracket.lines,
    ...notesOf(trust),
    ...against.lines,
    ...(files.length > 0 ? [`Written to ${options.extract}: ${files.join(', ')}.`] : []),
  ];
  reportEntry(verified, out, notes, {
    keys: shownTrust(trust),
    ...covered.fields,
    ...checkpointFields(proven),
    ...bracket.fields,
    ...against.fields,
  });
  return exitCodes.ok;
}

function checkpointLines({ checkpoint: signed }: VerifiedProofs): string[] {
  if (signed === undefined) return ['The bundle has no checkpoint, so no witness vouches for its tree.'];
  const names = cosignerNames(signed);
  const by = names === '' ? '' : `, cosigned by ${names}`;
  return [
    `Covered by the checkpoint of ${signed.origin}, size ${signed.size}${by}; key fingerprint ${fingerprint(signed.key)}.`,
    ...(signed.published
      ? []
      : ['The log signed this checkpoint for the bundle, because the published one did not cover the entry yet.']),
  ];
}

function checkpointFields({ checkpoint: signed }: VerifiedProofs): Record<string, Field> {
  if (signed === undefined) return {};
  const { origin, size, root, key, published } = signed;
  return {
    checkpoint: {
      origin,
      tree_size: size,
      root_hash: bytesToHex(root),
      signer: signerFields(key),
      cosigned_by: cosignerFields(signed),
      published,
    },
  };
}

/** Verifies a C2SP tlog-proof for the entry whose exact bytes are in `--event`. */
async function tlogProof(text: string, trust: Trust, options: OfflineOptions, out: Output): Promise<ExitCode> {
  const policy = checkpointPolicy(options);
  if (options.event === undefined)
    throw new CommandError('--event: missing; a tlog-proof needs the file of its entry', exitCodes.usage);
  if (policy?.logKey === undefined && trust.keys === undefined)
    throw new CommandError('a tlog-proof contains no keys; use --vkey, --keys or --pin', exitCodes.usage);
  const { leafIndex, path, note } = unwrap(readTlogProof(text));
  const signed = unwrap(verifyCheckpoint(note, trust.keys ?? new Map(), policy));
  const hash = unwrap(verifyInclusion({ leafIndex, canonical: await readWhole(options.event) }, path, signed));
  const proven = { checkpoint: { ...signed, published: true }, notBefore: [], notAfter: [] };
  const lines = [
    `leaf         ${leafIndex}  ${bytesToHex(hash)}`,
    'Verified: the entry is in the tree of the checkpoint. The signature of the entry was not checked.',
    ...checkpointLines(proven),
  ];
  const { published: _, ...fields } = checkpointFields(proven).checkpoint as Record<string, Field>;
  out.result(lines, { status: 'ok', leaf_index: leafIndex, leaf_hash: bytesToHex(hash), checkpoint: fields });
  return exitCodes.ok;
}

async function checkpoint(text: string, trust: Trust, options: OfflineOptions, out: Output): Promise<ExitCode> {
  const policy = checkpointPolicy(options);
  if (policy?.logKey === undefined && trust.keys === undefined) {
    throw new CommandError('a checkpoint contains no keys; use --vkey, --keys or --pin', exitCodes.usage);
  }
  const verified = unwrap(verifyCheckpoint(text, trust.keys ?? new Map(), policy));
  const { origin, size, root, key } = verified;
  const against = await againstPin({ head: verified, checkpoint: text }, trust.pin);
  if (against.exit !== undefined) return printReport(out, against);
  const names = cosignerNames(verified);
  const lines = [
    `origin       ${origin}`,
    `size         ${size}`,
    `root         ${bytesToHex(root)}`,
    `fingerprint  ${fingerprint(key)}`,
    ...(names === '' ? [] : [`cosigned by  ${names}`]),
    'Verified: the checkpoint is signed.',
    ...against.lines,
  ];
  out.result(lines, {
    status: 'ok',
    origin,
    tree_size: size,
    root_hash: bytesToHex(root),
    signer: signerFields(key),
    cosigned_by: cosignerFields(verified),
    ...against.fields,
  });
  return exitCodes.ok;
}

async function archive(path: string, trust: Trust, options: OfflineOptions, out: Output): Promise<ExitCode> {
  const onProgress = reporter('entries', options.progress);
  const policy = checkpointPolicy(options);
  const verified = await verifyArchive(linesOf(path, maxArchiveLine), {
    verify: nativeVerifier(),
    ...(trust.from === 'given' && trust.keys && { keys: trust.keys }),
    ...(trust.from === 'pin' && trust.keys && { trusted: trust.keys }),
    ...(policy && { checkpoint: policy }),
    ...(onProgress && { onProgress }),
  });
  if (verified instanceof AuditFault) {
    // Keys in the archive itself can't prove that a log misbehaved.
    const isUnproven = verified.kind === 'misbehaviour' && trust.from === 'file';
    const reported = isUnproven ? new AuditFault('UNPROVEN', `${verified.code}: ${verified.message}`) : verified;
    const code = out.fault(reported, { keys: shownTrust(trust) });
    if (isUnproven) for (const note of notesOf(trust)) process.stderr.write(`${note}\n`);
    return code;
  }
  const { header, headKey, entries, byRevokedKeys } = verified;
  const { head, from, to, log } = header;
  const against = await againstPin({ head }, trust.pin);
  if (against.exit !== undefined) return printReport(out, against);
  const whole = from === 0 && to === head.size;
  const lines = [
    ...headLines(head, headKey),
    `Verified: ${whole ? `all ${entries} entries` : `entries ${from} to ${to - 1}`} of ${log} with their signatures and tree.`,
    ...(byRevokedKeys > 0 ? [`Entries signed by a key that was revoked later: ${byRevokedKeys}.`] : []),
    ...notesOf(trust),
    ...against.lines,
  ];
  out.result(lines, {
    status: 'ok',
    log,
    from,
    to,
    entries,
    whole,
    by_revoked_keys: byRevokedKeys,
    checkpoint: verified.checkpoint?.origin,
    ...headFields(head, headKey),
    keys: shownTrust(trust),
    ...against.fields,
  });
  return exitCodes.ok;
}

/** Prints a verified entry, for offline and online `verify`. */
export function reportEntry(
  verified: VerifiedEntry,
  out: Output,
  notes: readonly string[],
  fields: Readonly<Record<string, Field>>,
): void {
  const { entry, leafIndex, leafHash, head, headKey, entryKey } = verified;
  const revoked = entryKey.state === 'revoked';
  const lines = [
    `entry        ${entry.id} (${entry.kind})`,
    `leaf         ${leafIndex}  ${bytesToHex(leafHash)}`,
    ...headLines(head, headKey),
    'Verified: the entry is signed and included in the signed tree.',
    ...(revoked ? ['The signing key of the entry was revoked later.'] : []),
    ...notes,
  ];
  out.result(lines, {
    status: 'ok',
    entry_id: entry.id,
    kind: entry.kind,
    leaf_index: leafIndex,
    leaf_hash: bytesToHex(leafHash),
    entry_key_id: entry.key_id,
    entry_key_fingerprint: fingerprint(entryKey),
    entry_key_revoked: revoked,
    ...headFields(head, headKey),
    ...fields,
  });
}

async function trustOf({ keys, pin }: OfflineOptions): Promise<Trust> {
  const pinned = pin === undefined ? undefined : { pin: orThrow(parsePin(await readText(pin))), file: pin };
  if (keys !== undefined) {
    const given = orThrow(parseKeySet(await readText(keys)));
    return { keys: given, from: 'given', pin: pinned };
  }
  return { keys: pinned?.pin.keys, from: pinned === undefined ? 'file' : 'pin', pin: pinned };
}

/**
 * Returns the keys to verify with. A pin has only tree-head and checkpoint keys. Entry keys are taken from the file,
 * because the signed root covers these keys.
 */
function keysOf({ keys, from }: Trust, ofFile: KeySet): KeySet {
  if (keys === undefined) return ofFile;
  return from === 'pin' ? anchored(ofFile, keys) : keys;
}

export function notesOf(trust: Trust): string[] {
  return trust.from === 'file' ? ['The keys come from the file: compare the fingerprint with one that you trust.'] : [];
}

/** Returns the source of the trusted keys: `bundle` for the keys in the verified file. */
export function shownTrust({ from }: Trust): string {
  return from === 'file' ? 'bundle' : from;
}

export function signerFields(key: LogKey): Field {
  return { kid: key.kid, purpose: key.purpose, fingerprint: fingerprint(key) };
}

/** Returns the part of the result about the event, once the entry has been verified. */
function eventPart(
  file: EventProofFile,
  entry: VerifiedEntry,
): { readonly lines: readonly string[]; readonly fields: Readonly<Record<string, Field>> } {
  const { id, table, sequence, attributes, derived, neighbours } = unwrap(verifySealedEvent(file, entry));
  const lines = [
    `event        ${id} (${table}, sequence ${sequence})`,
    'Verified: the entry covers the event with these values:',
    ...Object.entries(attributes).map(([name, value]) => `  ${name} ${JSON.stringify(value)}`),
    ...(derived.length === 0 ? [] : [`Derived by the service, not covered: ${derived.join(', ')}.`]),
    `The file discloses ${neighbours} neighbouring ${neighbours === 1 ? 'event' : 'events'}.`,
  ];
  return {
    lines,
    fields: { event_id: id, event_table: table, event_sequence: sequence, derived, neighbours },
  };
}
