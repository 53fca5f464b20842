import type { AssetUpdateInput } from '../../../contract/resources/asset.ts';
import { foreign, words } from '../../ui/words.ts';
import type { Asset } from './question.ts';

/** Where an asset may go; the service decides, this only offers. Nobody goes back to what the network began with. */
const transitions = {
  staged: ['managed', 'retired'],
  managed: ['retired'],
  retired: ['managed'],
} as const satisfies Record<Asset['state'], readonly Asset['state'][]>;

export const statesAfter = (state: Asset['state']): readonly Asset['state'][] => transitions[state];

/** True where the asset is so already, or may become so. */
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

/** What is other now than it was, in words; of notes only that they are. */
export function differencesOf(before: Asset, after: Asset): string[] {
  const written = (asset: Asset, name: (typeof compared)[number]): string => {
    const value = asset[name] ?? '';
    return typeof value === 'string' ? value : value.join(', ');
  };
  return compared
    .filter((name) => written(before, name) !== written(after, name))
    .map((name) => {
      if (name === 'notes') return 'the notes are others now';
      const now = written(after, name);
      return `${words(name)} now ${now === '' ? 'empty' : foreign(now)}`;
    });
}

/** How a change is told once it is made. */
export function told(change: AssetUpdateInput): string {
  const { state, ...rest } = change;
  const names = Object.keys(rest);
  return [state, ...(names.length === 0 ? [] : [`${names.map(words).join(', ')} changed`])]
    .filter((part) => part !== undefined)
    .join(', ');
}
