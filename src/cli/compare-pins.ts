import { accuse } from '../client/auditor.ts';
import { type Contradiction, checkExtension } from '../client/consistency.ts';
import type { Evidence } from '../client/evidence.ts';
import { Fault } from '../client/fault.ts';
import type { KeySet } from '../client/key-set.ts';
import type { LogSource } from '../client/log-source.ts';
import type { Pin } from '../client/pin.ts';
import { equalHashes } from '../tlog/tree.ts';
import { faultReport, keep, type Report } from './audit.ts';
import { CommandError, exitCodes } from './exit-codes.ts';
import { loadPin } from './pin-file.ts';

/**
 * Compares the views of two auditors: whether the heads that they pinned are of one tree. Sizes that differ need the
 * log for a proof. A contradiction is kept as evidence beside the first pin.
 */
export async function comparePins(
  files: readonly string[],
  log: LogSource | undefined,
  now: number,
): Promise<Report> {
  if (files.length !== 2) throw new CommandError('--compare: name two pins', exitCodes.usage);
  const [one, other] = [await read(files[0]!), await read(files[1]!)];
  const trusted = commonKeys(one, other);
  if (trusted instanceof Fault) return faultReport(trusted);
  const [earlier, later] = one.head.size <= other.head.size ? [one, other] : [other, one];
  const found = await contradiction(earlier, later, log);
  if (found instanceof Fault) return faultReport(found);
  const sizes = `${one.head.size} and ${other.head.size}`;
  if (found === undefined) {
    const lines = [`The pins are of one tree (sizes ${sizes}).`];
    return {
      exit: exitCodes.ok,
      state: 'same',
      lines,
      fields: { status: 'same_tree', sizes: [one.head.size, other.head.size] },
    };
  }
  const { fault, ...shown } = found;
  const evidence: Evidence = {
    code: fault.code,
    message: fault.message,
    log: one.log,
    foundAt: new Date(now).toISOString(),
    ...shown,
    pinnedAt: earlier.updatedAt,
    pinnedHead: earlier.head,
    head: later.head,
    headSeenAt: later.updatedAt,
    pinnedKeys: trusted,
    keys: trusted,
  };
  const result = accuse(evidence, fault);
  return faultReport(result.fault, await keep(result.evidence, files[0]!, now));
}

async function contradiction(
  { head: earlier }: Pin,
  { head: later }: Pin,
  log: LogSource | undefined,
): Promise<Fault | Contradiction | undefined> {
  if (earlier.size === later.size) {
    if (equalHashes(earlier.root, later.root)) return undefined;
    return { fault: new Fault('FORK', `the two auditors pinned different roots for size ${later.size}`) };
  }
  if (earlier.timestampNs >= later.timestampNs) {
    const message = `size ${earlier.size} was signed after size ${later.size}`;
    return { fault: new Fault('TIME_WENT_BACK', message) };
  }
  if (log === undefined) {
    const sizes = `the pins are of sizes ${earlier.size} and ${later.size}`;
    throw new CommandError(
      `${sizes}: name the address of the log, which proves their relation`,
      exitCodes.usage,
    );
  }
  return checkExtension(log, earlier, later);
}

/** The tree-head keys of both, where the two have one in common: auditors of one life of one log do. */
function commonKeys(one: Pin, other: Pin): KeySet | Fault {
  const both = [...one.keys.values()].filter(({ kid }) => other.keys.has(kid));
  const changed = both.find(({ kid, x }) => other.keys.get(kid)!.x !== x);
  if (changed !== undefined)
    return new Fault('KEY_CHANGED', `the two pins have different values for key ${changed.kid}`);
  if (!both.some(({ purpose }) => purpose === 'transparency-sth'))
    return new Fault(
      'UNVOUCHED_KEY',
      'the two pins have no tree-head key in common: they are of different logs or lives',
    );
  // If both have a key, the copy that knows its end counts.
  const ended = [...one.keys, ...other.keys].filter(([, { state }]) => state !== 'active');
  return new Map([...one.keys, ...other.keys, ...ended]);
}

async function read(path: string): Promise<Pin> {
  const pin = await loadPin(path);
  if (pin === undefined) throw new CommandError(`${path}: there is no such pin`);
  return pin;
}
