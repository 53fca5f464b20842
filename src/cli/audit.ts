import { Command, InvalidArgumentError } from 'commander';
import { type AuditResult, audit, defaultMaxAgeMs } from '../client/auditor.ts';
import type { SignedCheckpoint } from '../client/checkpoint.ts';
import { auditEntries, type CheckedRange, type FalseHead, WrongRoot } from '../client/entries.ts';
import { dateFault } from '../client/entry-dates.ts';
import { fetchSignedEntries } from '../client/entry-evidence.ts';
import type { Evidence } from '../client/evidence.ts';
import { AuditFault } from '../client/fault.ts';
import { corroborationOf } from '../client/fault-evidence.ts';
import { fingerprint } from '../client/key-set.ts';
import { DuplicateEntry, emptyTree, type TreeEdge } from '../client/leaf-audit.ts';
import { httpLog, type LogSource } from '../client/log-source.ts';
import { canReadEntries } from '../client/mirror.ts';
import type { CheckedEntries, Pin } from '../client/pin.ts';
import type { SignedHead } from '../client/tree-head.ts';
import { nativeVerifier } from '../crypto/ed25519.ts';
import { CommandError, type ExitCode, exitCodes } from '../service/exit-codes.ts';
import { comparePins } from './compare-pins.ts';
import { checkpointPolicy, credentials, serviceUrl, wholeNumber } from './options.ts';
import { cosignerFields, headFields, headLines, output } from './output.ts';
import { defaultPinFile, keepPin, loadPin, savePin } from './pin-file.ts';
import { reporter } from './progress.ts';
import {
  emptyReport,
  faultReport,
  printReport,
  type Report,
  reportContradiction,
  saveReportEvidence,
} from './report.ts';
import { IdFile } from './seen-ids.ts';
import { addWatchOptions, runRounds, type WatchOptions } from './watch-options.ts';

export interface AuditFlags extends WatchOptions {
  readonly state?: string;
  /** Whether to check the entries. Default: true if the log allows this caller to read entries. */
  readonly entries?: boolean;
  readonly allEntries?: true;
  readonly maxAge?: number;
  readonly acceptKey?: readonly string[];
  readonly compare?: readonly string[];
  readonly strictKeys?: true;
}

export function auditCommand(done: (code: ExitCode) => void): Command {
  const command = new Command('audit')
    .description(
      'check that a log still contains everything it contained before: pin its head, or compare it with the pinned head',
    )
    .argument('[url]', 'URL of the service', serviceUrl)
    .option('--state <file>', 'file for the pin (default: one file per log in the state folder)')
    .option(
      '--entries',
      'fetch the entries since the last audit, and check each entry and every tile of hashes over them; ' +
        'the default if you may read entries',
    )
    .option('--no-entries', 'do not check entries: this finds no duplicate ids and no wrong dates')
    .option('--all-entries', 'like --entries, but check all entries again from the first one')
    .option(
      '--max-age <seconds>',
      `reject heads and ignore cosignatures older than this; 0: any age (default: ${defaultMaxAgeMs / 1000})`,
      wholeNumber,
    )
    .option(
      '--accept-key <fingerprint>',
      'trust the key with this fingerprint, confirmed with the operator, and pin the log again under it; repeatable',
      acceptedFingerprint,
    )
    .option(
      '--compare <file...>',
      'compare the pins of two auditors, or a pin with a checkpoint from a witness; uses the log if its URL is given',
    )
    .option('--strict-keys', 'has no effect: keys without signed rotations from a pinned key are always rejected');
  return addWatchOptions(command).action(async (url: string | undefined, options: AuditFlags) =>
    done(await run(url, options)),
  );
}

function acceptedFingerprint(text: string, others: readonly string[] = []): readonly string[] {
  if (!/^[0-9a-f]{64}$/i.test(text))
    throw new InvalidArgumentError('must be 64 hexadecimal digits: the SHA-256 of the public key');
  return [...others, text.toLowerCase()];
}

async function run(url: string | undefined, options: AuditFlags): Promise<ExitCode> {
  if (options.compare !== undefined) {
    const log = url === undefined ? undefined : httpLog(url, credentials(options));
    const report = await comparePins(options.compare, log, Date.now());
    return printReport(output(options.json ?? false), report);
  }
  if (url === undefined) throw new CommandError('url: missing; pass the URL of the service', exitCodes.usage);
  return runRounds(url, options, (log) => auditOnce(log, options));
}

