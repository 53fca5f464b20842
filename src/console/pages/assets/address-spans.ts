import type { ListItem } from '../../../client/client.ts';

export type HistoryEntry = ListItem<'listAssetHistory'>['attributes'];

/**
 * A period in which an asset had an address (ISO 8601). `from` is absent if it is unknown, and `to` is absent while the
 * asset still has the address.
 */
export interface AddressSpan {
  readonly address: string;
  readonly from?: string;
  readonly to?: string;
}

/**
 * Returns the periods in which an asset had its IP and MAC addresses: current addresses first, then latest first.
 *
 * @param history - the history of one asset, in any order
 * @param current - the current addresses
 */
export function addressSpans(history: readonly HistoryEntry[], current: readonly string[]): AddressSpan[] {
  const spans: { address: string; from?: string; to?: string }[] = [];
  const open = (address: string) => spans.findLast((span) => span.address === address && span.to === undefined);
  const inOrder = [...history].sort((a, b) => Date.parse(a.at) - Date.parse(b.at));
  for (const { action, at, ip_address, mac_address } of inOrder) {
    const address = ip_address ?? mac_address;
    if (address === undefined) continue;
    if (action === 'address_bound' || action === 'mac_bound') {
      if (open(address) === undefined) spans.push({ address, from: at });
    } else if (action === 'address_left' || action === 'mac_released') {
      const span = open(address);
      if (span === undefined) spans.push({ address, to: at });
      else span.to = at;
    }
  }
  for (const address of current) if (open(address) === undefined) spans.push({ address });
  const isCurrent = ({ address, to }: AddressSpan) => to === undefined && current.includes(address);
  const latest = ({ from, to }: AddressSpan) => Date.parse(to ?? from ?? '1970-01-01T00:00:00Z');
  // Omits addresses that moved to another asset in a split: such an address has no removal in the history and is not
  // current.
  return spans
    .filter((span) => span.to !== undefined || isCurrent(span))
    .sort((a, b) => Number(isCurrent(b)) - Number(isCurrent(a)) || latest(b) - latest(a));
}
