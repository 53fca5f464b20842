import type { Scan } from '../../contract/resources/scan.ts';
import { scanEngines, scanStatuses } from '../../contract/vocabulary.ts';
import { invalidField } from '../../errors.ts';
import { type AddressRange, addressRanges, rangesMeet } from '../../events/ip.ts';
import type { ListFilter } from '../store.ts';
import { compileFilter, oneOf, type Predicate, type TermCompiler, text } from './filter.ts';
import type { ListSpec } from './list.ts';
import { rank, timeOrder } from './order.ts';

/** `from` and `to` bound `requested_at`. */
export const scanList: ListSpec<Scan> = {
  type: 'scan',
  terms: {
    status: oneOf(scanStatuses, (scan) => scan.status),
    engine: oneOf(scanEngines, (scan) => scan.engine),
    requested_by: text((scan) => scan.requested_by),
    target: overlapping((scan) => scan.targets),
  },
  sorts: {
    requested_at: (scan) => timeOrder(scan.requested_at),
    started_at: (scan) => timeOrder(scan.started_at),
    finished_at: (scan) => timeOrder(scan.finished_at),
    status: (scan) => rank(scanStatuses, scan.status),
    engine: (scan) => scan.engine,
    requested_by: (scan) => scan.requested_by,
  },
  time: (scan) => scan.requested_at,
  names: (scan) => [...scan.targets, scan.ports, scan.requested_by],
};

/**
 * Compiles the filter for lists, replays and live subscriptions. @throws INVALID_REQUEST naming the field.
 */
export const compileScanFilter = (filter: ListFilter): Predicate<Scan> => compileFilter(scanList, filter);

/** Matches addresses or blocks that share an address with one of the values. */
function overlapping(read: (scan: Scan) => readonly string[]): TermCompiler<Scan> {
  return (field, values) => {
    const wanted = values.flatMap((value) => {
      const ranges = addressRanges(String(value));
      if (ranges === undefined) throw invalidField(field, 'must be an IP address or a CIDR block');
      return ranges;
    });
    const isWanted = (range: AddressRange) => wanted.some((other) => rangesMeet(range, other));
    return (scan) => read(scan).some((target) => (addressRanges(target) ?? []).some(isWanted));
  };
}
