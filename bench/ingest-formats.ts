/**
 * How many events per second does each format reach from HTTP to disk, including detection and statistics? The same
 * connections in the formats of Zeek, Suricata and shippers (and lookups in Zeek's dns format) are sent in bodies of
 * 2,000 lines. Each format has a separate service with default settings. A round ends when detection and statistics
 * include all of its events. The load comes from another process on the same cores, and no line is sent twice.
 */
import { login, startService, tokenFor } from '../scripts/service.ts';
import { type FormatName, formatNames } from './load/formats.ts';
import { cpuNote, type Loader, type Measured, measure, startLoader } from './load/loader.ts';
import { type BenchRow, rowOfRounds } from './result.ts';

const linesPerBody = 2000;
const connections = 8;
const question = `Events per second in bodies of ${linesPerBody.toLocaleString('en')}, ${connections} at a time, detected on and counted`;

/** Measures the formats. Each round takes `seconds` and the time of deferred work. */
export async function run(seconds = 1.8, names: readonly FormatName[] = formatNames, rounds = 3): Promise<BenchRow[]> {
  const loader = startLoader();
  try {
    const rows: BenchRow[] = [];
    const memory: BenchRow[] = [];
    for (const name of names) {
      const measured = await ofFormat(loader, name, seconds, rounds);
      const rates = measured.map(({ events, countedS }) => events / countedS);
      rows.push(rowOfRounds({ question, variant: name, unit: 'events/s', note: cpuNote(measured) }, rates, Math.round));
      const peak = Math.max(...measured.map(({ peakRssAnonMiB }) => peakRssAnonMiB));
      memory.push({
        question: 'Anonymous memory under this load',
        variant: name,
        value: Math.round(peak),
        unit: 'MiB RssAnon, peak',
      });
    }
    return [...rows, ...memory];
  } finally {
    await loader.stop();
  }
}

async function ofFormat(loader: Loader, format: FormatName, seconds: number, rounds: number): Promise<Measured[]> {
  const service = await startService();
  try {
    const token = await tokenFor(service, 'sensor');
    const reader = await login(service);
    const plan = { url: service.url, token, format, linesPerBody, connections, seconds };
    // Warm-up: code is compiled, and bodies are created.
    const first = await measure(loader, service, { ...plan, seconds: seconds / 2 }, reader);
    const measured: Measured[] = [];
    for (let round = 0; round < rounds; round++) measured.push(await measure(loader, service, plan, reader));
    const sent = [first, ...measured].reduce((sum, { events }) => sum + events, 0);
    const stored = await storedEvents(service.url, reader);
    if (stored !== sent) throw new Error(`${format}: ${stored} events are stored of ${sent}`);
    return measured;
  } finally {
    await service.stop();
  }
}

async function storedEvents(url: string, token: string): Promise<number> {
  const response = await fetch(`${url}/api/v1/status`, { headers: { authorization: `Bearer ${token}` } });
  const { data } = (await response.json()) as {
    data: { attributes: { store: { network_events: number; dns_events: number } } };
  };
  const { network_events, dns_events } = data.attributes.store;
  return network_events + dns_events;
}

if (import.meta.main) console.table(await run(Number(process.argv[2] ?? 1.8)));
