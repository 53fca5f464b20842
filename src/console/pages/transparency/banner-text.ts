import { fingerprint, type LogKey, type SignedHead } from '../../../client/verifier.ts';
import { bytesToHex } from '../../../tlog/hex.ts';

/** Returns a head in the form that the service prints at startup, so that users can compare both outputs. */
export function bannerText(head: SignedHead, key: LogKey): string {
  const root = bytesToHex(head.root);
  const rows = [
    ['log size', String(head.size)],
    ['root', `${root.slice(0, 16)}…${root.slice(-8)}`],
    ['signed at', `${new Date(Number(head.timestampNs / 1_000_000n)).toISOString()} (${head.timestampNs} ns)`],
    ['tree-head key', key.kid],
    ['fingerprint', fingerprint(key)],
  ] as const;
  return rows.map(([name, value]) => `  ${name.padEnd(14)} ${value}`).join('\n');
}
