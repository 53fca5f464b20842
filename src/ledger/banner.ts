import type { LedgerStatus } from './ledger.ts';

/** What is printed at each start, for an operator to compare with the journal. */
export function banner(status: LedgerStatus): string {
  const { head, health } = status;
  const rows: [string, string][] = [
    ['log size', String(status.size)],
    ['root', head === undefined ? 'none: the log is empty' : abbreviate(head.root_hash)],
    [
      'signed at',
      head === undefined ? 'never' : `${timeOf(head.timestamp_ns)} (${BigInt(head.timestamp_ns)} ns)`,
    ],
    ['tree-head key', status.sth_key_id || 'none'],
    ['fingerprint', status.sth_key_fingerprint || 'none'],
    ['health', health.state === 'ok' ? 'ok' : `DEGRADED: ${health.fault}`],
  ];
  if (health.state === 'degraded') rows.push(['advice', health.advice]);
  return rows.map(([name, value]) => `  ${name.padEnd(14)} ${value}`).join('\n');
}

function abbreviate(root: string): string {
  return `${root.slice(0, 16)}…${root.slice(-8)}`;
}

function timeOf(timestampNs: number): string {
  return new Date(Math.floor(timestampNs / 1e6)).toISOString();
}
