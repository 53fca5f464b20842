import { alikeForm } from '../../contract/alike-names.ts';
import { ServiceError } from '../../errors.ts';
import type { Principal } from '../store.ts';
import { keyHash } from './key-hash.ts';
import type { Tables } from './tables.ts';

/** Each name leads to its principal twice: as it is written, which signs in, and as it looks, which keeps others off. */
const written = (name: string): string => keyHash(name);
const looks = (name: string): string => keyHash(alikeForm(name), 'looks');

export function principalByName(tables: Tables, name: string): Principal | undefined {
  const id = tables.principalNames.get(written(name));
  return id === undefined ? undefined : tables.principals.get(id);
}

/**
 * @param own - id of the principal that is to have the name
 * @throws CONFLICT for a name that another principal has, or that looks like one
 */
export function requireFreeName({ principalNames, principals }: Tables, name: string, own: string): void {
  const holder = principalNames.get(written(name)) ?? principalNames.get(looks(name));
  if (holder === undefined || holder === own) return;
  const other = principals.get(holder)?.name ?? name;
  const [message, reason] =
    other === name
      ? [`a principal named ${name} exists`, 'is taken']
      : [`${name} looks like ${other}, which exists`, 'looks like one that is taken'];
  throw new ServiceError('CONFLICT', message, { field: 'name', reason });
}

/** Moves what leads to a principal from its name before, where it had one. Within a transaction. */
export function indexName({ principalNames }: Tables, { id, name }: Principal, before?: string): void {
  for (const key of before === undefined ? [] : [written(before), looks(before)])
    if (principalNames.get(key) === id) principalNames.removeSync(key);
  principalNames.putSync(written(name), id);
  // Of two that looked alike before there was this index, one is found by it.
  principalNames.putSync(looks(name), id);
}

/** What names look like is told by a table that grows: with each one the index is made anew, at the next start. */
const looksVersion = '2';
/** No name's hash, and so nobody's. */
const versionKey = 'version of looks';

/** The looks of names in a file that has none yet, or others. Within a transaction. */
export function completeNames({ principals, principalNames }: Tables): void {
  if (principalNames.get(versionKey) === looksVersion) return;
  for (const { value } of principals.getRange())
    if (!principalNames.doesExist(looks(value.name))) principalNames.putSync(looks(value.name), value.id);
  principalNames.putSync(versionKey, looksVersion);
}
