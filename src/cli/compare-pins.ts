import { readCheckpoint, verifyCheckpoint } from '../client/checkpoint.ts';
import { type Contradiction, checkExtension } from '../client/consistency.ts';
import type { Evidence } from '../client/evidence.ts';
import { AuditFault } from '../client/fault.ts';
import { corroborationOf } from '../client/fault-evidence.ts';
import type { LogSource } from '../client/log-source.ts';
import { type Pin, parsePin } from '../client/pin.ts';
import type { SignedHead } from '../client/tree-head.ts';
import { CommandError, exitCodes } from '../service/exit-codes.ts';
import type { SizedRoot } from '../tlog/binding.ts';
import { orThrow } from './output.ts';
import { readText } from './read-input.ts';
import { faultReport, type Report, reportContradiction } from './report.ts';
import { sharedTrust } from './shared-trust.ts';

/** A size and root that the log signed; checkpoints have no time. */
type Stated = SizedRoot & Partial<Pick<SignedHead, 'timestampNs'>>;

/**
 * Compares the views of two auditors, or of an auditor and a witness: checks whether both heads belong to one tree.
 * Different sizes need the log for a proof. A contradiction is saved as evidence next to the first pin.
 */
export async function comparePins(files: readonly string[], log: LogSource | undefined, now: number): Promise<Report> {
  if (files.length !== 2) throw new CommandError('--compare: needs exactly two files', exitCodes.usage);
  const read = [await readView(files[0]!), await readView(files[1]!)];
  const [one, other] = read.filter((view) => typeof view !== 'string');
  const note = read.find((view) => typeof view === 'string');
  if (one === undefined)
    throw new CommandError('--compare: both files are checkpoints; pass at least one pin', exitCodes.usage);
  const compared = { file: files[read.indexOf(one)]!, log, now };
  return other === undefined ? withCheckpoint(one, note!, compared) : twoPins(one, other, compared);
}

interface Compared {
  /** File of the first pin. */
  readonly file: string;
  readonly log: LogSource | undefined;
  readonly now: number;
}

async function twoPins(one: Pin, other: Pin, compared: Compared): Promise<Report> {
  const trust = await sharedTrust(one, other, compared.log);
  if (trust instanceof AuditFault) return faultReport(trust);
  const [earlier, later] = one.head.size <= other.head.size ? [one, other] : [other, one];
  const pinned = { pinnedAt: earlier.updatedAt, pinnedHead: earlier.head };
  const known = { log: one.log, ...pinned, head: later.head, headSeenAt: later.updatedAt, ...trust };
  const corroboration = [...corroborationOf(earlier), ...corroborationOf(later)];
  const report = await conclude([earlier.head, later.head], { ...known, corroboration }, compared);
  const notes = [one, other].flatMap(({ checkpointAhead: note }) => note ?? []);
  const [first, second] = notes.map((note) => orThrow(readCheckpoint(note)));
  if (report.exit !== exitCodes.ok || first === undefined || second === undefined) return report;
  // Lives of a log have different origins, and their trees may differ.
  if (first.origin !== second.origin) return report;
  // Without the log, only equal sizes can be compared.
  if (first.size !== second.size && compared.log === undefined) return report;
  const stated: [Stated, Stated] = first.size <= second.size ? [first, second] : [second, first];
  const found = await conclude(stated, { log: one.log, checkpoints: notes, ...trust }, compared);
  return found.exit === exitCodes.ok ? report : found;
}

/**
 * Verifies the checkpoint under the pin's keys, which include the log's checkpoint key, and compares it with the pin.
 */
async function withCheckpoint(pin: Pin, note: string, compared: Compared): Promise<Report> {
  const signed = verifyCheckpoint(note, pin.keys);
  if (signed instanceof AuditFault) return faultReport(signed);
  const { head, keys } = pin;
  const known = { log: pin.log, pinnedAt: pin.updatedAt, pinnedHead: head, checkpoint: note };
  const stated: [Stated, Stated] = signed.size <= head.size ? [signed, head] : [head, signed];
  return conclude(stated, { ...known, pinnedKeys: keys, keys, corroboration: corroborationOf(pin) }, compared);
}

async function conclude(
  [earlier, later]: readonly [Stated, Stated],
  known: Omit<Evidence, 'code' | 'message' | 'foundAt'>,
  compared: Compared,
): Promise<Report> {
  const found = await contradiction(earlier, later, compared.log);
  if (found instanceof AuditFault) return faultReport(found);
  const sizes = [earlier.size, later.size];
  if (found === undefined) {
    const lines = [`Both belong to the same tree (sizes ${sizes.join(' and ')}).`];
    return { exit: exitCodes.ok, state: 'same', lines, fields: { status: 'same_tree', sizes } };
  }
  const { fault, ...details } = found;
  return reportContradiction(fault, { ...details, ...known }, compared);
}

async function contradiction(
  earlier: Stated,
  later: Stated,
  log: LogSource | undefined,
): Promise<AuditFault | Contradiction | undefined> {
  const [before, after] = [earlier.timestampNs, later.timestampNs];
  const isLater = before === undefined || after === undefined || before < after;
  if (earlier.size < later.size && !isLater) {
    const message = `size ${earlier.size} was signed after size ${later.size}`;
    return { fault: new AuditFault('TIME_WENT_BACK', message) };
  }
  if (earlier.size < later.size && log === undefined) {
    const sizes = `the sizes are ${earlier.size} and ${later.size}`;
    throw new CommandError(
      `${sizes}; pass the URL of the log, which is needed for a consistency proof`,
      exitCodes.usage,
    );
  }
  return checkExtension(log!, earlier, later);
}

/** Reads a pin, or the note of a checkpoint. */
async function readView(path: string): Promise<Pin | string> {
  const text = await readText(path);
  return text.includes('\n\n\u2014 ') ? text : orThrow(parsePin(text));
}
