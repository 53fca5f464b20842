import { useQuery } from '@tanstack/preact-query';
import { fingerprint, type KeySet, type LogKey } from '../../../client/verifier.ts';
import { href } from '../../state/address.ts';
import { Facts } from '../../ui/detail.tsx';
import { counted, number } from '../../ui/format.ts';
import { Hash, Time } from '../../ui/values.tsx';
import { pageOf } from './newest-first.ts';
import { placeOfKey } from './rotations.ts';

/** Describes the tree sizes or entries that a key signs. */
export function rangeOf({ purpose, state, fromSize, toSize }: LogKey): string | undefined {
  if (state === 'pending') return 'not yet active';
  const from = number(fromSize ?? 0);
  if (purpose === 'event-signing')
    return toSize === undefined ? `entries from ${from}` : `entries ${from} to ${number(toSize - 1)}`;
  if (purpose === 'transparency-sth' || purpose === 'checkpoint')
    return toSize === undefined ? `heads from size ${from}` : `heads of sizes ${from} to ${number(toSize)}`;
  return undefined;
}

/** Describes the key's position among the keys of its purpose. */
export function rotationOf(keys: KeySet, key: LogKey): string {
  const { number: at, of, before, after } = placeOfKey(keys, key);
  if (of === 1) return 'first key, never rotated';
  const from = before === undefined ? 'active from the start' : `active from ${number(key.fromSize ?? 0)}`;
  return `number ${at} of ${of}, ${from}${after === undefined ? '' : `, replaced at ${number(after.fromSize ?? 0)}`}`;
}

/** Link to the entry that announced a key. A tree head signed by the previous key covers this entry. */
function AnnouncedBy({ kid }: { kid: string }) {
  const { data } = useQuery({
    queryKey: ['listEntries', 'rotations'],
    queryFn: ({ signal }) => pageOf('listEntries', { kind: 'key.rotated' }, 1000, 'last', signal),
    staleTime: 60_000,
  });
  if (data === undefined) return <span class="quiet">…</span>;
  const entry = data.rows.find(({ attributes }) => Object(attributes.entry.data).new_kid === kid);
  if (entry === undefined)
    return <span class="quiet">not among the newest {counted(data.rows.length, 'rotation')}</span>;
  const index = entry.attributes.leaf_index;
  return <a href={href('transparency', { view: 'proof', index })}>entry {number(index)}</a>;
}

export function KeyFacts({ of: key, keys }: { of: LogKey; keys?: KeySet }) {
  return (
    <Facts
      facts={[
        ['Fingerprint', <Hash key="f" value={fingerprint(key)} what="Fingerprint" whole />],
        [
          'Key ID',
          <span key="k" class="mono">
            {key.kid}
          </span>,
        ],
        ['Purpose', key.purpose],
        ['State', key.state],
        ['Signs', rangeOf(key)],
        ['Rotation', keys && rotationOf(keys, key)],
        ['Announced by', keys && placeOfKey(keys, key).before && <AnnouncedBy key="n" kid={key.kid} />],
        ['Valid from', key.notBefore && <Time key="b" at={key.notBefore} as="exact" />],
        ['Valid until', key.notAfter && <Time key="a" at={key.notAfter} as="exact" />],
        ['Revoked', key.revokedAt && <Time key="r" at={key.revokedAt} as="exact" />],
        ['Origin', key.origin && <bdi key="o">{key.origin}</bdi>],
      ]}
    />
  );
}
