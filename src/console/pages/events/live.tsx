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

/** Rows that are kept: what one scrolls back through; older ones are in the list. */
const keptRows = 2000;
/** What comes is drawn together, as often as it can be read: at a thousand rows a second each drawing changes every row. */
const drawnEveryMs = 100;
/** Rows from before, that what comes is put on top of. */
const rowsBefore = 100;

/**
 * Events as they are committed, newest on top. Whoever looks at one (presses, scrolls, moves the cursor) holds the stream:
 * nothing moves under the hand. Events that came meanwhile are counted and shown when it goes on.
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
  const asked = JSON.stringify(filters);
  const tail = useMemo(() => createTail<EventRow>(keptRows), [table, asked]);
  const paused = useSignal(false);
  const lost = useSignal(0);
  const refused = useSignal<ServiceError | undefined>(undefined);
  const startedMs = useMemo(() => Date.now(), [tail]);
  const cursor = useSignal<string | undefined>(undefined);
  /** Counts what was drawn: the rows themselves are the tail's. */
  const drawn = useSignal(0);
  const frame = useRef(0);
  const drawnAt = useRef(0);
  const isPaused = paused.value;

  const draw = () => {
    frame.current ||= requestAnimationFrame((at) => {
      frame.current = 0;
      if (paused.peek()) return;
      // The next one comes of itself only where there is something that waits.
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
      refused.value = error;
    },
    // What was committed until now is in the list, and what comes now follows: none is missing between them.
    onSubscribed: () => {
      refused.value = undefined;
      if (tail.rows.length > 0) return;
      const query = { ...question.filters, per_page: rowsBefore } as never;
      void api.call(tables[table].list, { query }).then(
        ({ data }) => {
          tail.begin(data as unknown as EventRow[]);
          drawn.value += 1;
        },
        (error: ServiceError) => {
          refused.value = error;
        },
      );
    },
  });
  const hold = () => {
    paused.value = true;
  };
  // What is pressed while rows stream is the row that was seen there then: what is let go may be another, or its cells new
  // ones, so that no click comes of it.
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
    space: { title: 'Hold or go on', run: () => (paused.peek() ? resume() : hold()) },
    '.': { title: 'Go on', run: resume },
  });
  const { columns, minWidth } = useMemo(
    () => columnsOf(table, ids, { plain: !isPaused }),
    [table, ids.join(), isPaused],
  );
  return (
    <>
      <LiveBar
        tail={tail}
        paused={isPaused}
        lost={lost.value}
        startedMs={startedMs}
        onHold={hold}
        onResume={resume}
      />
      {refused.value !== undefined && <Failure error={refused.value} />}
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

/** The row that an event is about; rows of a table have the id of theirs at the end of their own. */
function rowAt({ target }: Event, rows: readonly EventRow[]): EventRow | undefined {
  const element = target instanceof Element ? target.closest('.table-row') : null;
  return element === null ? undefined : rows.find(({ id }) => element.id.endsWith(id));
}

/** Alone in being drawn for what comes. */
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
      empty={<Empty title="Nothing has come yet.">What matches the filters is shown here as it comes.</Empty>}
    />
  );
}

function LiveBar({
  tail,
  paused,
  lost,
  startedMs,
  onHold,
  onResume,
}: {
  tail: ReturnType<typeof createTail<EventRow>>;
  paused: boolean;
  lost: number;
  startedMs: number;
  onHold: () => void;
  onResume: () => void;
}) {
  // Once a second is often enough to be read.
  const rate = tail.rate(now.value);
  return (
    <div class="events-livebar">
      {paused ? (
        <Button kind="primary" hint="space" onClick={onResume}>
          Go on
        </Button>
      ) : (
        <Button hint="space" onClick={onHold}>
          Hold
        </Button>
      )}
      <span role="status">
        {paused ? (
          <span class="events-held">Held while you read: {number(tail.waiting)} came since</span>
        ) : (
          <span class="events-flows">
            <span aria-hidden="true">● </span>live
          </span>
        )}
      </span>
      <span class="mono">{compact(rate)} /s</span>
      <span class="quiet">
        as they come, since {instant(startedMs, { ms: false }).slice(11)}, the last {number(keptRows)}
      </span>
      {lost > 0 && (
        <span class="events-lost">
          {number(lost)} skipped: they came faster than they could be sent. The list has them.
        </span>
      )}
    </div>
  );
}
