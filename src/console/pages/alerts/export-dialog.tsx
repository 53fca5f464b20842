import { useState } from 'preact/hooks';
import type { AlertExport } from '../../../contract/vocabulary.ts';
import { useSaving } from '../../state/saving.ts';
import { api } from '../../state/session.ts';
import { Choice } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { number } from '../../ui/format.ts';
import { SaveAs } from '../../ui/save-progress.tsx';
import { say } from '../../ui/toasts.tsx';
import type { Filters } from './question.ts';

const forms = {
  ndjson: { title: 'NDJSON', ending: '.ndjson', says: 'a JSON object a line, as the list has them' },
  ocsf: { title: 'OCSF 1.5', ending: '.ocsf.ndjson', says: 'a detection finding a line, for other tools' },
} as const satisfies Record<AlertExport, object>;

/** All alerts that match, as a file. */
export function ExportDialog({
  query,
  total,
  onClose,
}: {
  query: Filters;
  total: number | undefined;
  onClose: () => void;
}) {
  const [format, setFormat] = useState<AlertExport>('ndjson');
  const saving = useSaving();
  const start = async () => {
    const at = new Date().toISOString().replaceAll(/[-:]|\.\d+/g, '');
    const saved = await saving.start(`alerts-${at}${forms[format].ending}`, (signal) =>
      api.stream('exportAlerts', { query: { ...query, format } as never, signal }),
    );
    if (saved === undefined) return;
    say(`${number(saved.lines)} alert${saved.lines === 1 ? ' was' : 's were'} saved.`);
    onClose();
  };
  return (
    <Dialog title="Export alerts" onClose={onClose}>
      <p>
        {total === undefined ? 'All' : number(total)} alert{total === 1 ? '' : 's'}: all that the filters and
        the time let through, in the order in which they were first raised.
      </p>
      <div class="row">
        <Choice
          label="Format"
          options={(Object.keys(forms) as AlertExport[]).map((value) => ({
            value,
            title: forms[value].title,
          }))}
          value={format}
          onChange={setFormat}
        />
        <span class="quiet">{forms[format].says}</span>
      </div>
      <SaveAs saving={saving} onStart={() => void start()} total={total} />
    </Dialog>
  );
}
