import { isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import { tlsSettings } from './config/part-settings.ts';
import type { Requirement } from './config/stored-settings.ts';
import { readTlsFiles } from './http/tls-files.ts';
import { loadPolicy, PolicyFileError } from './witness/policy-file.ts';

/** What the next start would stumble over, were it stored without a look. */
export const requirements: readonly Requirement[] = [
  {
    setting: 'host',
    check({ host }) {
      if (!mayListenOn(host)) throw new Error(`${host} is not an address of this machine`);
    },
  },
  {
    setting: 'tls.cert',
    check(config) {
      const { tls } = tlsSettings(config);
      if (tls !== undefined) readTlsFiles(tls);
    },
  },
  {
    setting: 'witness.policy',
    check({ 'witness.policy': path }) {
      try {
        if (path !== undefined) loadPolicy(path);
      } catch (error) {
        // Whoever names the file here need not be one who may read it: the log of a start that fails says more.
        if (!(error instanceof PolicyFileError)) throw error;
        throw new Error(error.place);
      }
    },
  },
];

/** Names are left to the resolver. */
function mayListenOn(host: string): boolean {
  const own = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  const isEverywhere = host === '0.0.0.0' || host === '::' || host.startsWith('127.');
  return isIP(host) === 0 || isEverywhere || own.some(({ address }) => address === host);
}
