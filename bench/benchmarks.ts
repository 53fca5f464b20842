import type { BenchRow } from './result.ts';

/** All benchmarks by file name, in the order in which they run and appear on the page. */
export const benchmarks = {
  'ingest-http': () => import('./ingest-http.ts'),
  'ingest-formats': () => import('./ingest-formats.ts'),
  'ingest-batches': () => import('./ingest-batches.ts'),
  'ingest-mixes': () => import('./ingest-mixes.ts'),
  'ingest-latency': () => import('./ingest-latency.ts'),
  'bytes-per-event': () => import('./bytes-per-event.ts'),
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
  sealing: () => import('./sealing.ts'),
  fsck: () => import('./fsck.ts'),
  'large-log': () => import('./large-log.ts'),
  rpc: () => import('./rpc.ts'),
  auth: () => import('./auth.ts'),
  sigma: () => import('./sigma.ts'),
  'hostile-rules': () => import('./hostile-rules.ts'),
  peers: () => import('./peers.ts'),
  syslog: () => import('./syslog.ts'),
  console: () => import('./console.ts'),
  soak: () => import('./soak.ts'),
  fuzz: () => import('./fuzz.ts'),
} satisfies Record<string, () => Promise<{ run(): Promise<BenchRow[]> }>>;

export type BenchmarkName = keyof typeof benchmarks;
export const benchmarkNames = Object.keys(benchmarks) as BenchmarkName[];

/** Benchmarks that run only on request, with the reason. */
export const runWhereNamed: Readonly<Partial<Record<BenchmarkName, string>>> = {
  'large-log': 'takes ten minutes and 11 GB of disk',
  peers: 'takes seven minutes, and downloads the engines for comparison',
  syslog: 'takes three minutes, and downloads rsyslog and syslog-ng for comparison',
  console: 'needs a Chromium browser, whose path is in CHROMIUM',
  soak: 'takes an hour and a quarter, and 20 GB of disk',
  fuzz: 'takes an hour, or FUZZ_SECONDS',
};
