import { setParams } from '../../state/address.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { attributes, groups } from './attributes.ts';
import { allColumns, chosenColumns, columnsText } from './column-names.ts';
import { type TableName, tables } from './tables.ts';

const key = 'candor.events.columns';

function stored(): Partial<Record<TableName, string>> {
  try {
    return JSON.parse(localStorage.getItem(key) ?? '{}') ?? {};
  } catch {
    return {};
  }
}

/** Returns the columns last chosen in this browser, in their URL format. */
export const rememberedColumns = (table: TableName): string | undefined => {
  const text: unknown = stored()[table];
  return typeof text === 'string' ? text : undefined;
};

function rememberColumns(table: TableName, text: string | undefined): void {
  localStorage.setItem(key, JSON.stringify({ ...stored(), [table]: text }));
}

/** Selects the columns; the selection is kept in the URL and in this browser. */
export function ColumnChooser({
  table,
  chosen,
  onClose,
}: {
  table: TableName;
  chosen: readonly string[];
  onClose: () => void;
}) {
  const all = allColumns(table);
  const take = (ids: readonly string[]) => {
    const text = columnsText(table, ids);
    rememberColumns(table, text);
    setParams({ [tables[table].columnsIn]: text }, { replace: true });
  };
  const parts = [
    { title: 'Combined', ids: all.filter(({ id }) => attributes[table][id] === undefined) },
    ...Object.entries(groups).map(([group, title]) => ({
      title,
      ids: all.filter(({ id }) => attributes[table][id]?.group === group),
    })),
  ].filter(({ ids }) => ids.length > 0);
  return (
    <Dialog title={`Columns of ${tables[table].title} events`} onClose={onClose} wide>
      <div class="events-chooser">
        {parts.map(({ title, ids }) => (
          <fieldset key={title}>
            <legend class="quiet">{title}</legend>
            {ids.map(({ id, title: name }) => (
              <label key={id}>
                <input
                  type="checkbox"
                  checked={chosen.includes(id)}
                  disabled={id === 'timestamp'}
                  onChange={(event) =>
                    take(event.currentTarget.checked ? [...chosen, id] : chosen.filter((one) => one !== id))
                  }
                />
                {name}
              </label>
            ))}
          </fieldset>
        ))}
      </div>
      <div class="row">
        <Button onClick={() => take(chosenColumns(table, undefined))}>Reset to defaults</Button>
        <Button kind="primary" onClick={onClose}>
          Done
        </Button>
      </div>
    </Dialog>
  );
}
