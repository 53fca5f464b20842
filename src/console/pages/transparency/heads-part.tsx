import { AuditFault, type KeySet } from '../../../client/verifier.ts';
import { href, place } from '../../state/address.ts';
import { pinHistory } from '../../state/pin.ts';
import { Detail, Facts, Section, Split } from '../../ui/detail.tsx';
import { counted, number } from '../../ui/format.ts';
import { inUrl } from '../../ui/in-url.ts';
import { Empty } from '../../ui/states.tsx';
import { type Column, Counted, column, Table } from '../../ui/table.tsx';
import { Hash, Time } from '../../ui/values.tsx';
import { FaultText } from './check.tsx';
import { Moment } from './moment.tsx';
import { useNewestFirst } from './newest-first.ts';
import { NewItemsButton } from './news.tsx';
import { PinCheck } from './pin-check.tsx';
import { checkHeadRow, type HeadRow, headOf } from './row-checks.ts';
import { SignedBy, SignedTick } from './signed-by.tsx';

/** All signed tree heads, newest first. An idle log signs a new head every hour. */
export function HeadsPart({ keys }: { keys: KeySet | undefined }) {
  const list = useNewestFirst('listTreeHeads', {});
  const open = place.value.params.get('id') ?? undefined;
  const shown = list.rows.find(({ id }) => id === open);
  return (
    <Split detail={shown && <HeadDetail row={shown} keys={keys} />}>
      <div class="log-bar">
        <Counted list={list} one="signed head" />
        <NewItemsButton count={list.news} onShow={list.refetch} />
      </div>
      <Table
        label="Tree heads"
        list={list}
        columns={columnsWith(keys)}
        {...inUrl()}
        empty={<Empty title="No tree heads yet">The first log entry creates one.</Empty>}
      />
    </Split>
  );
}

function columnsWith(keys: KeySet | undefined): readonly Column<HeadRow>[] {
  return [
    column('check', '✓', { width: '20px' }, (row) => (
      <SignedTick signed={keys && checkHeadRow(row, keys)} says="Signature verified in this browser" />
    )),
    column('size', 'Size', { width: '84px', end: true }, ({ attributes }) => (
      <span class="mono">{number(attributes.tree_size)}</span>
    )),
    column('root', 'Root', { width: 'minmax(120px, 1fr)' }, ({ attributes }) => (
      <Hash value={attributes.root_hash} what="Root" />
    )),
    column('key', 'Key', { width: '140px', from: 760 }, ({ attributes }) => (
      <Hash value={attributes.signer_key_id} what="Key" />
    )),
    column('exact', 'Signed at', { width: '190px', from: 620 }, ({ attributes }) => (
      <Time at={attributes.timestamp_ns / 1e6} as="exact" />
    )),
    column('age', 'Age', { width: '76px', end: true }, ({ attributes }) => <Time at={attributes.timestamp_ns / 1e6} />),
  ];
}

function HeadDetail({ row, keys }: { row: HeadRow; keys: KeySet | undefined }) {
  const head = headOf(row);
  const signed = keys && checkHeadRow(row, keys);
  const pinned = pinHistory.value[0];
  if (head instanceof AuditFault)
    return (
      <Detail title="Tree head">
        <FaultText fault={head} />
      </Detail>
    );
  const [first, second] = [head.size, pinned?.size ?? head.size].sort((a, b) => a - b);
  return (
    <Detail
      title={`Tree head at ${counted(head.size, 'entry', 'entries')}`}
      actions={
        <>
          {first !== second && (
            <a class="button button-primary" href={href('transparency', { view: 'consistency', first, second })}>
              Compare with pin
            </a>
          )}
          <a class="button" href={href('transparency', { view: 'proof', index: head.size - 1 })}>
            Last entry
          </a>
        </>
      }
    >
      <Facts
        facts={[
          ['Size', number(head.size)],
          ['Root', <Hash key="r" value={head.root} what="Root" whole />],
          ['Signed at', <Moment key="t" ns={head.timestampNs} />],
          ['Signature', <Hash key="s" value={head.signature} what="Signature" whole />],
        ]}
      />
      <Section title="Verified in this browser">
        <ul class="checks">
          <PinCheck head={head} signed={signed} />
        </ul>
      </Section>
      <SignedBy signed={signed} keys={keys} />
    </Detail>
  );
}
