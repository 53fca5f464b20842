import type { LedgerStatus } from './ledger.ts';

/** Explanations of a deliberate regression, by event. */
const regressionCauses = {
  restored: 'restored from a backup',
  rebuilt: 'rebuilt from the data that could be recovered',
  begun_anew: 'started as a new log in place of a lost one',
  copied: 'continued in a copy of the data folder',
} as const;

/** Returns the text printed at each start, for an operator to compare with the journal. */
export function banner(status: LedgerStatus): string {
  const { head, health } = status;
  const rows: [string, string][] = [
    ['log size', String(status.size)],
    ['root', head === undefined ? 'none: the log is empty' : abbreviate(head.root_hash)],
    ['signed at', head === undefined ? 'never' : `${timeOf(head.timestamp_ns)} (${BigInt(head.timestamp_ns)} ns)`],
    ['tree-head key', status.sth_key_id || 'none'],
    ['fingerprint', status.sth_key_fingerprint || 'none'],
    ['health', health.state === 'ok' ? 'ok' : `DEGRADED: ${health.fault}`],
  ];
  if (health.state === 'degraded') rows.push(['advice', health.advice]);
  if (status.regression !== undefined) rows.push(['regression', regressionText(status.regression)]);
  for (const { code, message } of status.findings) rows.push(['finding', `${code}: ${message}`]);
  for (const warning of status.warnings) rows.push(['warning', warning]);
  return rows.map(([name, value]) => `  ${name.padEnd(14)} ${value}`).join('\n');
}

/** Describes a deliberate regression, for the banner and `/health`. */
function regressionText({ at, event, from_size, to_size }: NonNullable<LedgerStatus['regression']>): string {
  const went =
    to_size < from_size
      ? `the log went back from ${from_size} to ${to_size} leaves`
      : `all ${from_size} known leaves were kept`;
  return `${regressionCauses[event]} at ${at}: ${went}; auditors see a new log with new keys`;
}

function abbreviate(root: string): string {
  return `${root.slice(0, 16)}…${root.slice(-8)}`;
}

function timeOf(timestampNs: number): string {
  return new Date(Math.floor(timestampNs / 1e6)).toISOString();
}
