import { may } from '../../state/session.ts';
import { Button } from '../../ui/button.tsx';
import { counted, number } from '../../ui/format.ts';
import { ListLine } from '../../ui/list-line.tsx';
import { Menu } from '../../ui/menu.tsx';
import type { Rows } from '../../ui/table.tsx';
import { maxFresh } from './feed.ts';
import { mayChange } from './may-change.ts';
import type { AlertRow } from './question.ts';
import type { Triaging } from './triage.tsx';

/** The line above the list: the count and new alerts or, while rows are selected, the bulk actions. */
export function QueueLine({
  list,
  fresh,
  missed,
  done,
  marked,
  everything,
  triage,
  onEverything,
  onNone,
  onRefresh,
}: {
  list: Rows<AlertRow>;
  fresh: number;
  missed: boolean;
  done: number;
  marked: number;
  everything: boolean;
  triage: Triaging;
  onEverything: () => void;
  onNone: () => void;
  onRefresh: () => void;
}) {
  const { total } = list;
  const changes = mayChange(marked);
  const silences = may('createSilence');
  if (marked > 0)
    return (
      <div class="list-line list-line-marked" role="toolbar" aria-label="Bulk actions">
        <strong role="status">{number(everything ? (total ?? 0) : marked)} selected</strong>
        {triage.progress !== undefined ? (
          <span class="quiet" role="status">
            {number(triage.progress)} processed…
          </span>
        ) : (
          <>
            {changes && (
              <>
                <Button hint="a" onClick={triage.many.assign}>
                  Assign to me
                </Button>
                <Button hint="i" onClick={triage.many.begin}>
                  Start work
                </Button>
                <Button hint="r" onClick={triage.many.resolve}>
                  Resolve
                </Button>
                <Menu
                  class="button"
                  label="More actions"
                  items={() => [
                    { title: 'Verdict (v)', run: triage.many.verdict },
                    { title: 'Note (n)', run: triage.many.note },
                    ...(silences ? [{ title: 'Silence (s)', run: triage.many.silence }] : []),
                    { title: 'Unassign', run: triage.many.unassign },
                    { title: 'Reopen', run: triage.many.reopen },
                    { title: 'Archive', run: triage.many.archive },
                  ]}
                >
                  More ▾
                </Menu>
              </>
            )}
            {silences && !changes && (
              <Button hint="s" onClick={triage.many.silence}>
                Silence
              </Button>
            )}
            {!everything && total !== undefined && total > marked && marked === list.rows.length && (
              <Button kind="plain" onClick={onEverything}>
                Select all {number(total)} matching
              </Button>
            )}
            <Button kind="plain" hint="esc" onClick={onNone}>
              Clear selection
            </Button>
          </>
        )}
      </div>
    );
  return (
    <ListLine
      list={list}
      of="alert"
      refresh={[
        fresh > 0 && `${number(fresh)}${fresh === maxFresh ? ' or more' : ''} new`,
        done > 0 && counted(done, 'no longer matches', 'no longer match'),
        missed && 'updates missed',
      ]
        .filter(Boolean)
        .join(', ')}
      onRefresh={onRefresh}
    />
  );
}
