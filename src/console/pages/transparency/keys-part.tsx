import { AuditFault, fetchAllKeys, fingerprint, type KeySet, type LogKey } from '../../../client/verifier.ts';
import { place, setParams } from '../../state/address.ts';
import { pinState } from '../../state/pin.ts';
import { Detail, Section, Split } from '../../ui/detail.tsx';
import { counted } from '../../ui/format.ts';
import { Empty, Loading } from '../../ui/states.tsx';
import { type Column, column, Table } from '../../ui/table.tsx';
import { Hash, Time } from '../../ui/values.tsx';
import { FaultText } from './check.tsx';
import { KeyFacts, rangeOf } from './key-facts.tsx';
import { log, useChecked } from './log.ts';

const purposes: Readonly<Record<string, string>> = {
  'transparency-sth': 'Signs tree heads. A new key is announced in a log entry that a tree head of the old key covers.',
  'event-signing': 'Signs each entry of the log.',
  checkpoint: 'Signs checkpoints for witnesses and monitors. Replaced only when revoked.',
  'access-token': 'Signs access tokens of users. Not used for the log.',
  witness: 'Cosigns checkpoints.',
};

/** All published keys, active keys first. */
export function KeysPart() {
  const { value, again } = useChecked<KeySet>(['keys'], () => fetchAllKeys(log));
  const open = place.value.params.get('id') ?? undefined;
  if (value === undefined) return <Loading />;
  if (value instanceof AuditFault)
    return (
      <div class="log-scrolls">
        <FaultText fault={value} />
        <button type="button" class="button" onClick={again}>
          Retry
        </button>
      </div>
    );
  const rows = [...value.values()].sort((a, b) => rank(a) - rank(b) || (b.fromSize ?? 0) - (a.fromSize ?? 0));
  const shown = open === undefined ? undefined : value.get(open);
  return (
    <Split
      detail={
        shown && (
          <Detail title={`Key: ${shown.purpose ?? 'no purpose'}`}>
            <p class="quiet">{purposes[shown.purpose ?? '']}</p>
            <Section title="Published key">
              <KeyFacts of={shown} keys={value} />
            </Section>
            <Section title="This browser">
              <p>{pinnedAs(shown)}</p>
            </Section>
          </Detail>
        )
      }
    >
      <div class="log-bar">
        <p class="counted quiet">
          {counted(rows.length, 'key')}. Fingerprints are the SHA-256 of the 32-byte public key.
        </p>
      </div>
      <Table
        label="Log keys"
        list={{ rows, total: rows.length }}
        columns={columns}
        keyOf={({ kid }) => kid}
        open={open}
        onOpen={({ kid }, options) => setParams({ id: kid }, options)}
        empty={<Empty title="No published keys" />}
      />
    </Split>
  );
}

const states = ['active', 'pending', 'retired', 'revoked'];
const rank = ({ state }: LogKey): number => (states.indexOf(state ?? '') + states.length + 1) % (states.length + 1);

function pinnedAs(key: LogKey): string {
  const state = pinState.value;
  const pin = 'pin' in state ? state.pin : undefined;
  const known = pin?.keys.get(key.kid);
  if (known === undefined) return 'This key is not pinned yet.';
  return known.x === key.x
    ? 'This key is pinned with the same value. A different key with this ID would be detected.'
    : 'A different key is pinned under this ID.';
}

const columns: readonly Column<LogKey>[] = [
  column('purpose', 'Purpose', { width: 'minmax(110px, 150px)' }, ({ purpose }) => <bdi>{purpose}</bdi>),
  column('state', 'State', { width: '72px' }, ({ state }) => <bdi>{state}</bdi>),
  column('fingerprint', 'Fingerprint', { width: 'minmax(120px, 1fr)' }, (key) => (
    <Hash value={fingerprint(key)} what="Fingerprint" length={16} />
  )),
  column('range', 'Signs', { width: '200px', from: 760 }, (key) => rangeOf(key) ?? ''),
  column(
    'since',
    'Valid from',
    { width: '84px', end: true, from: 560 },
    ({ notBefore }) => notBefore && <Time at={notBefore} />,
  ),
];
