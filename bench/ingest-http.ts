/**
 * How many events per second are ingested from HTTP to disk? NDJSON of realistic Zeek conn lines is received,
 * decompressed if necessary, parsed, validated, normalised, stored, flushed, acknowledged and queryable; the load
 * generator shares the machine. The same run measures the same lines with bench/baseline/plain-server.ts.
 */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { type Service, startScript, startService, tokenFor } from '../scripts/service.ts';
import { connLines } from '../scripts/traffic/index.ts';
import { Connection } from './load/connection.ts';
import { type MovingBodies, zeekJsonBodies } from './load/moving.ts';
import { type BenchRow, rowOfRounds } from './result.ts';
import { untilCounted } from './until-counted.ts';

const question = 'Events per second from HTTP to disk, acknowledged';
const linesPerBody = 10_000;
const distinctBodies = 12;
const concurrency = 4;
/** Rounds follow one another directly, without a pause. */
const rounds = 3;
const mostLinesASecond = 300_000;

export async function run(seconds = 15): Promise<BenchRow[]> {
  const lines = [...connLines(7, linesPerBody * distinctBodies)];
  const mib = lines.reduce((sum, line) => sum + line.length + 1, 0) / distinctBodies / 2 ** 20;
  const note = `bodies of ${linesPerBody} lines, ${mib.toFixed(1)} MiB, ${concurrency} at a time`;
  const rows: BenchRow[] = [];
  const rates = new Map<string, number>();

  const measure = async (variant: string, service: Service, path: string, token: string, gzip: boolean) => {
    const bodies = zeekJsonBodies(lines, linesPerBody);
    const sent = gzip ? compressed(bodies, seconds + 3) : bodies;
    await load(service.url + path, token, sent, gzip, 3);
    const loads: Awaited<ReturnType<typeof load>>[] = [];
    for (let round = 0; round < rounds; round++)
      loads.push(await load(service.url + path, token, sent, gzip, seconds / rounds));
    const each = loads.map(({ accepted, elapsedS }) => accepted / elapsedS);
    const row = rowOfRounds({ question, variant, unit: 'events/s', note }, each, Math.round);
    rates.set(variant, row.value);
    rows.push(row);
    const sum = (of: 'accepted' | 'elapsedS') => loads.reduce((total, one) => total + one[of], 0);
    if (token !== '') rows.push(await countedRow(variant, service, sum('accepted'), sum('elapsedS')));
    rows.push({ question, variant, value: Math.round(service.peakRssAnonMiB()), unit: 'MiB RssAnon, peak' });
  };

  for (const gzip of [false, true]) {
    const candor = await startService();
    const token = await tokenFor(candor, 'sensor');
    await measure(gzip ? 'candor, gzip' : 'candor', candor, '/api/v1/ingest', token, gzip);
    if (!gzip) rows.push(await queryableRow(candor));
    await candor.stop();
  }
  const folder = mkdtempSync(join(tmpdir(), 'candor-plain-'));
  const plain = await startScript('bench/baseline/plain-server.ts', [join(folder, 'plain.mdb')], folder);
  await measure('plain node:http server', plain, '/', '', false);
  await plain.stop();

  const ratio = (rates.get('candor') ?? 0) / (rates.get('plain node:http server') ?? 1);
  rows.push({ question, variant: 'candor ÷ plain server', value: Math.round(ratio * 100) / 100, unit: '×' });
  return rows;
}

/** Waits until detection and statistics include all deferred events, without other load. */
async function countedRow(variant: string, service: Service, accepted: number, elapsedS: number): Promise<BenchRow> {
  const began = performance.now();
  await untilCounted(service);
  const allS = elapsedS + (performance.now() - began) / 1000;
  const question = 'Events per second from HTTP to disk, detected on and counted';
  return { question, variant, value: Math.round(accepted / allS), unit: 'events/s' };
}

/** Compresses enough bodies for a measurement of `seconds`, before the measurement begins. */
function compressed(bodies: MovingBodies, seconds: number): Pick<MovingBodies, 'next'> {
  const all = Array.from({ length: Math.ceil((seconds * mostLinesASecond) / linesPerBody) }, () =>
    gzipSync(bodies.next(), { level: 1 }),
  );
  let taken = 0;
  return {
    next() {
      const body = all[taken++];
      if (body === undefined) throw new Error(`more than ${mostLinesASecond} lines per second: compress more of them`);
      return body;
    },
  };
}

/** Posts bodies, `concurrency` at a time, and counts the acknowledged events. */
export async function load(
  url: string,
  token: string,
  bodies: Pick<MovingBodies, 'next'>,
  gzip: boolean,
  seconds: number,
) {
  const start = performance.now();
  let accepted = 0;
  const { port, pathname } = new URL(url);
  const credentials = token === '' ? '' : `Authorization: Bearer ${token}\r\n`;
  const coding = gzip ? 'Content-Encoding: gzip\r\n' : '';
  const head =
    `POST ${pathname} HTTP/1.1\r\nHost: candor\r\nContent-Type: application/x-ndjson\r\n` + `${credentials}${coding}`;
  const sender = async () => {
    const connection = new Connection(Number(port));
    while (performance.now() - start < seconds * 1000) {
      const { status, body } = await connection.post(head, bodies.next());
      if (status !== 200) throw new Error(`${status} ${body}`);
      accepted += (JSON.parse(body) as { data: { accepted: number } }).data.accepted;
    }
    connection.close();
  };
  await Promise.all(Array.from({ length: concurrency }, sender));
  return { accepted, elapsedS: (performance.now() - start) / 1000 };
}

/** Checks that the total of the event list includes every acknowledged event. */
async function queryableRow(service: Service): Promise<BenchRow> {
  const token = await tokenFor(service, 'analyst');
  const headers = { authorization: `Bearer ${token}` };
  const response = await fetch(`${service.url}/api/v1/events/network?per_page=1`, { headers });
  const body = (await response.json()) as { pagination: { total: number } };
  return { question, variant: 'candor', value: body.pagination.total, unit: 'events in the list afterwards' };
}

if (import.meta.main) console.table(await run(Number(process.argv[2] ?? 15)));
