import { alikeForm } from '../../contract/alike-names.ts';
import { ServiceError } from '../../errors.ts';
import type { Principal } from '../store.ts';
import { keyHash } from './key-hash.ts';
import type { Tables } from './tables.ts';

/**
 * Each name has two index keys: its exact spelling, for sign-in, and its look, which blocks similar names.
 */
const written = (name: string): string => keyHash(name);
const looks = (name: string): string => keyHash(alikeForm(name), 'looks');

export function principalByName(tables: Tables, name: string): Principal | undefined {
  const id = tables.principalNames.get(written(name));
  return id === undefined ? undefined : tables.principals.get(id);
}

/**
 * @param own - id of the principal that will have the name
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

/** Replaces the index keys of a principal's previous name, if any. Runs within a transaction. */
export function indexName({ principalNames }: Tables, { id, name }: Principal, before?: string): void {
  for (const key of before === undefined ? [] : [written(before), looks(before)])
    if (principalNames.get(key) === id) principalNames.removeSync(key);
  principalNames.putSync(written(name), id);
  // Names from before this index may look alike: the index then finds one of them.
  principalNames.putSync(looks(name), id);
}

/** Version of the table of look-alikes: when it changes, the index is rebuilt at the next start. */
const looksVersion = '2';
/** Not a hash, so it cannot collide with a name. */
const versionKey = 'version of looks';

/**
 * Adds the looks of names to a file that has none, or those of another version. Runs within a transaction.
 */
export function completeNames({ principals, principalNames }: Tables): void {
  if (principalNames.get(versionKey) === looksVersion) return;
  for (const { value } of principals.getRange())
    if (!principalNames.doesExist(looks(value.name))) principalNames.putSync(looks(value.name), value.id);
  principalNames.putSync(versionKey, looksVersion);
}
