import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { ServiceError } from '../../../errors.ts';
import { place } from '../../state/address.ts';
import { useKeys } from '../../state/keys.ts';
import { may, me } from '../../state/session.ts';
import { neighbour } from '../../ui/marking.ts';
import { say, sayFailure } from '../../ui/toasts.tsx';
import type { DialogRequest } from './asked.ts';
import { tryChange } from './change-alert.ts';
import { changeMany } from './change-many.ts';
import { type Change, refusal, reverseOf } from './changes.ts';
import type { Triage } from './detail.tsx';
import { mayChange } from './may-change.ts';
import { type AlertRow, isOpen } from './question.ts';
import { type Everything, type FailedChange, type Target, targetOf } from './target.ts';
import { TriageDialog } from './triage-dialog.tsx';
import { dropUnsent, firstUnsent, keepUnsent } from './unsent.ts';

interface About {
  readonly rows: readonly AlertRow[];
  readonly marked: readonly AlertRow[];
  /** The alert that keys act on if no rows are selected. */
  readonly current: AlertRow | undefined;
  /** All matching alerts, if all of them are selected. */
  readonly everything?: Everything;
  /** Called to move to another alert. */
  readonly onMove: (id: string) => void;
  /** Called when the action on the selected alerts succeeded. */
  readonly onDone: () => void;
  readonly onUnmark: () => void;
  readonly onProof: (id: string) => void;
  readonly onRefresh: () => void;
}

/** Actions on the selected alerts or, without a selection, on the current alert. */
interface Many extends Omit<Triage, 'reverse'> {
  readonly unassign: () => void;
  readonly reopen: () => void;
}

export interface Triaging {
  readonly single: Triage;
  readonly many: Many;
  readonly dialog: ComponentChildren;
  /** Number of alerts processed by a running bulk change; undefined if no change is running. */
  readonly progress: number | undefined;
}

let lastKey = 0;

/**
 * Returns the triage actions for buttons, and the open dialog; registers the shortcut keys. Keys and `many` act on the
 * selected alerts or, without a selection, on the current alert; `single` acts on the current alert.
 */
export function useTriage(about: About): Triaging {
  const { rows, marked, current, everything, onMove, onDone } = about;
  const [openRequest, setOpenRequest] = useState<DialogRequest>();
  const [progress, setProgress] = useState<number>();

  const targets = (): readonly AlertRow[] => (marked.length > 0 ? marked : current === undefined ? [] : [current]);

  /** Moves to the next open alert after an alert in the queue was closed. */
  const advance = (only: AlertRow) => {
    if (!rows.some(({ id }) => id === only.id)) return;
    const open = new Map(rows.map(({ id, attributes }) => [id, isOpen(attributes)]));
    const next = neighbour(
      only.id,
      rows.map(({ id }) => id),
      (id) => open.get(id) === true,
    );
    if (next !== undefined) onMove(next);
  };

  /** Returns whether the target is selected. A retried change may concern other alerts than those selected now. */
  const isSelected = (target: Target): boolean =>
    'rows' in target ? target.rows.every(({ id }) => marked.some((one) => one.id === id)) : everything !== undefined;
  const attempt = async (target: Target, change: Change): Promise<FailedChange | undefined> => {
    if ('rows' in target && target.rows.length < 2) {
      const [only] = target.rows;
      if (only === undefined) return undefined;
      if (change.status === 'resolved' || change.status === 'suppressed') advance(only);
      return tryChange(only, change);
    }
    setProgress(0);
    const done = await changeMany(target, change, setProgress);
    setProgress(undefined);
    if (typeof done === 'object') return done;
    if (done === 'all' && isSelected(target)) onDone();
    return undefined;
  };
  const act = async (target: Target, change: Change) => {
    const failed = await attempt(target, change);
    if (failed !== undefined) sayFailure(failed.what, failed.error);
  };

  const actOn = (of: readonly AlertRow[], change: Change) => void act(targetOf(of, everything), change);

  const ask = (kind: DialogRequest['kind']) => (of: readonly AlertRow[]) => {
    // A silence is derived from the loaded alerts.
    const target = kind === 'silence' ? { rows: of } : targetOf(of, everything);
    if (of.length > 0) setOpenRequest({ key: ++lastKey, kind, rows: of, target });
  };
  const assign = (of: readonly AlertRow[]) => {
    const name = me.value?.name ?? '';
    if (of.length === 1 && of[0]?.attributes.assignee === name) say('Already assigned to you.');
    else actOn(of, { assignee: name });
  };
  const reverse = (of: readonly AlertRow[]) => {
    const [only] = of;
    if (of.length > 1) return actOn(of, { status: 'in_progress' });
    const change = only === undefined ? undefined : reverseOf(only.attributes);
    if (change !== undefined && only !== undefined) actOn([only], change);
    else if (only !== undefined) say('Nothing to reopen or unassign.');
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
    reverse,
    archive: ask('archive'),
    unassign: (of: readonly AlertRow[]) => actOn(of, { assignee: '' }),
    reopen: (of: readonly AlertRow[]) => actOn(of, { status: 'in_progress' }),
  };
  const on = (of: () => readonly AlertRow[]) =>
    Object.fromEntries(Object.entries(actions).map(([name, run]) => [name, () => run(of())])) as unknown as Record<
      keyof typeof actions,
      () => void
    >;
  const single = on(() => (current === undefined ? [] : [current]));
  const keyed = on(targets);

  useKeys('Triage', {
    ...(mayChange(targets().length) && {
      a: { title: 'Assign to me', run: keyed.assign },
      i: { title: 'Start work', run: keyed.begin },
      r: { title: 'Resolve', run: keyed.resolve },
      n: { title: 'Add note', run: keyed.note },
      v: { title: 'Set verdict', run: keyed.verdict },
      u: { title: 'Reopen / unassign', run: keyed.reverse },
    }),
    ...(may('createSilence') && { s: { title: 'Silence similar alerts', run: keyed.silence } }),
    p: {
      title: 'Show proof',
      run: () => {
        if (current !== undefined) about.onProof(current.id);
      },
    },
    '.': { title: 'Load new', run: about.onRefresh },
    ...(marked.length > 0 && { escape: { title: 'Clear selection', run: about.onUnmark } }),
  });

  const again = firstUnsent();
  const shown = openRequest ?? again;
  const close = () => {
    if (openRequest !== undefined) setOpenRequest(undefined);
    else if (again !== undefined) dropUnsent(again);
  };
  /**
   * Closes the dialog immediately, so that the next dialog can open; after a failure the dialog opens again with its
   * input.
   */
  const settle = async (request: DialogRequest, change: Change) => {
    close();
    const by = me.value?.id;
    const failed = await attempt(request.target, change);
    if (failed === undefined) return;
    const { left, what, error } = failed;
    const failure = `${what}: ${error instanceof ServiceError ? error.message : String(error)}`;
    const rowsLeft = 'rows' in left ? left.rows : request.rows;
    const again = { ...request, key: ++lastKey, rows: rowsLeft, target: left, draft: change, failure };
    if (by !== undefined && keepUnsent(again, by) && place.peek().page !== 'alerts')
      sayFailure(`${what}; open Alerts to retry`, error);
  };
  const dialog = shown && (
    <TriageDialog
      key={shown.key}
      request={shown}
      everything={everything}
      onDone={(change) => void settle(shown, change)}
      onSuppress={(of) => void act({ rows: of }, { status: 'suppressed' })}
      onClose={close}
    />
  );
  return { single, many: keyed, dialog, progress };
}
