import type { ComponentChildren } from 'preact';
import { AuditFault, type KeySet } from '../../../client/verifier.ts';
import { entryKinds } from '../../../contract/vocabulary.ts';
import { ServiceError } from '../../../errors.ts';
import { go, href, place, setParams } from '../../state/address.ts';
import { useAnswer } from '../../state/answers.ts';
import { addFilter, removeFilter, shownChips } from '../../state/filters.ts';
import { useKeys } from '../../state/keys.ts';
import { signedIn } from '../../state/session.ts';
import { Detail, Section, Split } from '../../ui/detail.tsx';
import { number } from '../../ui/format.ts';
import { inUrl } from '../../ui/in-url.ts';
import { Menu } from '../../ui/menu.tsx';
import { Empty } from '../../ui/states.tsx';
import { type Column, Counted, column, Table } from '../../ui/table.tsx';
import { Hash, Time } from '../../ui/values.tsx';
import { FaultText } from './check.tsx';
import { EntryBytes } from './entry-bytes.tsx';
import { EntryFacts } from './entry-facts.tsx';
import { entryOf } from './entry-fields.ts';
import { useNewestFirst } from './newest-first.ts';
import { NewItemsButton } from './news.tsx';
import { bytesOf, checkEntryRow, type EntryRow } from './row-checks.ts';
import { SignedBy, SignedTick } from './signed-by.tsx';

/** Kinds of entries that are public, because key rotations must be verifiable by all readers. */
const publicKinds = entryKinds.filter((kind) => kind.startsWith('key.'));

/** Log entries, newest first. Each row is verified when it is drawn. */
export function EntriesPart({ keys }: { keys: KeySet | undefined }) {
  const chips = shownChips('listEntries').filter(({ name }) => name === 'kind');
  const kinds = chips.flatMap(({ values }) => values);
  const allowed = useAnswer('listEntries', { query: { per_page: 1 } });
  const isRestricted = allowed.error instanceof ServiceError && isRefusal(allowed.error);
  const shownKinds = isRestricted && kinds.length === 0 ? publicKinds : kinds;
  const list = useNewestFirst('listEntries', shownKinds.length > 0 ? { kind: shownKinds } : {}, {
    enabled: !allowed.isPending,
  });
  const open = place.value.params.get('id') ?? undefined;
  const shown = list.rows.find(({ id }) => id === open);
  return (
    <Split detail={shown && <EntryDetail row={shown} keys={keys} />}>
      <div class="log-bar">
        <Counted
          list={list}
          {...(shownKinds.length > 0
            ? { one: 'entry of these kinds', many: 'entries of these kinds' }
            : { one: 'entry', many: 'entries' })}
        />
        {kinds.map((kind) => (
          <span key={kind} class="chip">
            <bdi>{kind}</bdi>
            <button type="button" aria-label={`Remove filter: ${kind}`} onClick={() => removeKind(kind, kinds)}>
              ✕
            </button>
          </span>
        ))}
        <Menu
          class="button button-plain"
          label="Add kind to the filter"
          items={() =>
            entryKinds
              .filter((kind) => !kinds.includes(kind))
              .map((kind) => ({ title: kind, run: () => addFilter('kind', kind) }))
          }
        >
          Add kind ▾
        </Menu>
        <NewItemsButton count={list.news} onShow={list.refetch} />
      </div>
      {isRestricted && <PublicEntriesNote />}
      <Table
        label="Log entries"
        list={list}
        columns={columnsWith(keys)}
        {...inUrl()}
        empty={
          kinds.length > 0 ? (
            <Empty title="No entries of these kinds">Searched all entries for {kinds.join(', ')}.</Empty>
          ) : isRestricted ? (
            <Empty title="No log key has been rotated, revoked or retired yet" />
          ) : (
            <Empty title="The log is empty">
              Critical events are logged: alerts of severity high and above, sign-ins, and changes to access policy,
              rules and keys.
            </Empty>
          )
        }
      />
    </Split>
  );
}

const isRefusal = ({ code }: ServiceError): boolean => code === 'UNAUTHENTICATED' || code === 'FORBIDDEN';

function removeKind(kind: string, kinds: readonly string[]): void {
  removeFilter({ name: 'kind', operator: 'is' });
  const left = kinds.filter((one) => one !== kind);
  if (left.length > 0) setParams({ kind: left });
}

function PublicEntriesNote() {
  return (
    <p class="log-note quiet">
      {signedIn.value
        ? 'Your role cannot read log entries'
        : 'Log entries name hosts and users, so reading them requires a role'}
      . Shown here are the public entries about the log’s keys. Tree heads, proofs and hashes of all entries are public
      too.{' '}
      {!signedIn.value && (
        <a href={href('sign-in', { to: location.pathname + location.search })}>Sign in to see all entries</a>
      )}
    </p>
  );
}

function columnsWith(keys: KeySet | undefined): readonly Column<EntryRow>[] {
  const shownEntry = (cell: (entry: ReturnType<typeof entryOf>) => ComponentChildren) => (row: EntryRow) =>
    cell(entryOf(row.attributes.entry));
  return [
    column('check', '✓', { width: '20px' }, (row) => (
      <SignedTick signed={keys && checkEntryRow(row, keys)} says="Hash and signature verified in this browser" />
    )),
    column('index', 'Index', { width: '72px', end: true }, ({ attributes }) => (
      <span class="mono">{number(attributes.leaf_index)}</span>
    )),
    column(
      'kind',
      'Kind',
      { width: 'minmax(120px, 180px)' },
      shownEntry(({ kind }) => <bdi class="mono">{kind}</bdi>),
    ),
    column(
      'what',
      'Summary',
      { width: 'minmax(120px, 1fr)', from: 520 },
      shownEntry(({ title, subject }) => (
        <bdi title={title}>{title ?? (subject && `${subject.type} ${subject.id}`) ?? ''}</bdi>
      )),
    ),
    column('hash', 'Leaf hash', { width: '140px', from: 900 }, ({ attributes }) => (
      <Hash value={attributes.leaf_hash} what="Leaf hash" />
    )),
    column(
      'occurred',
      'Occurred',
      { width: '84px', end: true },
      shownEntry(({ occurredAt }) => occurredAt && <Time at={occurredAt} />),
    ),
  ];
}

function EntryDetail({ row, keys }: { row: EntryRow; keys: KeySet | undefined }) {
  const { leaf_index: index, leaf_hash: hash } = row.attributes;
  const proof = href('transparency', { view: 'proof', index });
  useKeys('Entry', { p: { title: 'View the entry’s proof', run: () => go(proof) } });
  const bytes = bytesOf(row);
  const signed = keys && checkEntryRow(row, keys);
  return (
    <Detail
      title={`Entry ${number(index)}`}
      actions={
        <a class="button button-primary" href={proof}>
          View proof <kbd>p</kbd>
        </a>
      }
    >
      {bytes instanceof AuditFault ? (
        <FaultText fault={bytes} />
      ) : (
        <>
          <EntryFacts bytes={bytes} />
          <Section title="Bytes">
            <EntryBytes bytes={bytes} />
            <p>
              Leaf hash <Hash value={hash} what="Leaf hash" whole />
            </p>
          </Section>
        </>
      )}
      <SignedBy signed={signed} keys={keys} />
    </Detail>
  );
}
