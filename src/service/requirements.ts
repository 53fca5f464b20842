import { isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import { tlsSettings } from '../config/part-settings.ts';
import type { Requirement } from '../config/stored-settings.ts';
import { checkFolder } from '../files/check-folder.ts';
import { readTlsFilesLater } from '../http/tls-files.ts';
import { loadPolicy, PolicyFileError } from '../witness/policy-file.ts';

/**
 * Conditions for the next start, which are checked before a setting is stored. The caller limits the time of
 * these checks.
 */
export const requirements: readonly Requirement[] = [
  {
    settings: ['host'],
    check({ host }) {
      if (!mayListenOn(host)) throw new Error(`${host} is not an address of this machine`);
    },
  },
  {
    settings: ['backup.dir'],
    async check({ 'backup.dir': dir }) {
      if (dir !== undefined) await checkFolder(dir);
    },
  },
  {
    settings: ['tls.cert', 'tls.key', 'tls.client_ca', 'tls.client_certificates'],
    async check(config) {
      const { tls } = tlsSettings(config);
      if (tls !== undefined) await readTlsFilesLater(tls);
    },
  },
  {
    settings: ['witness.policy'],
    async check({ 'witness.policy': path }) {
      if (path === undefined) return;
      try {
        await loadPolicy(path);
      } catch (error) {
        // The user who sets the path may lack access to the file, so details are only in the log of a failed start.
        if (!(error instanceof PolicyFileError)) throw error;
        throw new Error(error.place);
      }
    },
  },
];

/**
 * Returns whether the service may listen on the host. Host names are accepted here, because the resolver
 * checks them.
 */
function mayListenOn(host: string): boolean {
  const own = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  const isEverywhere = host === '0.0.0.0' || host === '::' || host.startsWith('127.');
  return isIP(host) === 0 || isEverywhere || own.some(({ address }) => address === host);
}
