import { Command, InvalidArgumentError } from 'commander';
import { type AuditResult, accuse, audit, defaultMaxAgeMs } from '../client/auditor.ts';
import type { SignedCheckpoint } from '../client/checkpoint.ts';
import { auditEntries, type CheckedRange, type FalseHead } from '../client/entries.ts';
import { dateFault } from '../client/entry-dates.ts';
import { Fault } from '../client/fault.ts';
import { fingerprint } from '../client/key-set.ts';
import { emptyTree, type TreeEdge } from '../client/leaf-audit.ts';
import { httpLog, type LogSource } from '../client/log-source.ts';
import type { CheckedEntries, Pin } from '../client/pin.ts';
import { comparePins } from './compare-pins.ts';
import { CommandError, type ExitCode, exitCodeOf, exitCodes } from './exit-codes.ts';
import { nativeVerifier } from './native-ed25519.ts';
import {
  type CheckpointFlags,
  checkpointOptions,
  checkpointPolicy,
  credentials,
  jsonOption,
  seconds,
  serviceUrl,
  tokenOption,
  wholeNumber,
} from './options.ts';
import { type Field, headFields, headLines, type Output, output } from './output.ts';
import { defaultPinFile, keepPin, loadPin, saveEvidence, savePin } from './pin-file.ts';
import { progressOption, reporter } from './progress.ts';
import { IdFile } from './seen-ids.ts';
import { watch } from './watch.ts';

interface Options extends CheckpointFlags {
  readonly state?: string;
  readonly entries?: true;
  readonly allEntries?: true;
  readonly maxAge?: number;
  readonly acceptKey?: readonly string[];
  readonly compare?: readonly string[];
  readonly strictKeys?: true;
  readonly watch?: true;
  readonly interval: number;
  readonly progress?: true;
  readonly token?: string;
  readonly json?: true;
}

/** What one audit found, before anybody is told. */
export interface Report {
  readonly exit: ExitCode;
  readonly fault?: Fault;
  readonly lines: readonly string[];
  readonly fields: Readonly<Record<string, Field>>;
  /** Changes when there is something new to tell. */
  readonly state: string;
}

export function auditCommand(done: (code: ExitCode) => void): Command {
  const command = new Command('audit')
    .description(
      'check that a log still contains all that it contained: pin its head, or hold it to the pinned one',
    )
    .argument('[url]', 'address of the service', serviceUrl)
    .option('--state <file>', 'where the pin is kept (default: in the state folder, one file a log)')
    .option(
      '--entries',
      'fetch the entries since the last time too; check each, and every tile of hashes over them',
    )
    .option('--all-entries', 'the same from the first entry on, also those that were checked before')
    .option(
      '--max-age <seconds>',
      `refuse a head older than this, and count no older cosignature; 0: any age (default: ${defaultMaxAgeMs / 1000})`,
      wholeNumber,
    )
    .option(
      '--accept-key <fingerprint>',
      'trust the key with this fingerprint, which the operator confirmed, and pin the log again under it; may be repeated',
      acceptedFingerprint,
    )
    .option('--compare <pin...>', 'compare the pins of two auditors, with the log if its address is given')
    .option('--strict-keys', 'has no effect: keys that nothing vouches for are always refused')
    .option('--watch', 'repeat until stopped or the log misbehaves; tell only what is new')
    .option('--interval <seconds>', 'pause between repetitions', seconds, 60);
  for (const option of checkpointOptions()) command.addOption(option);
  return command
    .addOption(progressOption())
    .addOption(tokenOption())
    .addOption(jsonOption())
    .action(async (url: string | undefined, options: Options) => done(await run(url, options)));
}

function acceptedFingerprint(text: string, others: readonly string[] = []): readonly string[] {
  if (!/^[0-9a-f]{64}$/i.test(text))
    throw new InvalidArgumentError('must be 64 hexadecimal digits: the SHA-256 of the public key');
  return [...others, text.toLowerCase()];
}

