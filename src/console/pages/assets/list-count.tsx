import type { Listed } from '../../state/answers.ts';
import { number } from '../../ui/format.ts';
import { Time } from '../../ui/time.tsx';

/** The number of matches and the time of the count. */
export function ListCount({ list, of }: { list: Listed<unknown>; of: 'asset' | 'service' }) {
  const { total, result } = list;
  return (
    <>
      <span class="quiet" role="status">
        {total === undefined ? '…' : `${number(total)} ${of}${total === 1 ? '' : 's'}`}
      </span>
      {result.dataUpdatedAt > 0 && (
        <span class="quiet">
          as of <Time at={result.dataUpdatedAt} />
        </span>
      )}
    </>
  );
}
