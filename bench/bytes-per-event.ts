/**
 * How many bytes does an event take on disk, by kind? Measures the event's share of its block, and its share of the
 * whole database with all derived data (inventory, alerts, topology, statistics). Both are compared with the original
 * lines, and with the lines compressed by gzip and zstd. Sizes are measured once all events are processed and small
 * blocks are merged. Each kind has a separate service.
 */
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { login, startService, tokenFor } from '../scripts/service.ts';
import { type FormatName, formatOf, linesOf } from './load/formats.ts';
import { type Loader, measure, startLoader } from './load/loader.ts';
import { quiet } from './peers/process-use.ts';
import type { BenchRow } from './result.ts';

const kinds: readonly FormatName[] = ['Zeek conn, JSON', 'Zeek dns, JSON', 'Suricata EVE, flow', 'ECS'];
const linesPerBody = 5000;
/** Number of lines to compress. They exceed any compression window, so more lines would give the same ratio. */
const compressedLines = 60_000;

export async function run(events = 400_000, names: readonly FormatName[] = kinds): Promise<BenchRow[]> {
  const loader = startLoader();
  try {
    const rows: BenchRow[] = [];
    for (const name of names) rows.push(...sentRows(name, events), ...(await storedRows(loader, name, events)));
    return rows;
  } finally {
    await loader.stop();
  }
}

const questionOf = (kind: FormatName, events: number) =>
  `Bytes of an event, ${kind}, ${events.toLocaleString('en')} of them`;

function sentRows(kind: FormatName, events: number): BenchRow[] {
  const lines = Math.ceil(Math.min(events, compressedLines) / linesPerBody) * linesPerBody;
  const bodies = formatOf(kind).bodies(linesOf(kind, lines), linesPerBody);
  const text = Buffer.concat(Array.from({ length: lines / linesPerBody }, () => bodies.next()));
  const row = (variant: string, bytes: number): BenchRow => ({
    question: questionOf(kind, events),
    variant,
    value: bytes / lines,
    unit: 'bytes',
  });
  return [
    row('the lines', text.length),
    row('the lines, gzip -6', gzipSync(text).length),
    row('the lines, zstd -3', zstdCompressSync(text).length),
  ];
}

async function storedRows(loader: Loader, kind: FormatName, events: number): Promise<BenchRow[]> {
  const service = await startService();
  try {
    const reader = await login(service);
    const plan = {
      url: service.url,
      token: await tokenFor(service, 'sensor'),
      format: kind,
      linesPerBody,
      connections: 4,
      // Limit in seconds; the run ends earlier, when all lines are sent.
      seconds: 600,
      requests: Math.ceil(events / linesPerBody),
    };
    const report = await measure(loader, service, plan, reader);
    await quiet(service.pid);
    const { store, retention } = await status(service.url, reader);
    const row = (variant: string, bytes: number, note?: string): BenchRow => ({
      question: questionOf(kind, events),
      variant,
      value: bytes / report.events,
      unit: 'bytes',
      ...(note !== undefined && { note }),
    });
    const found = `${store.assets.toLocaleString('en')} assets, ${store.services.toLocaleString('en')} services, ${store.topology_edges.toLocaleString('en')} edges, ${store.alerts.toLocaleString('en')} alerts`;
    return [
      row('its block', retention.event_bytes, `${store.blocks} blocks`),
      row('the whole database', store.bytes - store.unused_bytes, found),
    ];
  } finally {
    await service.stop();
  }
}

interface Status {
  readonly store: Readonly<
    Record<'bytes' | 'unused_bytes' | 'blocks' | 'assets' | 'services' | 'topology_edges' | 'alerts', number>
  >;
  readonly retention: { readonly event_bytes: number };
}

/** Returns the counts and sizes of a service. */
export async function status(url: string, token: string): Promise<Status> {
  const response = await fetch(`${url}/api/v1/status`, { headers: { authorization: `Bearer ${token}` } });
  if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
  return ((await response.json()) as { data: { attributes: Status } }).data.attributes;
}

if (import.meta.main) console.table(await run(Number(process.argv[2] ?? 400_000)));
