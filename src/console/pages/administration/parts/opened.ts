import type { CallId } from '../../../../client/client.ts';
import { formats } from '../../../../contract/formats.ts';
import { place } from '../../../state/address.ts';
import { useAnswer } from '../../../state/answers.ts';

/** The call that fetches a single item: the operation and its path parameter. */
export interface OneOf {
  readonly operation: CallId;
  readonly parameter: string;
}

export interface Opened<Row> {
  readonly id: string | undefined;
  readonly row: Row | undefined;
  /** Whether the list is loading or the item is being fetched. */
  readonly isLoading: boolean;
  readonly error: Error | null;
  readonly refetch: () => void;
}

/** Returns the item in the URL: from the list, or fetched separately if it is not in the list. */
export function useOpened<Row>(
  { rows, isLoading }: { rows: readonly Row[]; isLoading: boolean },
  one: OneOf | undefined,
): Opened<Row> {
  const id = place.value.params.get('id') ?? undefined;
  const listed = rows.find((row) => idOf(row) === id);
  const { operation, parameter } = one ?? { operation: 'whoAmI' as const, parameter: 'id' };
  const answer = useAnswer(operation, { params: { [parameter]: id ?? '' } } as never, {
    enabled: one !== undefined && isId(id) && listed === undefined && !isLoading,
    keepPrevious: false,
    still: true,
  });
  const asked = (answer.data as { data: Row } | undefined)?.data;
  return {
    id,
    row: id === undefined ? undefined : (listed ?? (one === undefined ? undefined : asked)),
    isLoading: isLoading || (one !== undefined && answer.isFetching),
    error: answer.error,
    refetch: () => void answer.refetch(),
  };
}

/** Returns whether the text can be the ID of a stored item. Links from alerts may have a detector's name instead. */
const isId = (id: string | undefined): boolean => id !== undefined && formats.uuid.test(id);

export const idOf = (row: unknown): string => (row as { readonly id: string }).id;