/** Runs one audit. The pin is updated only if everything that was requested has been verified. */
export async function auditOnce(log: LogSource, options: AuditFlags): Promise<Report> {
  const file = options.state ?? defaultPinFile(log.url);
  const pin = await loadPin(file);
  const now = Date.now();
  const checkpoint = checkpointPolicy(options);
  const result = await audit(log, pin, {
    now,
    ...(options.maxAge !== undefined && { maxAgeMs: options.maxAge * 1000 }),
    ...(options.acceptKey && { acceptedKeys: options.acceptKey }),
    ...(checkpoint && { checkpoint }),
  });
  if (result.status === 'empty') return emptyReport('The log is empty: no critical events yet.');
  if (result.status === 'fault') {
    const { fault, evidence } = result;
    const report = faultReport(fault, await saveReportEvidence(evidence, file, now));
    const key = fault.fingerprint;
    if (key === undefined) return report;
    const advice = `If the operator confirms this key, use --accept-key ${key}.`;
    return {
      ...report,
      lines: [...report.lines, advice],
      fields: { ...report.fields, key_fingerprint: key },
    };
  }
  const wanted = options.allEntries ?? options.entries ?? (await canReadEntries(log, result.pin.head.size));
  if (wanted instanceof AuditFault) return faultReport(wanted);
  const checked = wanted ? await checkEntries(log, result, options, file) : undefined;
  if (checked instanceof WrongRoot) {
    const { served, head: earlier, answer } = checked;
    const details = {
      served,
      ...(answer !== undefined && { answer }),
      ...(earlier && { pinnedHead: earlier }),
    };
    return entriesReport(log, result.pin, checked, details, file, now);
  }
  if (checked instanceof DuplicateEntry) {
    const wanted = checked.indices.map((leafIndex) => ({ leafIndex, head: result.pin.head }));
    return signedEntriesReport(log, result, checked, wanted, {}, file, now);
  }
  if (checked instanceof AuditFault) return faultReport(checked);
  if (checked !== undefined && 'fault' in checked) {
    const { fault, head: earlier, ...details } = checked;
    return entriesReport(log, result.pin, fault, { ...details, pinnedHead: earlier }, file, now);
  }
  const { head } = result.pin;
  const entries = checked === undefined ? result.pin.entries : { head, edge: checked.tree.edge };
  const replaced = result.newKey === 'accepted' && pin !== undefined ? await keepPin(file, pin, now) : undefined;
  const saved = await savePin(file, { ...result.pin, ...(entries && { entries }) }, pin);
  if (!saved) return auditOnce(log, options);
  const [first] = checked?.dates ?? [];
  const misdated = dateFault(checked?.dates ?? []);
  // The log signed this tree, so the pin is updated anyway, and wrong dates are reported only once.
  if (misdated !== undefined && first !== undefined) {
    const wanted = [{ leafIndex: first.index, head: first.head }];
    const before = first.before && { pinnedHead: first.before };
    const report = await signedEntriesReport(log, result, misdated, wanted, { ...before }, file, now);
    const lines = report.lines.map((line) => line.replace('; the pin was not changed', ''));
    return { ...report, lines: [...lines, 'The pin was updated: the entries are in the signed tree.'] };
  }
  return soundReport(result, checked, options, { file, replaced });
}

/** Saves evidence that entries contradict signed heads, and returns the report. */
async function entriesReport(
  log: LogSource,
  pin: Pin,
  fault: AuditFault,
  details: Partial<Evidence>,
  file: string,
  now: number,
): Promise<Report> {
  const { head, keys } = pin;
  const signed = { log: log.url, head, pinnedKeys: keys, keys, corroboration: corroborationOf(pin) };
  return reportContradiction(fault, { ...details, ...signed }, { file, log, now });
}

/**
 * Saves evidence of entries that break the rules of the log, with the heads that cover them, and returns the report.
 */
async function signedEntriesReport(
  log: LogSource,
  { pin, keys }: Sound,
  fault: AuditFault,
  wanted: Parameters<typeof fetchSignedEntries>[1],
  details: Pick<Evidence, 'pinnedHead'>,
  file: string,
  now: number,
): Promise<Report> {
  const entries = await fetchSignedEntries(log, wanted, keys);
  if (entries instanceof AuditFault) return faultReport(fault);
  return entriesReport(log, pin, fault, { ...details, entries }, file, now);
}

/**
 * Returns the position to continue from: after the entries of the pin. Returns the start of the log if all entries are
 * requested, or if the file with the ids of the pin's entries is incomplete.
 */
