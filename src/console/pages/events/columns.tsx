import { day, exact, instant } from '../../ui/format.ts';
import type { Column } from '../../ui/table.tsx';
import { attributes } from './attributes.ts';
import { columnsText, fromOf, titleOf, widthOf } from './column-names.ts';
import type { EventRow, TableName } from './tables.ts';
import { End, textOf, Written } from './written.tsx';

/** Returns the columns and, for custom columns, the width that they need in pixels. */
export function columnsOf(
  table: TableName,
  ids: readonly string[],
  { plain }: { plain: boolean },
): { columns: Column<EventRow>[]; minWidth: number | undefined } {
  const own = columnsText(table, ids) !== undefined;
  // The widest column takes the remaining space.
  const widest = [...ids].sort((a, b) => widthOf(table, b) - widthOf(table, a))[0];
  const columns = ids.map((id): Column<EventRow> => {
    const width = widthOf(table, id);
    const from = fromOf(table, id);
    return {
      id,
      title: titleOf(table, id),
      width: trackOf(id, width, id === widest || id === 'src' || id === 'dst', own),
      cell: ({ attributes: of }) => cellOf(table, id, of, plain),
      ...(isNumber(table, id) && { end: true }),
      ...(id === 'timestamp' && { sort: 'timestamp' }),
      ...(!own && from !== undefined && { from }),
    };
  });
  const gap = 12;
  const minWidth = ids.reduce((sum, id) => sum + widthOf(table, id) + gap, gap);
  return { columns, minWidth: own ? minWidth : undefined };
}

function trackOf(id: string, width: number, grows: boolean, own: boolean): string {
  if (id === 'timestamp') return 'var(--events-time)';
  if (id === 'severity') return 'var(--events-severity)';
  if (!grows) return `${width}px`;
  // Default columns must fit a phone; columns that the user chose must stay readable.
  return own ? `minmax(${width}px, 1fr)` : 'minmax(80px, 1fr)';
}

function isNumber(table: TableName, id: string): boolean {
  const as = attributes[table][id]?.as;
  return id === 'traffic' || as === 'bytes' || as === 'count' || as === 'duration';
}

function cellOf(table: TableName, id: string, of: EventRow['attributes'], plain: boolean) {
  switch (id) {
    case 'timestamp':
      return <Moment at={of.timestamp} />;
    case 'src':
    case 'dst':
      return <End table={table} side={id} of={of} plain={plain} />;
    case 'protocol':
      return (
        <span class="events-protocol">
          <Written
            table={table}
            name={of.app_protocols === undefined ? 'transport' : 'app_protocols'}
            of={of}
            plain={plain}
          />
          {of.app_protocols !== undefined && <bdi class="quiet">{String(of.transport)}</bdi>}
        </span>
      );
    case 'traffic':
      return <Traffic of={of} />;
    default:
      return <Written table={table} name={id} of={of} plain={plain} />;
  }
}

/**
 * The time, with the day in a less prominent colour. Narrow tables hide the day, or show it above the time if the year
 * differs.
 */
function Moment({ at }: { at: string }) {
  const ms = Date.parse(at);
  const date = day(ms);
  return (
    <time class={`mono${date.length > 5 ? ' events-past' : ''}`} dateTime={at} title={exact(ms)}>
      <span class="events-day quiet">{date} </span>
      {instant(ms).slice(11)}
    </time>
  );
}

function Traffic({ of }: { of: EventRow['attributes'] }) {
  const sent = attributes.network.src_bytes!;
  if (of.src_bytes === undefined && of.dst_bytes === undefined) return null;
  const write = (value: unknown) => (value === undefined ? '–' : textOf(sent, value));
  return (
    <span class="mono">
      {write(of.src_bytes)}
      <span class="quiet"> / </span>
      {write(of.dst_bytes)}
    </span>
  );
}
