import { useState } from 'preact/hooks';
import type { WholeListForm } from '../../../contract/whole-list.ts';
import { useSaving } from '../../state/saving.ts';
import { api } from '../../state/session.ts';
import { Button, Choice } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { counted } from '../../ui/format.ts';
import { SaveAs } from '../../ui/save-progress.tsx';
import { copy, say } from '../../ui/toasts.tsx';
import { curlCommand, forms } from './command.ts';
import type { Question } from './question.ts';
import { type TableName, tables } from './tables.ts';

/** Dialog to export all matching events to a file; also shows a command for the same export. */
export function ExportDialog({
  table,
  question,
  sort,
  total,
  onClose,
}: {
  table: TableName;
  question: Question;
  sort: string;
  total: number | undefined;
  onClose: () => void;
}) {
  const [form, setForm] = useState<WholeListForm>('lines');
  const saving = useSaving();
  const { list, file } = tables[table];
  const query = { ...question.query, sort };

  const start = async () => {
    const saved = await saving.start(`${file}.${forms[form].extension}`, (signal) =>
      api.whole(list, form, { query: query as never, signal }),
    );
    if (saved === undefined) return;
    say(`${tables[table].title} events exported.`);
    onClose();
  };
  const command = curlCommand(location.origin, table, query, form);
  return (
    <Dialog title={`Export ${tables[table].title} events`} onClose={onClose} wide>
      <p>
        Exports{' '}
        {total === undefined ? `all matching ${tables[table].one}s` : counted(total, `matching ${tables[table].one}`)}{' '}
        in the time range, {sort.startsWith('-') ? 'newest' : 'oldest'} first.
      </p>
      <div class="row">
        <Choice
          label="Format"
          options={(Object.keys(forms) as WholeListForm[]).map((value) => ({
            value,
            title: forms[value].title,
          }))}
          value={form}
          onChange={setForm}
        />
        <span class="quiet">{forms[form].says}</span>
      </div>
      <SaveAs saving={saving} onStart={() => void start()} total={total} lines={form === 'lines'} />
      <div class="events-command">
        <div class="row spread">
          <h3 class="quiet">Command line</h3>
          <Button kind="plain" onClick={() => copy(command, 'Command')}>
            Copy
          </Button>
        </div>
        <pre class="mono" tabIndex={0}>
          {command}
        </pre>
      </div>
    </Dialog>
  );
}
