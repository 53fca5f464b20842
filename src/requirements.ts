import { stat } from 'node:fs/promises';
import { isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import { checkFolder } from './check-folder.ts';
import { tlsSettings } from './config/part-settings.ts';
import type { Requirement } from './config/stored-settings.ts';
import { readTlsFilesLater } from './http/tls-files.ts';
import { VolumeTurns } from './volume-turns.ts';
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
    setting: 'backup.dir',
    async check({ 'backup.dir': dir }) {
      if (dir !== undefined) await checkFolder(dir);
    },
  },
  {
    setting: 'tls.cert',
    async check(config) {
      const { tls } = tlsSettings(config);
      if (tls === undefined) return;
      await volumes.run(() => readTlsFilesLater(tls));
    },
  },
  {
    setting: 'witness.policy',
    async check({ 'witness.policy': path }) {
      if (path === undefined) return;
      await answersFor(path);
      try {
        loadPolicy(path);
      } catch (error) {
        // Whoever names the file here need not be one who may read it: the log of a start that fails says more.
        if (!(error instanceof PolicyFileError)) throw error;
        throw new Error(error.place);
      }
    },
  },
];

const volumes = new VolumeTurns('the volume of a file that the setting names');

/** Resolves when the volume of this path answers: a file on one that hangs would stop this thread when it is read. */
async function answersFor(path: string): Promise<void> {
  await volumes.run(() => Promise.allSettled([stat(path)]));
}

/** Names are left to the resolver. */
function mayListenOn(host: string): boolean {
  const own = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  const isEverywhere = host === '0.0.0.0' || host === '::' || host.startsWith('127.');
  return isIP(host) === 0 || isEverywhere || own.some(({ address }) => address === host);
}
