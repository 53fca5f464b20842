import type { Params } from '../../state/address.ts';

/** The figures of the overview: what they are called, and whether more of them is worse. */
export interface MetricText {
  readonly title: string;
  /** More of it than usual is a reason to look. */
  readonly isTrouble: boolean;
}

export const metricTexts: Readonly<Record<string, MetricText>> = {
  network_events: { title: 'Network events', isTrouble: false },
  dns_events: { title: 'DNS events', isTrouble: false },
  alerts: { title: 'Alerts', isTrouble: true },
  bytes: { title: 'Bytes', isTrouble: false },
  rejected_connections: { title: 'Rejected connections', isTrouble: true },
  nxdomain: { title: 'Names that do not exist', isTrouble: true },
  new_assets: { title: 'New assets', isTrouble: true },
  new_services: { title: 'New services', isTrouble: true },
  sources: { title: 'Different sources', isTrouble: false },
  destinations: { title: 'Different destinations', isTrouble: false },
  domains: { title: 'Different domains', isTrouble: false },
};

/** The time of figures, for where their links lead: they show the same then. */
export const timeOf = (window: string): Params => ({ range: window === '24h' ? undefined : window });

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
