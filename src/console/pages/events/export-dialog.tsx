import { useEffect, useRef, useState } from 'preact/hooks';
import type { WholeListForm } from '../../../contract/whole-list.ts';
import { ServiceError } from '../../../errors.ts';
import { maxBlobBytes, openFile, save, writesFiles } from '../../state/save.ts';
import { api } from '../../state/session.ts';
import { Button, Choice } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { bytes, number } from '../../ui/format.ts';
import { Failure } from '../../ui/states.tsx';
import { say } from '../../ui/toasts.tsx';
import { curlCommand, forms } from './command.ts';
import type { Question } from './question.ts';
import { type TableName, tables } from './tables.ts';

interface Progress {
  readonly bytes: number;
  readonly lines: number;
}

/** All that is filtered as a file, or the command that fetches it. */
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
  const [progress, setProgress] = useState<Progress | undefined>();
  const [error, setError] = useState<Error | undefined>();
  const running = useRef<AbortController | undefined>(undefined);
  useEffect(() => () => running.current?.abort(), []);
  const { list, file } = tables[table];
  const query = { ...question.query, sort };

  const start = async () => {
    setError(undefined);
    const given = new AbortController();
    try {
      const sink = await openFile(`${file}.${forms[form].extension}`);
      if (sink === undefined) return;
      running.current = given;
      setProgress({ bytes: 0, lines: 0 });
      const input = { query: query as never, signal: given.signal };
      const body = await api.whole(list, form, input).catch(async (refused) => {
        await sink.abort();
        throw refused;
      });
      let shown = 0;
      await save(body, sink, (size, lines) => {
        if (size - shown < 2 ** 18) return;
        shown = size;
        setProgress({ bytes: size, lines });
      });
      say(`${tables[table].title} events were saved.`);
      onClose();
    } catch (failure) {
      if (!given.signal.aborted)
        setError(failure instanceof Error ? failure : new ServiceError('INTERNAL', String(failure)));
    } finally {
      running.current = undefined;
      setProgress(undefined);
    }
  };
  const command = curlCommand(location.origin, table, query, form);
  return (
    <Dialog title={`Export ${tables[table].title} events`} onClose={onClose} wide>
      <p>
        {total === undefined ? 'All' : number(total)} {tables[table].one}
        {total === 1 ? '' : 's'}: all that the filters and the time let through,{' '}
        {sort.startsWith('-') ? 'newest' : 'oldest'} first.
      </p>
      <div class="row">
        <Choice
          label="Form"
          options={(Object.keys(forms) as WholeListForm[]).map((value) => ({
            value,
            title: forms[value].title,
          }))}
          value={form}
          onChange={setForm}
        />
        <span class="quiet">{forms[form].says}</span>
      </div>
      {progress === undefined ? (
        <div class="row">
          <Button kind="primary" onClick={() => void start()}>
            {writesFiles() ? 'Save as …' : 'Download'}
          </Button>
          {!writesFiles() && (
            <span class="quiet">
              This browser keeps it in memory until it is whole: up to {bytes(maxBlobBytes)}.
            </span>
          )}
        </div>
      ) : (
        <div class="row" role="status">
          <progress
            class="events-progress"
            aria-label="Exported"
            {...(form === 'lines' &&
              total !== undefined && { max: Math.max(total, progress.lines), value: progress.lines })}
          />
          <span class="mono">
            {form === 'lines' &&
              `${number(progress.lines)} of ${total === undefined ? '?' : number(total)}, `}
            {bytes(progress.bytes)}
          </span>
          <Button onClick={() => running.current?.abort()}>Cancel</Button>
        </div>
      )}
      {error !== undefined && <Failure error={error} />}
      <div class="events-command">
        <div class="row spread">
          <h3 class="quiet">The same by command</h3>
          <Button
            kind="plain"
            onClick={() =>
              void navigator.clipboard.writeText(command).then(() => say('The command was copied.'))
            }
          >
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
