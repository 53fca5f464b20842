/**
 * `npm run bench [name …]`: runs the benchmarks and writes their results to bench/RESULTS.md. Each is a file with one
 * question, and compares within one run, because machines differ and are noisy.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { arch, cpus, platform, release, totalmem } from 'node:os';
import type { BenchRow } from './result.ts';

const benchmarks = {
  'ingest-http': () => import('./ingest-http.ts'),
  ingest: () => import('./ingest.ts'),
  events: () => import('./events.ts'),
  queries: () => import('./queries.ts'),
  inventory: () => import('./inventory.ts'),
  'alert-merge': () => import('./alert-merge.ts'),
  'alert-workflow': () => import('./alert-workflow.ts'),
  behaviour: () => import('./behaviour.ts'),
  topology: () => import('./topology.ts'),
  dashboard: () => import('./dashboard.ts'),
  startup: () => import('./startup.ts'),
  live: () => import('./live.ts'),
  ledger: () => import('./ledger.ts'),
  proofs: () => import('./proofs.ts'),
  fsck: () => import('./fsck.ts'),
  'large-log': () => import('./large-log.ts'),
  rpc: () => import('./rpc.ts'),
  auth: () => import('./auth.ts'),
  sigma: () => import('./sigma.ts'),
  peers: () => import('./peers.ts'),
} satisfies Record<string, () => Promise<{ run(): Promise<BenchRow[]> }>>;

type Name = keyof typeof benchmarks;
const page = new URL('./RESULTS.md', import.meta.url).pathname;
const wanted = process.argv.slice(2);
/**
 * Run only where they are named: one takes ten minutes and 11 GB of disk, the other fetches the engines that it compares
 * with.
 */
const named: readonly Name[] = ['large-log', 'peers'];
const names = (Object.keys(benchmarks) as Name[]).filter((name) =>
  wanted.length === 0 ? !named.includes(name) : wanted.includes(name),
);
if (names.length === 0)
  throw new Error(`no such benchmark; there are: ${Object.keys(benchmarks).join(', ')}`);

const sections = readSections();
for (const name of names) {
  console.log(`${name} …`);
  const rows = await (await benchmarks[name]()).run();
  console.table(rows);
  sections.set(name, section(name, rows));
  writePage();
}

/** The sections already on the page, so that one benchmark can be run again alone. */
function readSections(): Map<string, string> {
  try {
    const parts = readFileSync(page, 'utf8')
      .split(/^(?=## )/m)
      .slice(1);
    return new Map(parts.map((part) => [part.slice(3, part.indexOf('\n')), part.trimEnd()]));
  } catch {
    return new Map();
  }
}

function section(name: string, rows: readonly BenchRow[]): string {
  const machine = `${cpus().length} × ${cpus()[0]?.model ?? arch()}, ${Math.round(totalmem() / 2 ** 30)} GiB, ${platform()} ${release()}, Node ${process.versions.node}`;
  const byQuestion = Map.groupBy(rows, (row) => row.question);
  const tables = [...byQuestion].map(([question, its]) =>
    [
      `**${question}**`,
      '',
      '| variant | value | unit | |',
      '|---|---:|---|---|',
      ...its.map((row) => `| ${row.variant} | ${number(row.value)} | ${row.unit} | ${row.note ?? ''} |`),
    ].join('\n'),
  );
  return [
    `## ${name}`,
    '',
    `${new Date().toISOString().slice(0, 10)} · ${machine}`,
    '',
    tables.join('\n\n'),
  ].join('\n');
}

function number(value: number): string {
  return Number.isInteger(value) ? value.toLocaleString('en') : value.toPrecision(3);
}

function writePage(): void {
  const order = Object.keys(benchmarks);
  const body = [...sections].sort(([a], [b]) => order.indexOf(a) - order.indexOf(b)).map(([, text]) => text);
  const head =
    '# Benchmark results\n\nWritten by `npm run bench`; ratios within one run are what can be compared.';
  writeFileSync(page, `${[head, ...body].join('\n\n')}\n`);
}
