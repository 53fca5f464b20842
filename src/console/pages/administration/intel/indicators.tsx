import { useState } from 'preact/hooks';
import type { indicatorKinds } from '../../../../contract/vocabulary.ts';
import { useList } from '../../../state/answers.ts';
import { Button, Choice } from '../../../ui/button.tsx';
import { number } from '../../../ui/format.ts';
import { Failure, Loading } from '../../../ui/states.tsx';
import { Time, Value } from '../../../ui/values.tsx';

type Kind = (typeof indicatorKinds)[number];

/** The indicators of a list, with a search field and a filter by kind. */
export function Indicators({ id }: { id: string }) {
  const [kind, setKind] = useState<Kind | 'all'>('all');
  const [text, setText] = useState('');
  const list = useList(
    'listIndicators',
    {
      params: { intel_id: id },
      query: {
        sort: 'value',
        ...(kind !== 'all' && { kind }),
        ...(text.trim() !== '' && { q: text.trim() }),
      },
    },
    { still: true },
  );
  return (
    <div class="stack">
      <div class="row">
        <input
          type="search"
          class="input"
          aria-label="Search indicators"
          placeholder="Search indicators"
          value={text}
          onChange={(event) => setText(event.currentTarget.value)}
        />
        <Choice
          label="Kind"
          options={[
            { value: 'all' as const, title: 'All' },
            { value: 'address' as const, title: 'Addresses' },
            { value: 'domain' as const, title: 'Domains' },
          ]}
          value={kind}
          onChange={setKind}
        />
        <span class="quiet" role="status">
          {list.total === undefined ? '…' : number(list.total)}
        </span>
      </div>
      {list.error !== null && list.rows.length === 0 ? (
        <Failure error={list.error} onRetry={list.refetch} />
      ) : list.isLoading ? (
        <Loading rows={5} />
      ) : list.rows.length === 0 ? (
        <p class="quiet">No indicators.</p>
      ) : (
        <div class="intel-indicators" tabIndex={0} role="group" aria-label="Indicators">
          <ul>
            {list.rows.map(({ id: key, attributes }) => (
              <li key={key}>
                <Value value={attributes.value} pivot={attributes.kind === 'domain' ? 'domain' : 'address'} />
                {attributes.page && <span class="quiet">URL</span>}
                {attributes.label !== undefined && <bdi class="quiet">{attributes.label}</bdi>}
                {attributes.confidence !== undefined && <span class="quiet">confidence {attributes.confidence}</span>}
                {attributes.valid_from !== undefined && (
                  <span class="quiet">
                    from <Time at={attributes.valid_from} />
                  </span>
                )}
                {attributes.valid_until !== undefined && (
                  <span class="quiet">
                    until <Time at={attributes.valid_until} />
                  </span>
                )}
              </li>
            ))}
          </ul>
          {list.hasMore && (
            <Button kind="plain" busy={list.result.isFetchingNextPage} onClick={list.more}>
              Show more
            </Button>
          )}
        </div>
      )}
    </div>
  );
}
