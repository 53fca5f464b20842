import type { ListId } from '../../../client/client.ts';
import type { DnsAnswer } from '../../../contract/resources/dns-event.ts';
import type { Severity } from '../../../contract/vocabulary.ts';

/** The two event tables with their API operations. */
export const tables = {
  network: {
    title: 'Network',
    one: 'network event',
    list: 'listNetworkEvents',
    get: 'getNetworkEvent',
    proof: 'getNetworkEventProof',
    histogram: 'getNetworkEventHistogram',
    values: 'getNetworkEventValues',
    channel: 'events.network',
    search: 'Search protocols, IDs, sensors',
    columnsIn: 'columns',
    file: 'network-events',
  },
  dns: {
    title: 'DNS',
    one: 'DNS event',
    list: 'listDnsEvents',
    get: 'getDnsEvent',
    proof: 'getDnsEventProof',
    histogram: 'getDnsEventHistogram',
    values: 'getDnsEventValues',
    channel: 'events.dns',
    search: 'Search names, answers, IDs',
    columnsIn: 'dns_columns',
    file: 'dns-events',
  },
} as const satisfies Record<string, { readonly list: ListId; readonly [property: string]: string }>;
export type TableName = keyof typeof tables;

/** An event of either table. */
export interface EventRow {
  readonly id: string;
  readonly attributes: EventAttributes;
}
export type EventAttributes = Readonly<
  Record<string, string | number | boolean | readonly string[] | readonly DnsAnswer[]>
> & {
  readonly timestamp: string;
  readonly severity: Severity;
  readonly src_ip: string;
  readonly dst_ip: string;
};
