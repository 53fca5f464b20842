import type { AssetUpdateInput } from '../../../contract/resources/asset.ts';
import { isolateText, words } from '../../ui/words.ts';
import type { Asset } from './question.ts';

/** State changes offered to users. The service rejects all others. A transition back to `staged` is not possible. */
const transitions = {
  staged: ['managed', 'retired'],
  managed: ['retired'],
  retired: ['managed'],
} as const satisfies Record<Asset['state'], readonly Asset['state'][]>;

export const statesAfter = (state: Asset['state']): readonly Asset['state'][] => transitions[state];

/** Returns whether the asset has the state or may change to it. */
export const mayBecome = (from: Asset['state'], to: Asset['state']): boolean =>
  from === to || statesAfter(from).includes(to);

const compared = [
  'name',
  'kind',
  'criticality',
  'state',
  'owner',
  'os',
  'vendor',
  'ip_addresses',
  'mac_addresses',
  'hostnames',
  'tags',
  'notes',
] as const satisfies readonly (keyof AssetUpdateInput)[];

/** Describes the differences between two versions. Reports changed notes without their text. */
export function differencesOf(before: Asset, after: Asset): string[] {
  const written = (asset: Asset, name: (typeof compared)[number]): string => {
    const value = asset[name] ?? '';
    return typeof value === 'string' ? value : value.join(', ');
  };
  return compared
    .filter((name) => written(before, name) !== written(after, name))
    .map((name) => {
      if (name === 'notes') return 'notes changed';
      const now = written(after, name);
      return `${words(name)} ${now === '' ? 'removed' : `changed to ${isolateText(now)}`}`;
    });
}

/** Describes a change for a confirmation. */
export function describeChange(change: AssetUpdateInput): string {
  const { state, ...rest } = change;
  const names = Object.keys(rest);
  return [state, ...(names.length === 0 ? [] : [`${names.map(words).join(', ')} changed`])]
    .filter((part) => part !== undefined)
    .join(', ');
}
