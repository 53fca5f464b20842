/** Recorded sensor data, with its timestamps moved to the present. */
import { type Service, tokenFor } from '../../../scripts/service.ts';
import { send } from '../../system/call.ts';
import { sharedLines } from '../../system/shared-data.ts';

/** A day in the LAN of a small company, and alerts recorded at a competition and at a conference. */
const files = [
  'zeek-lan/m57.conn.ndjson.gz',
  'zeek-lan/m57.dns.ndjson.gz',
  'suricata/wrccdc-2018.alerts.ndjson',
  'suricata/first-org-conf-2015.alerts.ndjson',
] as const;

type Recorded = Record<string, unknown> & { ts?: number | string; timestamp?: string };

const timeOf = ({ ts, timestamp }: Recorded): number =>
  typeof ts === 'number' ? ts * 1000 : Date.parse(ts ?? timestamp ?? '');

/** Returns the lines of a file, with timestamps moved so that the latest one is a minute ago. */
export function movedLines(file: string, now = Date.now()): string[] {
  const records = sharedLines(file).map((line): Recorded => JSON.parse(line));
  const times = records.map(timeOf);
  const shift = now - 60_000 - times.reduce((latest, time) => Math.max(latest, time), 0);
  return records.map((record, index) => {
    const at = times[index]! + shift;
    if (typeof record.ts === 'number') return JSON.stringify({ ...record, ts: at / 1000 });
    const iso = new Date(at).toISOString();
    return JSON.stringify(record.ts === undefined ? { ...record, timestamp: iso } : { ...record, ts: iso });
  });
}

/** Sends all data and waits until detection has processed it. */
export async function sendRealData(service: Service): Promise<void> {
  const sensor = await tokenFor(service, 'sensor');
  for (const file of files) {
    const lines = movedLines(file);
    for (let at = 0; at < lines.length; at += 5000)
      await send(service, sensor, lines.slice(at, at + 5000).join('\n'), { query: 'sensor=office' });
  }
}
