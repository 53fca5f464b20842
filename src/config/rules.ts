import { relative, resolve, sep } from 'node:path';
import { dataFolderNames } from '../files/data-folder-files.ts';
import { limits } from '../limits.ts';
import { show } from './config-error.ts';
import { homePlaceholder } from './part-settings.ts';
import type { Config, SettingName } from './settings.ts';

const entriesOf = <T extends object>(object: T) => Object.entries(object) as [keyof T, T[keyof T]][];

/** A condition on several settings. `broken` returns the invalid setting and the problem. */
interface Rule {
  readonly broken: (config: Config) => { readonly setting: SettingName; readonly problem: string } | undefined;
}

/** Paths that the service writes to, or reads completely, and the name that each may have in the data folder. */
const ownPlaces = {
  'ledger.anchor_path': 'anchor.json',
  'policy.file': 'policy.json',
  'backup.dir': 'backups',
  'detection.rules_dir': 'rules',
} as const;

export const rules: readonly Rule[] = [
  {
    broken(config) {
      for (const [setting, own] of entriesOf(ownPlaces)) {
        const path = config[setting];
        const [name] = path === undefined ? [] : relative(resolve(config.data_dir), path).split(sep);
        if (name === undefined || name === own || !dataFolderNames.includes(name)) continue;
        const problem = `got ${show(path)}, expected another path: ${name} in the data folder is for other data`;
        return { setting, problem };
      }
      return undefined;
    },
  },
  {
    broken({ 'detection.placeholders': lists }) {
      if (!Object.hasOwn(lists, homePlaceholder)) return undefined;
      return {
        setting: 'detection.placeholders',
        problem: `contains a list ${homePlaceholder}; rename it, because this name refers to network.home`,
      };
    },
  },
  {
    broken({ 'timestamps.authorities': urls }) {
      const { maxTimestampAuthorities: most } = limits;
      const isDistinct = new Set(urls).size === urls.length;
      if (urls.length <= most && isDistinct) return undefined;
      const problem = `got ${urls.length} URLs, expected at most ${most} different URLs`;
      return { setting: 'timestamps.authorities', problem };
    },
  },
  {
    broken({ 'triage.endpoint': endpoint, 'triage.model': model }) {
      if (endpoint === undefined || model !== undefined) return undefined;
      return {
        setting: 'triage.model',
        problem: 'not set; triage.endpoint requires the name of a model',
      };
    },
  },
  {
    broken({ 'tls.cert': cert, 'tls.key': key }) {
      if ((cert === undefined) === (key === undefined)) return undefined;
      return {
        setting: cert === undefined ? 'tls.cert' : 'tls.key',
        problem: 'not set; tls.cert and tls.key are required together',
      };
    },
  },
  {
    broken({ 'tls.cert': cert, 'tls.client_ca': clientCa }) {
      if (clientCa === undefined || cert !== undefined) return undefined;
      return {
        setting: 'tls.client_ca',
        problem: 'set without tls.cert; client certificates require TLS',
      };
    },
  },
  {
    broken({ 'tls.client_ca': clientCa, 'tls.client_certificates': wanted }) {
      if (wanted === 'optional' || clientCa !== undefined) return undefined;
      return {
        setting: 'tls.client_certificates',
        problem: 'got "required", but tls.client_ca is not set, so no certificate would be valid; set tls.client_ca',
      };
    },
  },
];
