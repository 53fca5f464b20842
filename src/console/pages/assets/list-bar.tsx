import type { ComponentChildren } from 'preact';
import { SortMenu } from '../../ui/menu.tsx';
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
