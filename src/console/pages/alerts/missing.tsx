import type { ServiceError } from '../../../errors.ts';
import { setParams } from '../../state/address.ts';
import { Detail } from '../../ui/split.tsx';
import { Empty, Failure, Loading } from '../../ui/states.tsx';

/** Shown instead of an alert that is loading, missing or unavailable. */
export function MissingAlert({ id, error, onRetry }: { id: string; error: ServiceError | null; onRetry: () => void }) {
  const isUnknown = error?.code === 'NOT_FOUND' || error?.code === 'INVALID_REQUEST';
  return (
    <Detail title={isUnknown ? 'Alert not found' : 'Alert'} onClose={() => setParams({ id: undefined })}>
      {error === null ? (
        <Loading rows={8} />
      ) : isUnknown ? (
        <Empty title="There is no alert with this ID.">
          <p>
            The link may be incomplete or belong to another server: <bdi class="mono">{id}</bdi>
          </p>
        </Empty>
      ) : (
        <Failure error={error} onRetry={onRetry} />
      )}
    </Detail>
  );
}