async function startingPoint(
  { allEntries }: AuditFlags,
  before: CheckedEntries | undefined,
  file: string,
): Promise<{ start: TreeEdge; startHead?: SignedHead; ids: IdFile }> {
  const known = allEntries ? undefined : before;
  const ids = known === undefined ? undefined : await IdFile.open(`${file}.ids`, known.head.size);
  if (known !== undefined && ids !== undefined)
    return { start: { size: known.head.size, edge: known.edge }, startHead: known.head, ids };
  return { start: emptyTree, ids: (await IdFile.open(`${file}.ids`, 0))! };
}

async function checkEntries(
  log: LogSource,
  { pin: next, keys }: Sound,
  options: AuditFlags,
  file: string,
): Promise<(CheckedRange & { readonly from: number }) | FalseHead | AuditFault> {
  const from = await startingPoint(options, next.entries, file);
  const onProgress = reporter('entries', options.progress);
  try {
    const checked = await auditEntries(
      log,
      { head: next.head, keys },
      { ...from, verify: nativeVerifier(), trusted: next.keys, ...(onProgress && { onProgress }) },
    );
    return checked instanceof AuditFault || 'fault' in checked ? checked : { ...checked, from: from.start.size };
  } finally {
    await from.ids.close();
  }
}

type Sound = Exclude<AuditResult, { status: 'empty' | 'fault' }>;

function soundReport(
  result: Sound,
  checked: (CheckedRange & { readonly from: number }) | undefined,
  options: Pick<AuditFlags, 'entries'>,
  { file, replaced }: { readonly file: string; readonly replaced: string | undefined },
): Report {
  const { status, pin, key, checkpoint, newKey } = result;
  const lines = [...headLines(pin.head, key), ...verdictLines[status](result, file)];
  if (newKey === 'vouched')
    lines.push('The signing key was rotated: the old key signed a head that covers the rotation.');
  if (replaced !== undefined)
    lines.push(`The signing key was accepted by --accept-key. The previous pin is saved in ${replaced}.`);
  lines.push(
    checkpoint === undefined
      ? 'The log serves no checkpoint to compare with.'
      : `Checkpoint of ${checkpoint.origin}, size ${checkpoint.size}: same log${cosigned(checkpoint)}; ` +
          `key fingerprint ${fingerprint(checkpoint.key)}.`,
  );
  if (checked !== undefined)
    lines.push(
      checked.from === pin.head.size
        ? 'No new entries since the last verification.'
        : `Verified: entries ${checked.from} to ${pin.head.size - 1} and their tiles.`,
    );
  else
    lines.push(
      options.entries === false
        ? 'Entries were not checked, because of --no-entries.'
        : 'Entries were not checked: pass a token of a role that may read them.',
    );
  const revoked = checked?.byRevokedKeys ?? 0;
  if (revoked > 0) lines.push(`Entries signed by a key that was revoked later: ${revoked}.`);
  const fields = {
    status,
    ...headFields(pin.head, key),
    new_key: newKey !== undefined,
    key_vouched: newKey === undefined ? undefined : newKey === 'vouched',
    key_accepted: newKey === undefined ? undefined : newKey === 'accepted',
    from_size: result.status === 'pinned' ? undefined : result.from,
    lost: result.status === 'replaced' ? result.lost.message : undefined,
    pin_before: replaced,
    checkpoint: checkpoint && {
      origin: checkpoint.origin,
      tree_size: checkpoint.size,
      fingerprint: fingerprint(checkpoint.key),
      cosigned_by: cosignerFields(checkpoint),
    },
    entries: checked && { from: checked.from, to: checked.tree.size, by_revoked_keys: revoked },
    state: file,
  };
  return { exit: exitCodes.ok, state: `size ${pin.head.size}`, lines, fields };
}

/** Returns the names of the requested witnesses that cosigned, as the end of a clause; empty without cosignatures. */
function cosigned({ cosigners }: SignedCheckpoint): string {
  return cosigners.length === 0 ? '' : `, cosigned by ${cosigners.map(({ name }) => name).join(', ')}`;
}

const verdictLines: Record<Sound['status'], (result: Sound, file: string) => string[]> = {
  pinned: (_, file) => [`Pinned in ${file}. Compare the fingerprints with those that the service prints at startup.`],
  unchanged: () => ['Consistent: same tree as the pinned one.'],
  extended: (result) => [
    `Consistent: extends the pinned tree of size ${result.status === 'pinned' ? 0 : result.from}.`,
  ],
  replaced: (result) => [
    `Pinned again: the tree does not extend the pinned tree of size ${result.status === 'pinned' ? 0 : result.from}` +
      ` (${result.status === 'replaced' ? result.lost.message : ''}).`,
  ],
};
