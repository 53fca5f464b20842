import { relative, resolve, sep } from 'node:path';
import { dataFolderNames } from '../data-folder-files.ts';
import { limits } from '../limits.ts';
import { show } from './config-error.ts';
import { homePlaceholder } from './part-settings.ts';
import type { Config, SettingName } from './settings.ts';

const entriesOf = <T extends object>(object: T) => Object.entries(object) as [keyof T, T[keyof T]][];

/** What must hold between settings. `broken` names the setting that is wrong, and what came and what is wanted. */
interface Rule {
  readonly broken: (
    config: Config,
  ) => { readonly setting: SettingName; readonly problem: string } | undefined;
}

/** Paths at which the service writes, or reads all that is there, and what each may be of the data folder's own. */
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
        const problem = `came ${show(path)}, wanted a place of its own: ${name} in the data folder is for other data`;
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
        problem: `came with a list ${homePlaceholder}, wanted another name: that is network.home`,
      };
    },
  },
  {
    broken({ 'timestamps.authorities': urls }) {
      const { maxTimestampAuthorities: most } = limits;
      const isDistinct = new Set(urls).size === urls.length;
      if (urls.length <= most && isDistinct) return undefined;
      const problem = `came with ${urls.length} URLs, wanted at most ${most}, each once`;
      return { setting: 'timestamps.authorities', problem };
    },
  },
  {
    broken({ 'triage.endpoint': endpoint, 'triage.model': model }) {
      if (endpoint === undefined || model !== undefined) return undefined;
      return {
        setting: 'triage.model',
        problem: 'came nothing, wanted a name: the endpoint has to be told which model',
      };
    },
  },
  {
    broken({ 'tls.cert': cert, 'tls.key': key }) {
      if ((cert === undefined) === (key === undefined)) return undefined;
      return {
        setting: cert === undefined ? 'tls.cert' : 'tls.key',
        problem: 'came nothing, wanted a path: tls.cert and tls.key belong together',
      };
    },
  },
  {
    broken({ 'tls.cert': cert, 'tls.client_ca': clientCa }) {
      if (clientCa === undefined || cert !== undefined) return undefined;
      return {
        setting: 'tls.client_ca',
        problem: 'came without tls.cert, wanted both: client certificates need TLS',
      };
    },
  },
  {
    broken({ 'tls.client_ca': clientCa, 'tls.client_certificates': wanted }) {
      if (wanted === 'optional' || clientCa !== undefined) return undefined;
      return {
        setting: 'tls.client_certificates',
        problem: 'came "required" without tls.client_ca, wanted both: no certificate would be valid',
      };
    },
  },
];
