import { writeFile } from 'node:fs/promises';
import { Command, Option } from 'commander';
import { audit, type EntryQuery, fetchHead, type ProvenEntry, proveEntry } from '../client/auditor.ts';
import { parseBundleProofs, verifyBundleProofs } from '../client/bundle-proofs.ts';
import { checkpointOf, compare } from '../client/compare-heads.ts';
import { AuditFault, unwrap } from '../client/fault.ts';
import { anchored, type KeySet, parseKeySet } from '../client/key-set.ts';
import { Denied, httpLog, type LogSource } from '../client/log-source.ts';
import { type Pin, parsePin } from '../client/pin.ts';
import type { SignedHead } from '../client/tree-head.ts';
import { parseBundle, verifyBundle, writeBundle } from '../client/verify.ts';
import { jcs } from '../contract/jcs.ts';
import { CommandError, type ExitCode, exitCodes } from '../service/exit-codes.ts';
import { evidenceOf, type PinInFile } from './against-pin.ts';
import {
  checkpointOptions,
  checkpointPolicy,
  credentials,
  jsonOption,
  serviceUrl,
  tokenOption,
  wholeNumber,
} from './options.ts';
import { type Output, orThrow, output, printFault } from './output.ts';
import { defaultPinFile } from './pin-file.ts';
import { progressOption } from './progress.ts';
import { readText } from './read-input.ts';
import { faultReport, printReport, type Report, reportContradiction, saveReportEvidence } from './report.ts';
import { type OfflineOptions, reportEntry, verifyFile } from './verify-offline.ts';

interface Options extends OfflineOptions {
  readonly url?: string;
  readonly entryId?: string;
  readonly leafIndex?: number;
  readonly event?: string;
  readonly save?: string;
  readonly token?: string;
  readonly json?: true;
}

export function verifyCommand(done: (code: ExitCode) => void): Command {
  const command = new Command('verify')
    .description(
      'verify a file offline (bundle of an entry, receipt, archive, evidence, checkpoint), or query the log for an entry and verify it',
    )
    .argument(
      '[file]',
      'a bundle, a tlog-proof (with --event), a receipt of an ingest body, an archive of candor export, evidence of candor audit, or a checkpoint',
    )
    .option('--keys <file>', 'key set (JWKS) that you trust, instead of the one in the file')
    .option('--pin <file>', 'pin of an auditor: use its keys, and compare with its head')
    .addOption(new Option('--url <url>', 'URL of the service to query').argParser(serviceUrl))
    .option('--entry-id <uuid>', 'the entry with this id (needs a token)')
    .option('--leaf-index <n>', 'the entry at this position (needs a token)', wholeNumber)
    .option('--event <file>', 'file with the entry as JSON')
    .option('--body <file>', 'the HTTP body that a receipt is for, as it was sent')
    .option('--save <file>', 'save the verified entry as a bundle')
    .option(
      '--tsa-ca <pem>',
      'certificates of trusted timestamping authorities: required for a bundle, and used to date evidence',
    )
    .option(
      '--extract <folder>',
      'write the entry, tlog-proof, checkpoints and timestamps of a bundle as files for other tools',
    );
  for (const option of checkpointOptions()) command.addOption(option);
  return command
    .addOption(progressOption())
    .addOption(tokenOption())
    .addOption(jsonOption())
    .action(async (file: string | undefined, options: Options) => done(await run(file, options)));
}

async function run(file: string | undefined, options: Options): Promise<ExitCode> {
  const out = output(options.json ?? false);
  if ((file === undefined) === (options.url === undefined)) {
    throw new CommandError('pass either a file or --url', exitCodes.usage);
  }
  if (file !== undefined) return verifyFile(file, options, out);
  return printFault(out, () => online(options.url!, options, out));
}

async function online(url: string, options: Options, out: Output): Promise<ExitCode> {
  const query = await queryOf(options);
  const pin = options.pin === undefined ? undefined : orThrow(parsePin(await readText(options.pin)));
  const log = httpLog(url, credentials(options));
  if (pin !== undefined && pin.log !== log.url)
    throw new AuditFault('OTHER_LOG', `the pin belongs to ${pin.log}, not to ${log.url}`);
  const given = options.keys === undefined ? undefined : orThrow(parseKeySet(await readText(options.keys)));
  const pinned = pin && { pin, file: options.pin! };
  const found = unwrap(await prove(log, query, pinned, given));
  if ('exit' in found) return printReport(out, found);
  const { head, keys, verified } = found;

  const notes = pin === undefined ? [] : [`Consistent with the pin of size ${pin.head.size}.`];
  const covered = await coveredBy(log, { head, keys }, verified.leafIndex, options, pin);
  if ('exit' in covered) return printReport(out, covered);
  notes.push(...covered);
  if (options.save !== undefined) {
    const bundle = await bundleOf(log, { head, keys }, verified);
    await writeFile(options.save, `${bundle}\n`);
    notes.push(`Saved in ${options.save}.`);
  }
  const from = options.keys !== undefined ? 'given' : pin === undefined ? 'log' : 'pin';
  if (from === 'log') notes.push('The keys come from the log: compare the fingerprint with one that you trust.');
  reportEntry(verified, out, notes, {
    keys: from,
    ...(pin === undefined ? {} : { consistent_with: pin.head.size }),
  });
  return exitCodes.ok;
}

