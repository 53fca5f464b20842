/** The figures of the overview: what they are called, and whether more of them is worse. */
export interface MetricText {
  readonly title: string;
  /** More of it than usual is a reason to look. */
  readonly isTrouble: boolean;
  /** The list of what is counted, of any time. */
  readonly list: string;
  /** The parameter of the list that takes the start of the window; `from` by default. */
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
  nxdomain: { title: 'Names that do not exist', isTrouble: true, list: '/events?table=dns&rcode=3' },
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
  sources: { title: 'Different sources', isTrouble: false, list: '/events?values=src_ip' },
  destinations: { title: 'Different destinations', isTrouble: false, list: '/events?values=dst_ip' },
  domains: {
    title: 'Different domains',
    isTrouble: false,
    list: '/events?table=dns&values=registered_domain',
  },
};

/** How a total stands to the one of the period before. */
export type Change =
  | { readonly kind: 'none' }
  /** There was nothing before. */
  | { readonly kind: 'new' }
  | { readonly kind: 'percent'; readonly percent: number; readonly unusual: boolean };

/** Changes of less than this are not worth a word, in per cent. */
const worthTelling = 1;

export function changeOf(
  current: number,
  previous: number,
  percent: number | undefined,
  anomalies: number,
): Change {
  if (previous === 0 || percent === undefined) return current === 0 ? { kind: 'none' } : { kind: 'new' };
  if (Math.abs(percent) < worthTelling && anomalies === 0) return { kind: 'none' };
  return { kind: 'percent', percent, unusual: anomalies > 0 };
}
