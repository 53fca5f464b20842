import { AuditFault } from '../../../client/verifier.ts';
import { readEntry } from '../../../client/verify.ts';
import { href } from '../../state/address.ts';
import { me } from '../../state/session.ts';
import { Facts } from '../../ui/detail.tsx';
import { Time } from '../../ui/values.tsx';
import { FaultText } from './check.tsx';
import { entryOf } from './entry-fields.ts';

/** The main fields of an entry. */
export function EntryFacts({ bytes }: { bytes: Uint8Array }) {
  const read = readEntry(bytes);
  if (read instanceof AuditFault) return <FaultText fault={read} />;
  const { kind, title, actor, subject, occurredAt, id } = entryOf(read.entry);
  const page = subject === undefined ? undefined : pageOf(subject.type);
  return (
    <Facts
      facts={[
        [
          'Kind',
          <bdi key="k" class="mono">
            {kind}
          </bdi>,
        ],
        ['Summary', title && <bdi key="t">{title}</bdi>],
        [
          'Subject',
          subject && (
            <bdi key="s">
              {subject.type}{' '}
              {page !== undefined && me.value !== undefined ? (
                <a class="mono" href={href(page.page, { ...page.params, id: subject.id })}>
                  {subject.id}
                </a>
              ) : (
                <span class="mono">{subject.id}</span>
              )}
            </bdi>
          ),
        ],
        [
          'Actor',
          actor && (
            <bdi key="a" class="mono">
              {actor}
            </bdi>
          ),
        ],
        ['Occurred', occurredAt && <Time key="o" at={occurredAt} as="exact" />],
        [
          'Entry',
          <bdi key="i" class="mono">
            {id}
          </bdi>,
        ],
      ]}
    />
  );
}

/** Returns the page of an entry's subject; undefined if the console has no page for the type. */
function pageOf(type: string) {
  switch (type) {
    case 'alert':
      return { page: 'alerts', params: { range: 'all' } } as const;
    case 'principal':
      return { page: 'administration', params: { view: 'principals' } } as const;
    default:
      return undefined;
  }
}
