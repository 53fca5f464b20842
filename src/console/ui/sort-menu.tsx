import { setParams } from '../state/address.ts';
import { Menu } from './menu.tsx';

/** In which order a list is: for orders that no column heading offers, and where there is no room for headings. */
export function SortMenu({
  sorts,
  sort,
  usual,
}: {
  sorts: readonly { readonly by: string; readonly title: string }[];
  /** The order that is shown. */
  sort: string;
  /** The one that the address need not name. */
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
