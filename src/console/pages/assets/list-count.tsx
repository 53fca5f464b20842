import type { Listed } from '../../state/answers.ts';
import { counted } from '../../ui/format.ts';
import { Time } from '../../ui/time.tsx';

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
