import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { ServiceError } from '../../../errors.ts';
import { useKeys } from '../../state/keys.ts';
import { may, me } from '../../state/session.ts';
import { number } from '../../ui/format.ts';
import { neighbour } from '../../ui/marking.ts';
import { say, sayFailure } from '../../ui/toasts.tsx';
import { changeAlert } from './change-alert.ts';
import { changeMany } from './change-many.ts';
import { type Change, refusal, takenBack } from './changes.ts';
import type { Triage } from './detail.tsx';
import { NoteDialog } from './note-dialog.tsx';
import { type AlertRow, type Filters, isOpen } from './question.ts';
import { ResolveDialog } from './resolve-dialog.tsx';
import { SilenceDialog } from './silence-dialog.tsx';
import { VerdictDialog } from './verdict-dialog.tsx';

interface About {
  readonly rows: readonly AlertRow[];
  readonly marked: readonly AlertRow[];
  /** The alert that keys act on where none is selected. */
  readonly current: AlertRow | undefined;
  /** All that match are selected, those that are not loaded, too. */
  readonly everything?: { readonly filter: Filters; readonly total: number };
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

type Asking = 'resolve' | 'silence' | 'note' | 'verdict';

/** Acts on alerts, by keys, buttons and dialogs: on those selected where there are any, else on the current one. */
export function useTriage(about: About): Triaging {
  const { rows, marked, current, everything, onMove, onDone } = about;
  const [asking, setAsking] = useState<{ readonly kind: Asking; readonly rows: readonly AlertRow[] }>();
  const [progress, setProgress] = useState<number>();
  const mayAct = may('updateAlert');

  const targets = (): readonly AlertRow[] =>
    marked.length > 0 ? marked : current === undefined ? [] : [current];
  const count = (of: readonly AlertRow[]): number =>
    everything !== undefined && of.length > 1 ? everything.total : of.length;

  /** Goes on to the next open alert where the one that was current is dealt with. */
  const advance = (of: readonly AlertRow[]) => {
    const [only] = of;
    if (of.length !== 1 || only === undefined) return;
    const open = new Map(rows.map(({ id, attributes }) => [id, isOpen(attributes)]));
    const next = neighbour(
      only.id,
      rows.map(({ id }) => id),
      (id) => open.get(id) === true,
    );
    if (next !== undefined) onMove(next);
  };

  const act = async (of: readonly AlertRow[], change: Change) => {
    const [first] = of;
    if (first === undefined) return;
    if (change.status === 'resolved' || change.status === 'suppressed') advance(of);
    if (of.length === 1) {
      await changeAlert(first, change);
      return;
    }
    setProgress(0);
    const which = everything === undefined ? { rows: of } : { filter: everything.filter };
    const isDone = await changeMany(which, change, setProgress);
    setProgress(undefined);
    if (isDone) onDone();
  };

  const ask = (kind: Asking) => (of: readonly AlertRow[]) => {
    if (of.length > 0) setAsking({ kind, rows: of });
  };
  const assign = (of: readonly AlertRow[]) => {
    const name = me.value?.name ?? '';
    if (of.length === 1 && of[0]?.attributes.assignee === name) say('It is yours already.');
    else void act(of, { assignee: name });
  };
  const takeBack = (of: readonly AlertRow[]) => {
    const [only] = of;
    if (of.length > 1) return void act(of, { status: 'in_progress' });
    const change = only === undefined ? undefined : takenBack(only.attributes);
    if (change !== undefined && only !== undefined) void act([only], change);
    else if (only !== undefined) say('There is nothing to take back.');
  };
  const actions = {
    assign,
    begin: (of: readonly AlertRow[]) => void act(of, { status: 'in_progress' }),
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
    archive: (of: readonly AlertRow[]) => void act(of, { status: 'archived' }),
    unassign: (of: readonly AlertRow[]) => void act(of, { assignee: '' }),
    reopen: (of: readonly AlertRow[]) => void act(of, { status: 'in_progress' }),
  };
  const on = (of: () => readonly AlertRow[]) =>
    Object.fromEntries(
      Object.entries(actions).map(([name, run]) => [name, () => run(of())]),
    ) as unknown as Record<keyof typeof actions, () => void>;
  const single = on(() => (current === undefined ? [] : [current]));
  const keyed = on(targets);

  useKeys('Triage', {
    ...(mayAct && {
      a: { title: 'Assign to me', run: keyed.assign },
      i: { title: 'In progress', run: keyed.begin },
      r: { title: 'Resolve', run: keyed.resolve },
      s: { title: 'Silence what is like it', run: keyed.silence },
      n: { title: 'Note', run: keyed.note },
      v: { title: 'Verdict', run: keyed.verdict },
      u: { title: 'Take back: reopen, or give back', run: keyed.takeBack },
    }),
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
    const of = asking?.rows ?? [];
    close();
    void act(of, change);
  };
  const shared = asking && {
    what: nameOf(asking.rows, count(asking.rows)),
    rows: asking.rows,
    onClose: close,
  };
  const dialog = shared && (
    <>
      {asking.kind === 'resolve' && <ResolveDialog {...shared} onDone={settle} />}
      {asking.kind === 'verdict' && <VerdictDialog {...shared} onDone={settle} />}
      {asking.kind === 'note' && <NoteDialog what={shared.what} onClose={close} onDone={settle} />}
      {asking.kind === 'silence' && (
        <SilenceDialog {...shared} onSuppress={(of) => void act(of, { status: 'suppressed' })} />
      )}
    </>
  );
  return { single, many: keyed, dialog, progress };
}

function nameOf(rows: readonly AlertRow[], count: number): string {
  const [only] = rows;
  return count === 1 && only !== undefined ? `“${only.attributes.title}”` : `${number(count)} alerts`;
}
