import { scanAttributes } from '../../contract/list-attributes.ts';
import type { Scan } from '../../contract/resources/scan.ts';
import { scanStatuses } from '../../contract/vocabulary.ts';
import { attributeList } from '../../database/lists/attributes.ts';
import { compileFilter, type Predicate, type TermCompiler } from '../../database/lists/filter.ts';
import type { ListSpec } from '../../database/lists/list.ts';
import { rank } from '../../database/lists/order.ts';
import { invalidField } from '../../errors.ts';
import { type AddressRange, addressRanges, rangesMeet } from '../../net/ip.ts';
import type { ListFilter } from '../../store/store.ts';

/** The list of scans; `from` and `to` bound `requested_at`. */
export const scanList: ListSpec<Scan> = attributeList(scanAttributes, {
  type: 'scan',
  terms: { target: overlapping((scan) => scan.targets) },
  sorts: { status: (scan) => rank(scanStatuses, scan.status) },
  time: (scan) => scan.requested_at,
  names: (scan) => [...scan.targets, scan.ports, scan.requested_by],
});

/**
 * Compiles the filter for lists, replays and live subscriptions. @throws INVALID_REQUEST naming the field.
 */
export const compileScanFilter = (filter: ListFilter): Predicate<Scan> => compileFilter(scanList, filter);

/** Matches scans with a target that shares an address with one of the values. */
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
