import { type Signal, useSignal } from '@preact/signals';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import type { ServiceError } from '../../../errors.ts';
import { now } from '../../state/clock.ts';
import { useKeys } from '../../state/keys.ts';
import { useChannel } from '../../state/live.ts';
import { api } from '../../state/session.ts';
import { Button } from '../../ui/button.tsx';
import { compact, instant, number } from '../../ui/format.ts';
import { Empty, Failure } from '../../ui/states.tsx';
import { Table } from '../../ui/table.tsx';
import { columnsOf } from './columns.tsx';
import type { Question } from './question.ts';
import { type EventRow, type TableName, tables } from './tables.ts';
import { createTail } from './tail.ts';

/** Number of rows kept for scrolling back; older rows are in the list. */
const keptRows = 2000;
/** Minimum time between renders in milliseconds, so that a fast stream does not block the browser. */
const drawnEveryMs = 100;
/** Number of stored rows loaded below the stream when it starts. */
const rowsBefore = 100;

/**
 * Events as they are committed, newest first. Pressing a row, scrolling or moving the cursor pauses the stream, so that
 * rows do not move under the pointer. Events received while paused are counted and shown on resume.
 */
export function LiveTable({
  table,
  question,
  columns: ids,
  open,
  onOpen,
}: {
  table: TableName;
  question: Question;
  columns: readonly string[];
  open: string | undefined;
  onOpen: (row: EventRow, options: { replace: boolean }) => void;
}) {
  const { filters } = question;
  const filtersKey = JSON.stringify(filters);
  const tail = useMemo(() => createTail<EventRow>(keptRows), [table, filtersKey]);
  const paused = useSignal(false);
  const lost = useSignal(0);
  const failure = useSignal<ServiceError | undefined>(undefined);
  const startedMs = useMemo(() => Date.now(), [tail]);
  const cursor = useSignal<string | undefined>(undefined);
  /** Counter that is incremented to render the rows, which are stored in the tail. */
  const drawn = useSignal(0);
  const frame = useRef(0);
  const drawnAt = useRef(0);
  const isPaused = paused.value;

  const draw = () => {
    frame.current ||= requestAnimationFrame((at) => {
      frame.current = 0;
      if (paused.peek()) return;
      // Too early to draw: tries again in the next frame.
      if (at - drawnAt.current < drawnEveryMs) return draw();
      drawnAt.current = at;
      if (tail.show()) drawn.value += 1;
    });
  };
  useEffect(() => () => cancelAnimationFrame(frame.current), []);
  useChannel(tables[table].channel, filters, {
    onEvent: ({ data }) => {
      tail.take(data as unknown as EventRow, Date.now());
      draw();
    },
    onLagged: (dropped) => {
      lost.value += dropped ?? 1;
    },
    onError: (error) => {
      failure.value = error;
    },
    // Requests the stored events after the subscription, so that no event in between is missed.
    onSubscribed: () => {
      failure.value = undefined;
      if (tail.rows.length > 0) return;
      const query = { ...question.filters, per_page: rowsBefore } as never;
      void api.call(tables[table].list, { query }).then(
        ({ data }) => {
          tail.begin(data as unknown as EventRow[]);
          drawn.value += 1;
        },
        (error: ServiceError) => {
          failure.value = error;
        },
      );
    },
  });
  const hold = () => {
    paused.value = true;
  };
  // While rows stream, the row under the pointer can change between press and release, and the browser then sends no
  // click. Therefore the row that was pressed is opened.
  const pressed = useRef<EventRow | undefined>(undefined);
  const opened = useRef(false);
  const press = (event: PointerEvent) => {
    opened.current = false;
    pressed.current = paused.peek() ? undefined : rowAt(event, tail.rows);
    hold();
  };
  const release = () => {
    const row = pressed.current;
    pressed.current = undefined;
    if (row === undefined) return;
    opened.current = true;
    cursor.value = row.id;
    onOpen(row, { replace: open !== undefined });
  };
  const resume = () => {
    cursor.value = undefined;
    paused.value = false;
    draw();
  };
  useEffect(() => {
    if (cursor.value !== undefined) hold();
  }, [cursor.value]);
  useKeys('Live', {
    space: { title: 'Pause or resume', run: () => (paused.peek() ? resume() : hold()) },
    '.': { title: 'Resume', run: resume },
  });
  const { columns, minWidth } = useMemo(
    () => columnsOf(table, ids, { plain: !isPaused }),
    [table, ids.join(), isPaused],
  );
  return (
    <>
      <LiveBar tail={tail} paused={isPaused} lost={lost.value} startedMs={startedMs} onPause={hold} onResume={resume} />
      {failure.value !== undefined && <Failure error={failure.value} />}
      <div
        class="events-live"
        onPointerDownCapture={press}
        onPointerUpCapture={release}
        onPointerCancel={() => {
          pressed.current = undefined;
        }}
        onClickCapture={(event) => {
          if (opened.current) event.stopPropagation();
        }}
        onWheelCapture={hold}
        onTouchMoveCapture={hold}
      >
        <Rows
          {...{ tail, drawn, columns, minWidth, open, onOpen, cursor }}
          label={`${tables[table].title} events, live`}
        />
      </div>
    </>
  );
}

/** Returns the row under the pointer; the id of a table row element ends with the id of its event. */
function rowAt({ target }: Event, rows: readonly EventRow[]): EventRow | undefined {
  const element = target instanceof Element ? target.closest('.table-row') : null;
  return element === null ? undefined : rows.find(({ id }) => element.id.endsWith(id));
}

/** The rows, in the only component that is rendered again for new rows. */
function Rows({
  tail,
  drawn,
  minWidth,
  ...rest
}: {
  tail: ReturnType<typeof createTail<EventRow>>;
  drawn: Signal<number>;
  minWidth: number | undefined;
  label: string;
  columns: ReturnType<typeof columnsOf>['columns'];
  open: string | undefined;
  onOpen: (row: EventRow, options: { replace: boolean }) => void;
  cursor: Signal<string | undefined>;
}) {
  void drawn.value;
  return (
    <Table
      {...rest}
      streams
      {...(minWidth !== undefined && { minWidth })}
      list={{ rows: tail.rows }}
      keyOf={({ id }) => id}
      empty={<Empty title="Waiting for events">New events that match the filters appear here.</Empty>}
    />
  );
}

function LiveBar({
  tail,
  paused,
  lost,
  startedMs,
  onPause,
  onResume,
}: {
  tail: ReturnType<typeof createTail<EventRow>>;
  paused: boolean;
  lost: number;
  startedMs: number;
  onPause: () => void;
  onResume: () => void;
}) {
  // The rate is updated once a second, so that users can read it.
  const rate = tail.rate(now.value);
  return (
    <div class="events-livebar">
      {paused ? (
        <Button kind="primary" hint="space" onClick={onResume}>
          Resume
        </Button>
      ) : (
        <Button hint="space" onClick={onPause}>
          Pause
        </Button>
      )}
      <span role="status">
        {paused ? (
          <span class="events-held">Paused: {number(tail.waiting)} new</span>
        ) : (
          <span class="events-flows">
            <span aria-hidden="true">● </span>live
          </span>
        )}
      </span>
      <span class="mono">{compact(rate)} /s</span>
      <span class="quiet">
        since {instant(startedMs, { ms: false }).slice(11)}, last {number(keptRows)} events
      </span>
      {lost > 0 && (
        <span class="events-lost">
          {number(lost)} skipped because the stream was too fast. Stop the live tail to see all events.
        </span>
      )}
    </div>
  );
}
