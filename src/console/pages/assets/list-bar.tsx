import type { ComponentChildren } from 'preact';
import type { Listed } from '../../state/answers.ts';
import { counted } from '../../ui/format.ts';
import { SortMenu } from '../../ui/menu.tsx';
import { Time } from '../../ui/time.tsx';
import { defaultSort } from './question.ts';
import { SeenPicker, Views } from './views.tsx';
import './list-bar.css';

/** Selects the list, the time range and the sort order; `children` are further buttons. */
export function ListBar({
  sorts,
  sort,
  children,
}: {
  sorts: readonly { readonly by: string; readonly title: string }[];
  sort: string;
  children?: ComponentChildren;
}) {
  return (
    <div class="asset-bar">
      <Views />
      <div class="asset-tools">
        <SeenPicker />
        <SortMenu sorts={sorts} sort={sort} usual={defaultSort} />
        {children}
      </div>
    </div>
  );
}

/** The number of matches and the time of the count. */
export function ListCount({ list, of }: { list: Listed<unknown>; of: 'asset' | 'service' }) {
  const { total, result } = list;
  return (
    <>
      <span class="quiet" role="status">
        {total === undefined ? '…' : counted(total, of)}
      </span>
      {result.dataUpdatedAt > 0 && (
        <span class="quiet">
          as of <Time at={result.dataUpdatedAt} />
        </span>
      )}
    </>
  );
}
