import { readFile, writeFile } from 'node:fs/promises';
import { Command, Option } from 'commander';
import { compare, type EntryQuery, fetchHead, proveEntry } from '../client/auditor.ts';
import { Fault } from '../client/fault.ts';
import { jcs } from '../client/jcs.ts';
import { fingerprint, parseKeySet } from '../client/key-set.ts';
import { httpLog } from '../client/log-source.ts';
import { parsePin } from '../client/pin.ts';
import { parseBundle, type VerifiedEntry, verifyBundle, writeBundle } from '../client/verify.ts';
import { bytesToHex } from '../tlog/hex.ts';
import { type ExitCode, exitCodes } from './exit-codes.ts';
import { jsonOption, serviceUrl, tokenOption, wholeNumber } from './options.ts';
import { CommandError, headFields, headLines, type Output, orThrow, output } from './output.ts';

interface Options {
  readonly keys?: string;
  readonly url?: string;
  readonly entryId?: string;
  readonly leafIndex?: number;
  readonly event?: string;
  readonly pin?: string;
  readonly save?: string;
  readonly token?: string;
  readonly json?: true;
}

export function verifyCommand(done: (code: ExitCode) => void): Command {
  return new Command('verify')
    .description('check that an entry is in a log: offline from a bundle, or by asking the log')
    .argument('[bundle]', 'file with entry, proof, head and keys: needs no network')
    .option('--keys <file>', 'key set (JWKS) that you trust, instead of the one in the bundle')
    .addOption(new Option('--url <url>', 'address of the service to ask').argParser(serviceUrl))
    .option('--entry-id <uuid>', 'the entry of this id (needs a token)')
    .option('--leaf-index <n>', 'the entry at this position (needs a token)', wholeNumber)
    .option('--event <file>', 'the entry that you hold, as JSON')
    .option('--pin <file>', 'pin of an auditor that the head must be consistent with')
    .option('--save <file>', 'keep what verified as a bundle')
    .addOption(tokenOption())
    .addOption(jsonOption())
    .action(async (bundle: string | undefined, options: Options) => done(await run(bundle, options)));
}

async function run(bundle: string | undefined, options: Options): Promise<ExitCode> {
  const out = output(options.json ?? false);
  if ((bundle === undefined) === (options.url === undefined)) {
    throw new CommandError('name either a bundle or --url', exitCodes.usage);
  }
  return bundle === undefined ? online(options.url!, options, out) : offline(bundle, options, out);
}

async function offline(file: string, options: Options, out: Output): Promise<ExitCode> {
  const bundle = parseBundle(await read(file));
  if (bundle instanceof Fault) return out.fault(bundle);
  const keys = options.keys === undefined ? bundle.keys : orThrow(parseKeySet(await read(options.keys)));
  const verified = verifyBundle({ ...bundle, keys });
  if (verified instanceof Fault) return out.fault(verified);
  const note =
    options.keys === undefined
      ? ['The keys are those of the bundle: compare the fingerprint with one that you trust.']
      : [];
  report(verified, out, note, { keys: options.keys === undefined ? 'bundle' : 'given' });
  return exitCodes.ok;
}

async function online(url: string, options: Options, out: Output): Promise<ExitCode> {
  const query = await queryOf(options);
  const pin = options.pin === undefined ? undefined : orThrow(parsePin(await read(options.pin)));
  const log = httpLog(url, options.token === undefined ? {} : { token: options.token });
  const signed = await fetchHead(log);
  if (signed instanceof Fault) return out.fault(signed);
  const keys = options.keys === undefined ? signed.keys : orThrow(parseKeySet(await read(options.keys)));
  const verified = await proveEntry(log, query, { head: signed.head, keys });
  if (verified instanceof Fault) return out.fault(verified);

  const notes: string[] = [];
  if (pin !== undefined) {
    const against = await compare(log, pin.head, signed.head);
    if (against !== undefined) return out.fault(against instanceof Fault ? against : against.fault);
    notes.push(`Consistent with the pin of size ${pin.head.size}.`);
  }
  if (options.save !== undefined) {
    const { leafIndex, canonical, path, head } = verified;
    await writeFile(options.save, `${writeBundle({ leaf: { leafIndex, canonical }, path, head, keys })}\n`);
    notes.push(`Kept in ${options.save}.`);
  }
  report(verified, out, notes, { ...(pin === undefined ? {} : { consistent_with: pin.head.size }) });
  return exitCodes.ok;
}

async function queryOf({ entryId, leafIndex, event }: Options): Promise<EntryQuery> {
  if ([entryId, leafIndex, event].filter((given) => given !== undefined).length !== 1) {
    throw new CommandError('name the entry by one of --entry-id, --leaf-index, --event', exitCodes.usage);
  }
  if (entryId !== undefined) return { entryId: entryId.toLowerCase() };
  if (leafIndex !== undefined) return { leafIndex };
  const text = await read(event!);
  try {
    // However the file is laid out: the log holds its canonical form.
    return { canonical: new TextEncoder().encode(jcs(JSON.parse(text))) };
  } catch (error) {
    throw new CommandError(`${event} is no JSON: ${(error as Error).message}`);
  }
}

function report(
  verified: VerifiedEntry,
  out: Output,
  notes: readonly string[],
  fields: Record<string, string | number>,
): void {
  const { entry, leafIndex, leafHash, head, headKey, entryKey } = verified;
  const lines = [
    `entry        ${entry.id} (${entry.kind})`,
    `leaf         ${leafIndex}  ${bytesToHex(leafHash)}`,
    ...headLines(head, headKey),
    'Verified: the entry is signed, and in the tree whose head is signed.',
    ...notes,
  ];
  const about = {
    entry_id: entry.id,
    kind: entry.kind,
    leaf_index: leafIndex,
    leaf_hash: bytesToHex(leafHash),
  };
  const by = { entry_key_id: entry.key_id, entry_key_fingerprint: fingerprint(entryKey) };
  out.result(lines, { status: 'ok', ...about, ...by, ...headFields(head, headKey), ...fields });
}

async function read(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    throw new CommandError((error as Error).message);
  }
}
