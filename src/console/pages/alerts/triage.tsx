import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { ServiceError } from '../../../errors.ts';
import { useKeys } from '../../state/keys.ts';
import { may, me } from '../../state/session.ts';
import { neighbour } from '../../ui/marking.ts';
import { say, sayFailure } from '../../ui/toasts.tsx';
import { changeAlert } from './change-alert.ts';
import { changeMany } from './change-many.ts';
import { type Change, refusal, takenBack } from './changes.ts';
import type { Triage } from './detail.tsx';
import { mayChange } from './may-change.ts';
import { NoteDialog } from './note-dialog.tsx';
import { type AlertRow, isOpen } from './question.ts';
import { ResolveDialog } from './resolve-dialog.tsx';
import { SilenceDialog } from './silence-dialog.tsx';
import { type Everything, nameOf, type Target, targetOf } from './target.ts';
import { VerdictDialog } from './verdict-dialog.tsx';

interface About {
  readonly rows: readonly AlertRow[];
  readonly marked: readonly AlertRow[];
  /** The alert that keys act on where none is selected. */
  readonly current: AlertRow | undefined;
  /** Where all that match are selected. */
  readonly everything?: Everything;
  /** Moves on to another alert. */
  readonly onMove: (id: string) => void;
  /** Those selected were dealt with. */
  readonly onDone: () => void;
  readonly onUnmark: () => void;
  readonly onProof: (id: string) => void;
  readonly onRefresh: () => void;
}

/** What can be done to those selected. */
interface Many extends Omit<Triage, 'takeBack'> {
  readonly unassign: () => void;
  readonly reopen: () => void;
}

export interface Triaging {
  readonly single: Triage;
  readonly many: Many;
  readonly dialog: ComponentChildren;
  /** Alerts that a change of many is through with; undefined while none is under way. */
  readonly progress: number | undefined;
}

interface Asked {
  readonly kind: 'resolve' | 'silence' | 'note' | 'verdict';
  /** Those that are loaded. */
  readonly rows: readonly AlertRow[];
  readonly target: Target;
}

/** Acts on alerts, by keys, buttons and dialogs: on those selected where there are any, else on the current one. */
export function useTriage(about: About): Triaging {
  const { rows, marked, current, everything, onMove, onDone } = about;
  const [asking, setAsking] = useState<Asked>();
  const [progress, setProgress] = useState<number>();

  const targets = (): readonly AlertRow[] =>
    marked.length > 0 ? marked : current === undefined ? [] : [current];

  /** Goes on to the next open alert where the one that was current is dealt with. */
  const advance = (only: AlertRow) => {
    const open = new Map(rows.map(({ id, attributes }) => [id, isOpen(attributes)]));
    const next = neighbour(
      only.id,
      rows.map(({ id }) => id),
      (id) => open.get(id) === true,
    );
    if (next !== undefined) onMove(next);
  };

  const act = async (target: Target, change: Change) => {
    if ('rows' in target && target.rows.length < 2) {
      const [only] = target.rows;
      if (only === undefined) return;
      if (change.status === 'resolved' || change.status === 'suppressed') advance(only);
      await changeAlert(only, change);
      return;
    }
    setProgress(0);
    const isDone = await changeMany(target, change, setProgress);
    setProgress(undefined);
    if (isDone) onDone();
  };

  const actOn = (of: readonly AlertRow[], change: Change) => void act(targetOf(of, everything), change);

  const ask = (kind: Asked['kind']) => (of: readonly AlertRow[]) => {
    // What is like alerts is told by those that are loaded.
    const target = kind === 'silence' ? { rows: of } : targetOf(of, everything);
    if (of.length > 0) setAsking({ kind, rows: of, target });
  };
  const assign = (of: readonly AlertRow[]) => {
    const name = me.value?.name ?? '';
    if (of.length === 1 && of[0]?.attributes.assignee === name) say('It is yours already.');
    else actOn(of, { assignee: name });
  };
  const takeBack = (of: readonly AlertRow[]) => {
    const [only] = of;
    if (of.length > 1) return actOn(of, { status: 'in_progress' });
    const change = only === undefined ? undefined : takenBack(only.attributes);
    if (change !== undefined && only !== undefined) actOn([only], change);
    else if (only !== undefined) say('There is nothing to take back.');
  };
  const actions = {
    assign,
    begin: (of: readonly AlertRow[]) => actOn(of, { status: 'in_progress' }),
    resolve: (of: readonly AlertRow[]) => {
      const [only] = of;
      const why = of.length === 1 && only ? refusal(only.attributes.status, 'resolved') : undefined;
      if (why === undefined) ask('resolve')(of);
      else sayFailure('Not resolved', new ServiceError('INVALID_TRANSITION', why));
    },
    silence: ask('silence'),
    note: ask('note'),
    verdict: ask('verdict'),
    takeBack,
    archive: (of: readonly AlertRow[]) => actOn(of, { status: 'archived' }),
    unassign: (of: readonly AlertRow[]) => actOn(of, { assignee: '' }),
    reopen: (of: readonly AlertRow[]) => actOn(of, { status: 'in_progress' }),
  };
  const on = (of: () => readonly AlertRow[]) =>
    Object.fromEntries(
      Object.entries(actions).map(([name, run]) => [name, () => run(of())]),
    ) as unknown as Record<keyof typeof actions, () => void>;
  const single = on(() => (current === undefined ? [] : [current]));
  const keyed = on(targets);

  useKeys('Triage', {
    ...(mayChange(targets().length) && {
      a: { title: 'Assign to me', run: keyed.assign },
      i: { title: 'In progress', run: keyed.begin },
      r: { title: 'Resolve', run: keyed.resolve },
      n: { title: 'Note', run: keyed.note },
      v: { title: 'Verdict', run: keyed.verdict },
      u: { title: 'Take back: reopen, or give back', run: keyed.takeBack },
    }),
    ...(may('createSilence') && { s: { title: 'Silence what is like it', run: keyed.silence } }),
    p: {
      title: 'Proof',
      run: () => {
        if (current !== undefined) about.onProof(current.id);
      },
    },
    '.': { title: 'Show what is new', run: about.onRefresh },
    ...(marked.length > 0 && { escape: { title: 'Select none', run: about.onUnmark } }),
  });

  const close = () => setAsking(undefined);
  const settle = (change: Change) => {
    close();
    if (asking !== undefined) void act(asking.target, change);
  };
  const shared = asking && {
    what: nameOf(asking.target),
    rows: asking.rows,
    onClose: close,
  };
  // One that is meant alone leaves nothing.
  const left =
    everything === undefined || asking === undefined || asking.rows.length < 2
      ? 0
      : everything.total - asking.rows.length;
  const dialog = shared && (
    <>
      {asking.kind === 'resolve' && <ResolveDialog {...shared} onDone={settle} />}
      {asking.kind === 'verdict' && <VerdictDialog {...shared} onDone={settle} />}
      {asking.kind === 'note' && <NoteDialog what={shared.what} onClose={close} onDone={settle} />}
      {asking.kind === 'silence' && (
        <SilenceDialog
          {...shared}
          left={left}
          onSuppress={(of) => void act({ rows: of }, { status: 'suppressed' })}
        />
      )}
    </>
  );
  return { single, many: keyed, dialog, progress };
}
