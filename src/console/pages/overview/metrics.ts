/** Title and meaning of a metric on the overview. */
export interface MetricText {
  readonly title: string;
  /** Whether an increase deserves attention. */
  readonly isTrouble: boolean;
  /** The list of the counted items, without a time range. */
  readonly list: string;
  /** The URL parameter of the list for the start of the window; `from` by default. */
  readonly since?: 'first_seen_from';
}

export const metricTexts: Readonly<Record<string, MetricText>> = {
  network_events: { title: 'Network events', isTrouble: false, list: '/events?table=network' },
  dns_events: { title: 'DNS events', isTrouble: false, list: '/events?table=dns' },
  alerts: { title: 'Alerts last seen', isTrouble: true, list: '/alerts?view=all' },
  bytes: { title: 'Bytes', isTrouble: false, list: '/events?table=network' },
  rejected_connections: {
    title: 'Rejected connections',
    isTrouble: true,
    list: '/events?table=network&state=refused',
  },
  nxdomain: { title: 'NXDOMAIN', isTrouble: true, list: '/events?table=dns&rcode=3' },
  new_assets: {
    title: 'New assets',
    isTrouble: true,
    list: '/assets?sort=-first_seen',
    since: 'first_seen_from',
  },
  new_services: {
    title: 'New services',
    isTrouble: true,
    list: '/assets?view=services&sort=-first_seen',
    since: 'first_seen_from',
  },
  sources: { title: 'Unique sources', isTrouble: false, list: '/events?values=src_ip' },
  destinations: { title: 'Unique destinations', isTrouble: false, list: '/events?values=dst_ip' },
  domains: {
    title: 'Unique domains',
    isTrouble: false,
    list: '/events?table=dns&values=registered_domain',
  },
};

/** The change of a total from the previous period. */
export type Change =
  | { readonly kind: 'none' }
  /** The previous total was 0. */
  | { readonly kind: 'new' }
  | { readonly kind: 'percent'; readonly percent: number; readonly unusual: boolean };

/** Threshold in per cent below which changes without anomalies are not shown. */
const minPercent = 1;

export function changeOf(current: number, previous: number, percent: number | undefined, anomalies: number): Change {
  if (previous === 0 || percent === undefined) return current === 0 ? { kind: 'none' } : { kind: 'new' };
  if (Math.abs(percent) < minPercent && anomalies === 0) return { kind: 'none' };
  return { kind: 'percent', percent, unusual: anomalies > 0 };
}
