import { place, setParams } from '../state/address.ts';

/**
 * Returns the properties of a table whose open row is the `id` of the URL.
 *
 * @param defaultSort - if given, the order is the `sort` of the URL, or this one
 */
export const inUrl = (defaultSort?: string) => ({
  keyOf: ({ id }: { readonly id: string }) => id,
  open: place.value.params.get('id') ?? undefined,
  onOpen: ({ id }: { readonly id: string }, options: { replace: boolean }) => setParams({ id }, options),
  ...(defaultSort !== undefined && {
    sort: place.value.params.get('sort') ?? defaultSort,
    onSort: (by: string) => setParams({ sort: by === defaultSort ? undefined : by }),
  }),
});