async function run(url: string | undefined, options: Options): Promise<ExitCode> {
  const out = output(options.json ?? false);
  const token = credentials(options);
  if (options.compare !== undefined) {
    const log = url === undefined ? undefined : httpLog(url, token);
    return tell(out, await comparePins(options.compare, log, Date.now()));
  }
  if (url === undefined) throw new CommandError('name the address of the service', exitCodes.usage);
  if (options.watch === undefined) return tell(out, await once(httpLog(url, token), options));
  return watch(options.interval * 1000, {
    audit: (signal) => once(httpLog(url, { ...token, signal }), options),
    tell: (found) => tell(out, found),
  });
}

/** One audit. The pin moves only when everything that was requested has been verified. */
async function once(log: LogSource, options: Options): Promise<Report> {
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
  if (result.status === 'empty') {
    const lines = ['The log is empty: nothing critical has happened yet.'];
    return { exit: exitCodes.ok, state: 'empty', lines, fields: { status: 'empty' } };
  }
  if (result.status === 'fault') return faultReport(result.fault, await keep(result.evidence, file, now));
  const wanted = options.entries ?? options.allEntries ?? false;
  const checked = wanted ? await checkEntries(log, result, options, file) : undefined;
  if (checked instanceof Fault) return faultReport(checked);
  if (checked !== undefined && 'fault' in checked)
    return falseHeadReport(log, result.pin, checked, file, now);
  const { head } = result.pin;
  const entries = checked === undefined ? result.pin.entries : { head, edge: checked.tree.edge };
  const replaced =
    result.newKey === 'accepted' && pin !== undefined ? await keepPin(file, pin, now) : undefined;
  const saved = await savePin(file, { ...result.pin, ...(entries && { entries }) }, pin);
  if (!saved) return once(log, options);
  const misdated = dateFault(checked?.dates ?? []);
  // The tree is what the log signed, so the pin moves; the dates are reported once.
  if (misdated !== undefined)
    return { ...faultReport(misdated), lines: ['The pin moved on: the entries are in the signed tree.'] };
  return soundReport(result, checked, { file, replaced });
}

/** A signed root that the entries under a later signed root disprove. */
async function falseHeadReport(
  log: LogSource,
  pin: Pin,
  { fault, binding, answer, head }: FalseHead,
  file: string,
  now: number,
): Promise<Report> {
  const foundAt = new Date(now).toISOString();
  const about = { code: fault.code, message: fault.message, log: log.url, foundAt };
  const shown = { ...(binding && { binding }), ...(answer !== undefined && { answer }) };
  const heads = { pinnedHead: head, pinnedKeys: pin.keys, head: pin.head, keys: pin.keys };
  const result = accuse({ ...about, ...shown, ...heads }, fault);
  return faultReport(result.fault, await keep(result.evidence, file, now));
}

/** Where to go on: the entries of the pin, unless all are wanted, or the file of their ids is not complete. */
async function startOf(
  { allEntries }: Options,
  before: CheckedEntries | undefined,
  file: string,
): Promise<{ start: TreeEdge; ids: IdFile }> {
  const known = allEntries ? undefined : before;
  const ids = known === undefined ? undefined : await IdFile.open(`${file}.ids`, known.head.size);
  if (known !== undefined && ids !== undefined)
    return { start: { size: known.head.size, edge: known.edge }, ids };
  return { start: emptyTree, ids: (await IdFile.open(`${file}.ids`, 0))! };
}

async function checkEntries(
  log: LogSource,
  { pin: next, keys }: Sound,
  options: Options,
  file: string,
): Promise<(CheckedRange & { readonly from: number }) | FalseHead | Fault> {
  const { start, ids } = await startOf(options, next.entries, file);
  const onProgress = reporter('entries', options.progress);
  try {
    const checked = await auditEntries(
      log,
      { head: next.head, keys },
      { start, ids, verify: nativeVerifier(), trusted: next.keys, ...(onProgress && { onProgress }) },
    );
    return checked instanceof Fault || 'fault' in checked ? checked : { ...checked, from: start.size };
  } finally {
    await ids.close();
  }
}

