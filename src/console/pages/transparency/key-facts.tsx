import { useQuery } from '@tanstack/preact-query';
import { fingerprint, type KeySet, type LogKey } from '../../../client/verifier.ts';
import { href } from '../../state/address.ts';
import { number } from '../../ui/format.ts';
import { Hash } from '../../ui/hash.tsx';
import { Facts } from '../../ui/split.tsx';
import { Time } from '../../ui/time.tsx';
import { pageOf } from './newest-first.ts';
import { placeOfKey } from './rotations.ts';

/** Which sizes, or which entries, a key signs. */
export function rangeOf({ purpose, state, fromSize, toSize }: LogKey): string | undefined {
  if (state === 'pending') return 'nothing yet';
  const from = number(fromSize ?? 0);
  if (purpose === 'event-signing')
    return toSize === undefined ? `entries from ${from} on` : `entries ${from} to below ${number(toSize)}`;
  if (purpose === 'transparency-sth' || purpose === 'checkpoint')
    return toSize === undefined
      ? `heads from size ${from} on`
      : `heads of sizes ${from} to ${number(toSize)}`;
  return undefined;
}

/** Which of the keys of its purpose it is. */
export function rotationOf(keys: KeySet, key: LogKey): string {
  const { number: at, of, before, after } = placeOfKey(keys, key);
  if (of === 1) return 'the first and only one: none was rotated yet';
  const from = before === undefined ? 'the first' : `took over at ${number(key.fromSize ?? 0)}`;
  return `number ${at} of ${of}, ${from}${after === undefined ? '' : `, replaced at ${number(after.fromSize ?? 0)}`}`;
}

/** The entry of the log by which a key took over: the one before it signed the head that covers that. */
function NamedBy({ kid }: { kid: string }) {
  const { data } = useQuery({
    queryKey: ['listEntries', 'rotations'],
    queryFn: ({ signal }) => pageOf('listEntries', { kind: 'key.rotated' }, 1000, 'last', signal),
    staleTime: 60_000,
  });
  if (data === undefined) return <span class="quiet">…</span>;
  const entry = data.rows.find(({ attributes }) => Object(attributes.entry.data).new_kid === kid);
  if (entry === undefined)
    return <span class="quiet">no entry of the newest {number(data.rows.length)} rotations</span>;
  const index = entry.attributes.leaf_index;
  return <a href={href('transparency', { view: 'proof', index })}>entry {number(index)}</a>;
}

export function KeyFacts({ of: key, keys }: { of: LogKey; keys?: KeySet }) {
  return (
    <Facts
      facts={[
        ['Fingerprint', <Hash key="f" value={fingerprint(key)} what="Fingerprint" whole />],
        [
          'Key',
          <span key="k" class="mono">
            {key.kid}
          </span>,
        ],
        ['Purpose', key.purpose],
        ['State', key.state],
        ['Signs', rangeOf(key)],
        ['Rotation', keys && rotationOf(keys, key)],
        ['Named by', keys && placeOfKey(keys, key).before && <NamedBy key="n" kid={key.kid} />],
        ['Since', key.notBefore && <Time key="b" at={key.notBefore} as="exact" />],
        ['Until', key.notAfter && <Time key="a" at={key.notAfter} as="exact" />],
        ['Revoked', key.revokedAt && <Time key="r" at={key.revokedAt} as="exact" />],
        ['Name', key.origin && <bdi key="o">{key.origin}</bdi>],
      ]}
    />
  );
}
