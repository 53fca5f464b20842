import type { ServiceError } from '../../../errors.ts';
import { setParams } from '../../state/address.ts';
import { Detail } from '../../ui/split.tsx';
import { Empty, Failure, Loading } from '../../ui/states.tsx';

/** In place of an alert that is on its way, or not to be had. */
export function MissingAlert({
  id,
  error,
  onRetry,
}: {
  id: string;
  error: ServiceError | null;
  onRetry: () => void;
}) {
  const isUnknown = error?.code === 'NOT_FOUND' || error?.code === 'INVALID_REQUEST';
  return (
    <Detail title={isUnknown ? 'No such alert' : 'An alert'} onClose={() => setParams({ id: undefined })}>
      {error === null ? (
        <Loading rows={8} />
      ) : isUnknown ? (
        <Empty title="The address names an alert that is not here.">
          <p>
            It may have been cut off on its way, or it is of another service: <bdi class="mono">{id}</bdi>
          </p>
        </Empty>
      ) : (
        <Failure error={error} onRetry={onRetry} />
      )}
    </Detail>
  );
}