interface Kept {
  readonly path: string;
  readonly convicts: boolean;
}

export async function keep(text: string | undefined, file: string, now: number): Promise<Kept | undefined> {
  if (text === undefined) return undefined;
  const { convicts } = JSON.parse(text) as { convicts: boolean };
  return { path: await saveEvidence(file, text, now), convicts };
}

export function faultReport(fault: Fault, kept?: Kept): Report {
  const about = { exit: exitCodeOf(fault), fault, state: `fault ${fault.code}` };
  if (kept === undefined) return { ...about, lines: [], fields: {} };
  const { path, convicts } = kept;
  const lines = [
    `Evidence is kept in ${path}; the pin stays as it was.`,
    convicts
      ? 'It convicts the holder of the pinned keys: candor verify shows it to anybody.'
      : "It does not prove itself: compare both statements with the operator's journal, and with other auditors.",
  ];
  return { ...about, lines, fields: { evidence: path, convicts } };
}

type Sound = Exclude<AuditResult, { status: 'empty' | 'fault' }>;

function soundReport(
  result: Sound,
  checked: (CheckedRange & { readonly from: number }) | undefined,
  { file, replaced }: { readonly file: string; readonly replaced: string | undefined },
): Report {
  const { status, pin, key, checkpoint, newKey } = result;
  const lines = [...headLines(pin.head, key), ...verdictLines[status](result, file)];
  if (newKey === 'vouched')
    lines.push('Its key took over since the pin: the old key signed a head that covers the rotation.');
  if (replaced !== undefined)
    lines.push(`Its key was accepted by --accept-key. The pin before is kept in ${replaced}.`);
  lines.push(
    checkpoint === undefined
      ? 'The log serves no checkpoint to compare with.'
      : `Checkpoint of ${checkpoint.origin}, size ${checkpoint.size}: the same log${cosigned(checkpoint)}; ` +
          `its key has the fingerprint ${fingerprint(checkpoint.key)}.`,
  );
  if (checked !== undefined)
    lines.push(
      checked.from === pin.head.size
        ? 'No entries since those that were verified before.'
        : `Entries ${checked.from} to ${pin.head.size - 1} and their tiles: verified.`,
    );
  const revoked = checked?.byRevokedKeys ?? 0;
  if (revoked > 0)
    lines.push(`${revoked} of them are signed by a key that was revoked after they were logged.`);
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
      cosigned_by: checkpoint.cosigners.map(({ name, timeS }) => ({ name, time_s: timeS })),
    },
    entries: checked && { from: checked.from, to: checked.tree.size, by_revoked_keys: revoked },
    state: file,
  };
  return { exit: exitCodes.ok, state: `size ${pin.head.size}`, lines, fields };
}

/** Who of the witnesses that were asked for. */
function cosigned({ cosigners }: SignedCheckpoint): string {
  return cosigners.length === 0 ? '' : `, cosigned by ${cosigners.map(({ name }) => name).join(', ')}`;
}

const verdictLines: Record<Sound['status'], (result: Sound, file: string) => string[]> = {
  pinned: (_, file) => [
    `Pinned in ${file}. Compare the fingerprints with those that the service prints at its start.`,
  ],
  unchanged: () => ['Consistent: the same tree as pinned.'],
  extended: (result) => [
    `Consistent: extends the pinned tree of ${result.status === 'pinned' ? 0 : result.from}.`,
  ],
  replaced: (result) => [
    `Pinned again: the tree does not extend the pinned one of ${result.status === 'pinned' ? 0 : result.from}` +
      ` (${result.status === 'replaced' ? result.lost.message : ''}).`,
  ],
};

export function tell(out: Output, { exit, fault, lines, fields }: Report): ExitCode {
  const at = { at: new Date().toISOString() };
  if (fault === undefined) {
    out.result(lines, { ...fields, ...at });
    return exit;
  }
  const code = out.fault(fault, { ...fields, ...at });
  if (lines.length > 0) process.stderr.write(`${lines.join('\n')}\n`);
  return code;
}
