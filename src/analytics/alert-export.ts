import type { Alert } from '../contract/resources/alert.ts';
import type { AlertExport } from '../contract/vocabulary.ts';
import { limits } from '../limits.ts';
import type { ListFilter, StoreReader } from '../store/store.ts';
import { detectionFinding } from './ocsf.ts';

/** The position of an export, and its end, which is the last alert when the export began. */
export interface ExportPlace {
  readonly after: string;
  readonly until: string;
}

export interface ExportQuery {
  readonly filter: ListFilter;
  readonly format: AlertExport;
  /** Version of this program, which is included in findings. */
  readonly version: string;
  /** The position of the page; absent for the first page. */
  readonly place?: ExportPlace;
}

export interface ExportPage {
  /** JSON texts, each with its line ending. May be empty even if more pages follow. */
  readonly lines: Uint8Array<ArrayBuffer>;
  /** The position of the next page; absent on the last page. */
  readonly next?: ExportPlace;
}

const writers: { readonly [Format in AlertExport]: (id: string, alert: Alert, version: string) => object } = {
  ndjson: (id, alert) => ({ id, type: 'alert', attributes: alert }),
  ocsf: detectionFinding,
};

/**
 * Returns a page of an export: alerts in order of their ids, which never change. Therefore, each alert occurs at most
 * once, in its state when its page is read. An alert that matches during the whole export is never missed.
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
