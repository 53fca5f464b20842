import type { Alert } from '../contract/resources/alert.ts';
import type { AlertExport } from '../contract/vocabulary.ts';
import { limits } from '../limits.ts';
import type { ListFilter, StoreReader } from '../store/store.ts';
import { detectionFinding } from './ocsf.ts';

/** Where an export goes on, and where it ends: behind the alert that was the last one when it began. */
export interface ExportPlace {
  readonly after: string;
  readonly until: string;
}

export interface ExportQuery {
  readonly filter: ListFilter;
  readonly format: AlertExport;
  /** Version of this program, which findings name. */
  readonly version: string;
  /** Absent for the first page. */
  readonly place?: ExportPlace;
}

export interface ExportPage {
  /** JSON texts, each with its line end; may be empty where more follows. */
  readonly lines: Uint8Array<ArrayBuffer>;
  /** Absent on the last page. */
  readonly next?: ExportPlace;
}

const writers: { readonly [Format in AlertExport]: (id: string, alert: Alert, version: string) => object } = {
  ndjson: (id, alert) => ({ id, type: 'alert', attributes: alert }),
  ocsf: detectionFinding,
};

/**
 * A page of an export: alerts in order of id, which an alert never changes. So each is there once, as it is when its
 * page is read, and none is missed that matches all the while.
 */
export function exportAlerts(
  reader: Pick<StoreReader, 'visitAlerts' | 'lastAlertId'>,
  { filter, format, version, place }: ExportQuery,
  maxBytes: number = limits.exportPageBytes,
): ExportPage {
  const until = place?.until ?? reader.lastAlertId();
  if (until === undefined) return { lines: new Uint8Array() };
  const write = writers[format];
  const lines: string[] = [];
  let length = 0;
  const span = {
    ...(place === undefined ? {} : { after: place.after }),
    until,
    rows: limits.exportPageAlerts,
    withAssets: true,
  };
  const after = reader.visitAlerts(filter, span, (id, alert) => {
    const line = `${JSON.stringify(write(id, alert, version))}\n`;
    lines.push(line);
    length += line.length;
    return length >= maxBytes ? 'enough' : undefined;
  });
  const page = { lines: new TextEncoder().encode(lines.join('')) };
  return after === undefined ? page : { ...page, next: { after, until } };
}
