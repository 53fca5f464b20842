import { alikeForm } from '../../contract/confusable-names.ts';
import { keyHash } from '../../database/key-hash.ts';
import { ServiceError } from '../../errors.ts';
import type { Principal } from '../../store/store.ts';
import type { IdentityTables } from './tables.ts';

/** Returns the index key of a name's exact spelling, which is used for sign-in. */
const written = (name: string): string => keyHash(name);
/** Returns the index key of a name's skeleton, which blocks names that look alike. */
const looks = (name: string): string => keyHash(alikeForm(name), 'looks');

export function principalByName(tables: IdentityTables, name: string): Principal | undefined {
  const id = tables.principalNames.get(written(name));
  return id === undefined ? undefined : tables.principals.get(id);
}

/** Throws if a name is not free. */
export function requireFreeName({ principalNames, principals }: IdentityTables, name: string, own: string): void {
  const holder = principalNames.get(written(name)) ?? principalNames.get(looks(name));
  if (holder === undefined || holder === own) return;
  const other = principals.get(holder)?.name ?? name;
  const [message, reason] =
    other === name
      ? [`a principal named ${name} exists`, 'is taken']
      : [`${name} looks like ${other}, which exists`, 'looks like a name that is taken'];
  throw new ServiceError('CONFLICT', message, { field: 'name', reason });
}

/** Replaces the index keys of a principal's previous name, if any. Must be called in a transaction. */
export function indexName({ principalNames }: IdentityTables, { id, name }: Principal, before?: string): void {
  for (const key of before === undefined ? [] : [written(before), looks(before)])
    if (principalNames.get(key) === id) principalNames.removeSync(key);
  principalNames.putSync(written(name), id);
  // Names that are older than this index may look alike; the index then finds only one of them.
  principalNames.putSync(looks(name), id);
}

/** Version of the table of confusable characters. When it changes, the next start completes the index. */
const looksVersion = '2';
/** Key of the stored version. It is not a hash, so it cannot collide with a name. */
const versionKey = 'version of looks';

/**
 * Adds the skeletons of names to the index of a file that has none, or that has skeletons of another version. Must be
 * called in a transaction.
 */
export function completeNames({ principals, principalNames }: IdentityTables): void {
  if (principalNames.get(versionKey) === looksVersion) return;
  for (const { value } of principals.getRange())
    if (!principalNames.doesExist(looks(value.name))) principalNames.putSync(looks(value.name), value.id);
  principalNames.putSync(versionKey, looksVersion);
}