/**
 * Fetches and verifies the entry under the latest head. With a pin, the head must pass an audit against the pin.
 * Signatures are verified with the given keys, or with the keys of the log or of the audit.
 */
export async function prove(
  log: LogSource,
  query: EntryQuery,
  pinned: PinInFile | undefined,
  given: KeySet | undefined,
): Promise<{ head: SignedHead; keys: KeySet; verified: ProvenEntry } | AuditFault | Report> {
  const signed = pinned === undefined ? await fetchHead(log) : await audited(log, pinned);
  if (signed instanceof AuditFault || 'exit' in signed) return signed;
  const { head } = signed;
  const keys = given ?? signed.keys;
  const verified = await proveEntry(log, query, { head, keys });
  return verified instanceof AuditFault ? verified : { head, keys, verified };
}

async function audited(log: LogSource, { pin, file }: PinInFile): Promise<{ head: SignedHead; keys: KeySet } | Report> {
  const now = Date.now();
  const result = await audit(log, pin, { now });
  if (result.status === 'fault') return faultReport(result.fault, await saveReportEvidence(result.evidence, file, now));
  if (result.status === 'empty') throw new Error('a pinned log cannot be empty');
  return { head: result.pin.head, keys: anchored(result.keys, result.pin.keys) };
}

/**
 * Checks that the entry is in the tree of a checkpoint with the requested signatures.
 *
 * @throws AuditFault
 */
async function coveredBy(
  log: LogSource,
  signed: { readonly head: SignedHead; readonly keys: KeySet },
  leafIndex: number,
  options: Options,
  pin: Pin | undefined,
): Promise<string[] | Report> {
  const policy = checkpointPolicy(options);
  if (policy === undefined) return [];
  const seen = unwrap(await checkpointOf(log, signed, policy));
  if ('fault' in seen) {
    const { fault, ...details } = seen;
    const known = { head: signed.head, keys: signed.keys, ...(pin && evidenceOf(pin)) };
    const file = options.pin ?? defaultPinFile(log.url);
    return reportContradiction(fault, { log: log.url, ...details, ...known }, { file, now: Date.now() });
  }
  const { origin, size, cosigners } = seen;
  if (leafIndex >= size)
    throw new AuditFault('NOT_INCLUDED', `the checkpoint of size ${size} does not cover entry ${leafIndex} yet`);
  const by = cosigners.length === 0 ? '' : `, cosigned by ${cosigners.map(({ name }) => name).join(', ')}`;
  return [`Covered by the checkpoint of ${origin}, size ${size}${by}.`];
}

/**
 * Fetches the log's bundle of a verified entry, with its checkpoint and timestamps. Falls back to a bundle of only head
 * and keys if the caller is not allowed to read the log's bundle.
 *
 * @throws AuditFault
 */
async function bundleOf(
  log: LogSource,
  { head, keys }: { readonly head: SignedHead; readonly keys: KeySet },
  { leafIndex, canonical, path, headKey, entryKey }: ProvenEntry,
): Promise<string> {
  const response = await log.get(`/api/transparency/proof?leaf_index=${leafIndex}`);
  if (response instanceof Denied) {
    const needed = new Map([headKey, entryKey].map((key) => [key.kid, key]));
    return writeBundle({ leaf: { leafIndex, canonical }, path, head, keys: needed });
  }
  const text = unwrap(response);
  const bundle = unwrap(parseBundle(text));
  const proofs = unwrap(parseBundleProofs(text));
  unwrap(verifyBundle({ ...bundle, keys: new Map([...keys, [entryKey.kid, entryKey]]) }));
  if (bundle.leaf.leafIndex !== leafIndex)
    throw new AuditFault('WRONG_LEAF', `expected leaf ${leafIndex}, got ${bundle.leaf.leafIndex}`);
  unwrap(verifyBundleProofs(bundle, proofs, keys));
  const against = await compare(log, head, bundle.head);
  if (against !== undefined) throw 'fault' in against ? against.fault : against;
  return text;
}

async function queryOf({ entryId, leafIndex, event }: Options): Promise<EntryQuery> {
  if ([entryId, leafIndex, event].filter((given) => given !== undefined).length !== 1) {
    throw new CommandError('pass exactly one of --entry-id, --leaf-index and --event', exitCodes.usage);
  }
  if (entryId !== undefined) return { entryId: entryId.toLowerCase() };
  if (leafIndex !== undefined) return { leafIndex };
  const text = await readText(event!);
  try {
    // The file may have any JSON layout, because the log holds the canonical form.
    return { canonical: new TextEncoder().encode(jcs(JSON.parse(text))) };
  } catch (error) {
    throw new CommandError(`${event} is not valid JSON: ${(error as Error).message}`);
  }
}
