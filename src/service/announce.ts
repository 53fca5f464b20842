import type { Logger } from 'pino';
import type { Config } from '../config/settings.ts';
import { banner } from '../ledger/banner.ts';
import type { LedgerStatus } from '../ledger/ledger.ts';
import { productVersion } from './version.ts';

/** Prints the state of the log at a start, for the operator to compare with the journal. */
export function show(status: LedgerStatus): void {
  process.stdout.write(`candor ${productVersion()}\n${banner(status)}\n`);
}

export function showPassword(password: string): void {
  process.stdout.write(`  administrator  admin, password ${password} (shown this once)\n`);
}

export function announce(config: Config, port: number, log: Logger): void {
  const host = config.host.includes(':') ? `[${config.host}]` : config.host;
  const url = `${config['tls.cert'] ? 'https' : 'http'}://${host}:${port}`;
  log.info({ url, port, pid: process.pid, data_dir: config.data_dir }, 'listening');
  // Prints the URL if log messages are off, because the operator has to see when the service is ready and on which
  // port.
  if (!log.isLevelEnabled('info')) process.stdout.write(`  listening      ${url}\n`);
}
