import { setParams } from '../state/address.ts';
import { Menu } from './menu.tsx';

/** Sort menu: for orders without a column heading, and for screens without room for headings. */
export function SortMenu({
  sorts,
  sort,
  usual,
}: {
  sorts: readonly { readonly by: string; readonly title: string }[];
  /** The current order. */
  sort: string;
  /** The default order, which is omitted from the URL. */
  usual: string;
}) {
  return (
    <Menu
      class="button"
      label={`Sort: ${sorts.find(({ by }) => by === sort)?.title ?? sort}`}
      items={() =>
        sorts.map(({ by, title }) => ({
          title,
          run: () => setParams({ sort: by === usual ? undefined : by }),
        }))
      }
    >
      Sort ▾
    </Menu>
  );
}
