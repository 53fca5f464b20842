import type { ComponentChildren } from 'preact';
import type { ServiceError } from '../../errors.ts';
import { Detail } from './split.tsx';
import { Empty, Failure, Loading } from './states.tsx';
import { title } from './words.ts';

/** Detail of an item that is loading, does not exist or is unavailable; `children` explain why it may not exist. */
export function AbsentItem({
  of,
  error,
  onRetry,
  children,
}: {
  /** Name of the item, such as `alert`. */
  of: string;
  /** Null while the item is loading. */
  error: ServiceError | null;
  onRetry: () => void;
  children: ComponentChildren;
}) {
  const isUnknown = error?.code === 'NOT_FOUND' || error?.code === 'INVALID_REQUEST';
  return (
    <Detail title={isUnknown ? `${title(of)} not found` : title(of)}>
      {error === null ? (
        <Loading rows={8} />
      ) : isUnknown ? (
        <Empty title={`There is no ${of} with this ID`}>{children}</Empty>
      ) : (
        <Failure error={error} onRetry={onRetry} />
      )}
    </Detail>
  );
}
